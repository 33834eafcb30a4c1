-- What a user of another plugin has in their init.lua: the plugin, and its settings. Functions for tests are in the global table `Test`.

Test = {}

-- Neovim would start every Python of the machine in search of one that can run plugins.
vim.g.loaded_python3_provider = 0
vim.opt.swapfile = false
vim.opt.runtimepath:prepend(assert(vim.env.GHOSTBENCH_TEST_PLUGIN))
assert(loadstring(assert(vim.env.GHOSTBENCH_TEST_SETUP)))()

--- The first line of the suggestion that a plugin draws in its namespace; nil where there is none.
function Test.ghost_text(name)
  local namespace = vim.api.nvim_get_namespaces()[name]
  local marks = namespace and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true }) or {}
  for _, mark in ipairs(marks) do
    local text = mark[4].virt_text and mark[4].virt_text[1][1]
    if text and text ~= '' then
      return text
    end
  end
  return nil
end
