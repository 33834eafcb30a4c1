-- An init.lua of a user of the plugin, and a record of the traffic: every request that Neovim sends is
-- kept with its answer. Functions for tests are in the global table `Test`.

Test = {
  --- Requests as they went over the wire: `method`, `params`, and `result` or `error` once it is answered.
  requests = {},
  --- Methods whose requests are left unsent, as if the server had not answered yet.
  held = {},
  --- Notifications to the server: `method` and `params`.
  notifications = {},
}

-- Neovim would start every Python of the machine in search of one that can run plugins.
vim.g.loaded_python3_provider = 0
vim.opt.runtimepath:prepend(assert(vim.env.GHOSTBENCH_TEST_CONFIGURATION))

--- A transport to the server that keeps account of requests.
local function start(dispatchers)
  local command = vim.list_extend({ 'ghostbench', 'lsp', '--stdio' }, vim.json.decode(vim.env.GHOSTBENCH_TEST_OPTIONS))
  local rpc = vim.lsp.rpc.start(command, dispatchers, { cwd = vim.fn.getcwd() })
  local send = rpc.request
  rpc.request = function(method, params, on_answer, on_reply)
    if Test.held[method] then
      return true
    end
    local request = { method = method, params = params }
    table.insert(Test.requests, request)
    return send(method, params, function(err, result, id)
      request.error, request.result = err, result
      request.is_answered = true
      return on_answer(err, result, id)
    end, on_reply)
  end
  local notify = rpc.notify
  rpc.notify = function(method, params)
    table.insert(Test.notifications, { method = method, params = params })
    return notify(method, params)
  end
  return rpc
end

-- The plugin draws the suggestions, although Neovim could.
if vim.env.GHOSTBENCH_TEST_FALLBACK then
  vim.g.ghostbench_native = false
end

local changes = { cmd = start, root_dir = vim.fn.getcwd() }
if vim.lsp.config then
  assert(vim.deep_equal(vim.lsp.config.ghostbench.cmd, { 'ghostbench', 'lsp', '--stdio' }))
  vim.lsp.config('ghostbench', changes)
  vim.lsp.enable('ghostbench')
else
  require('ghostbench').enable(changes)
end

dofile(assert(vim.env.GHOSTBENCH_TEST_PROBES))
