--- Suites in the editor: opens a suite file, shows its cases one by one in a scratch buffer, replays them and shows the answers.

local cases = require('ghostbench.cases')
local compat = require('ghostbench.compat')
local ui = require('ghostbench.ui')

local M = {}

---@class ghostbench.SuiteCase
---@field number integer From 0.
---@field total integer
---@field uri string Its ending is that of the case's file.
---@field text string
---@field hole lsp.Range
---@field answers string
---@field case ghostbench.CaseSummary

local NAMESPACE = vim.api.nvim_create_namespace('ghostbench.suite')

--- The suite that is open, the case of it that was shown last, and the buffer that shows it.
local open = {} ---@type { suite?: string, shown?: ghostbench.SuiteCase, bufnr?: integer }

--- Returns the scratch buffer of the cases, in a window.
---@return integer
local function scratch_buffer()
  if not open.bufnr or not vim.api.nvim_buf_is_valid(open.bufnr) then
    open.bufnr = vim.api.nvim_create_buf(false, true)
  end
  local window = vim.fn.bufwinid(open.bufnr)
  if window == -1 then
    vim.cmd.sbuffer(open.bufnr)
  else
    vim.api.nvim_set_current_win(window)
  end
  return open.bufnr
end

---@param client vim.lsp.Client
---@param found ghostbench.SuiteCase
local function draw(client, found)
  open.shown = found
  local bufnr = scratch_buffer()
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(found.text, '\r?\n'))
  vim.bo[bufnr].modifiable = false
  local name = vim.uri_decode(vim.fs.basename(found.uri))
  vim.bo[bufnr].filetype = vim.filetype.match({ filename = name }) or ''
  vim.api.nvim_buf_clear_namespace(bufnr, NAMESPACE, 0, -1)
  local at = found.hole.start
  local line = vim.api.nvim_buf_get_lines(bufnr, at.line, at.line + 1, true)[1]
  local from = compat.byte_index(line, client.offset_encoding, at.character)
  local to = compat.byte_index(line, client.offset_encoding, found.hole['end'].character)
  vim.api.nvim_buf_set_extmark(bufnr, NAMESPACE, at.line, from, { end_col = to, hl_group = 'Search' })
  vim.api.nvim_win_set_cursor(0, { at.line + 1, from })
  ui.tell(('case %d of %d: %s'):format(found.number + 1, found.total, found.case.path))
end

---@param client vim.lsp.Client
---@param number integer
local function show(client, number)
  ui.request(client, 'ghostbench/suiteCase', { suite = open.suite, number = number }, function(found)
    draw(client, found)
  end)
end

---@param client vim.lsp.Client
---@param file string
local function open_suite(client, file)
  local suite = vim.uri_from_fname(vim.fn.fnamemodify(vim.fn.expand(file), ':p'))
  ui.request(client, 'ghostbench/suite', { suite = suite }, function(result)
    open.suite = suite
    if result.problems > 0 then
      ui.tell(('%d lines have no valid case; see :Ghostbench log'):format(result.problems))
    end
    show(client, 0)
  end)
end

---@param client vim.lsp.Client
---@param step integer
local function go(client, step)
  local number = open.shown.number + step
  if number < 0 or number >= open.shown.total then
    ui.tell(step < 0 and 'this is the first case' or 'this is the last case')
  else
    show(client, number)
  end
end

--- What `:Ghostbench suite` does with the shown case.
local ACTIONS = {
  next = function(client)
    go(client, 1)
  end,
  previous = function(client)
    go(client, -1)
  end,
  replay = function(client)
    local id = open.shown.case.id
    ui.request(client, 'ghostbench/replay', { target = 'case', case = id }, function(result)
      ui.tell(table.concat(vim.tbl_map(cases.describe_result, result.cases[1].results), ' | '))
    end)
  end,
  answers = function(client)
    local params = { suite = open.suite, number = open.shown.number }
    ui.request(client, 'ghostbench/suiteCase', params, function(found)
      ui.show_page('answers', ui.lines(found.answers))
    end)
  end,
}

--- Words and files that the subcommand accepts.
---@param typed string
---@return string[]
function M.complete(typed)
  local actions = vim.tbl_keys(ACTIONS)
  table.sort(actions)
  return vim.list_extend(actions, vim.fn.getcompletion(typed, 'file'))
end

---@param client vim.lsp.Client
---@param words string[]
function M.run(client, words)
  local word = table.concat(words, ' ')
  local action, number = ACTIONS[word], tonumber(word)
  if word == '' then
    ui.tell('name a suite; or use next, previous, a number, replay, answers', vim.log.levels.ERROR)
  elseif not action and not number then
    open_suite(client, word)
  elseif not open.shown then
    ui.tell('open a suite first: :Ghostbench suite FILE', vim.log.levels.WARN)
  elseif action then
    action(client)
  else
    show(client, number - 1)
  end
end

return M
