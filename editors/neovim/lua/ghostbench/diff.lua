--- The right answer and the answers of two engines side by side, in diff mode.

local cases = require('ghostbench.cases')
local ui = require('ghostbench.ui')

local M = {}

---@class ghostbench.Answers
---@field case ghostbench.CaseSummary
---@field before string
---@field truth string
---@field after string
---@field answers ghostbench.Result[]

--- Fills a window of the tab with the lines around a case as an answer would make them.
---@param title string
---@param whole ghostbench.Answers
---@param answer string
local function fill(title, whole, answer)
  local bufnr = vim.api.nvim_create_buf(false, true)
  local text = whole.before .. answer .. whole.after
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(text, '\r?\n'))
  vim.api.nvim_win_set_buf(0, bufnr)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].filetype = vim.filetype.match({ filename = whole.case.path }) or ''
  vim.b[bufnr].ghostbench_title = title
  vim.wo[0][0].winbar = title:gsub('%%', '%%%%')
  vim.cmd.diffthis()
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = bufnr, nowait = true, desc = 'Close the comparison' })
end

--- Chooses the results of engines: those that are named, otherwise the first two.
---@param results ghostbench.Result[]
---@param engines string[]
---@return ghostbench.Result[]
---@return string? missing Name of an engine without an answer.
local function choose(results, engines)
  if #engines == 0 then
    return vim.list_slice(results, 1, 2)
  end
  local chosen = {}
  for _, engine in ipairs(engines) do
    local result = vim.iter(results):find(function(result)
      return result.engine == engine
    end)
    if not result then
      return chosen, engine
    end
    table.insert(chosen, result)
  end
  return chosen
end

--- Compares answers with the right one in a new tab.
---@param whole ghostbench.Answers
---@param chosen ghostbench.Result[]
local function draw(whole, chosen)
  vim.cmd.tabnew()
  fill('right answer', whole, whole.truth)
  for _, result in ipairs(chosen) do
    vim.cmd('rightbelow vsplit')
    fill(cases.describe_result(result), whole, result.text or '')
  end
  vim.cmd('wincmd t')
  vim.cmd('wincmd =')
  local row = select(2, whole.before:gsub('\n', '')) + 1
  vim.api.nvim_win_set_cursor(0, { row, 0 })
end

--- Compares the answers to the case at the cursor.
---@param client vim.lsp.Client
---@param engines string[] One or two names; of the first two engines if it is empty.
function M.run(client, engines)
  cases.at_cursor(client, function(case)
    ui.request(client, 'ghostbench/answers', { case = case.id }, function(whole)
      local chosen, missing = choose(whole.answers, engines)
      if missing then
        ui.tell(('%s has not answered this case; :Ghostbench replay'):format(missing), vim.log.levels.WARN)
      elseif #chosen == 0 then
        ui.tell('this case is not replayed yet; :Ghostbench replay', vim.log.levels.WARN)
      else
        draw(whole, chosen)
      end
    end)
  end)
end

return M
