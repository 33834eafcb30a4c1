--- Recorded cases: recording one at the cursor, finding the one at the cursor, and all of them in the quickfix list.

local ui = require('ghostbench.ui')

local M = {}

---@class ghostbench.Result
---@field engine string
---@field status string
---@field exact boolean
---@field editSimilarity number
---@field passed? boolean Whether the unit tests of the case pass; unset if none judged the answer.
---@field text? string The answer, if the whole case was asked for.

---@class ghostbench.CaseSummary
---@field id string
---@field scenario string
---@field variant? string
---@field blockKind? string
---@field uri string
---@field path string
---@field line integer 0-based.
---@field range? lsp.Range Current range of its truth.
---@field results ghostbench.Result[]

--- Description of the right answer, by the cut of the case.
local WANTED = {
  block_start = 'the whole %s',
  header_end = 'the %s body',
  mid_statement = 'the rest of the %s',
  rest_of_block = 'the rest of the %s',
  empty = 'that nothing follows',
}

--- Describes a recorded case and its lines.
---@param case ghostbench.CaseSummary
---@param cut? string How it was cut, if the variant is something else.
---@return string
local function describe(case, cut)
  local kind = case.blockKind or 'code'
  local is_plain = kind == 'function' or kind == 'statement' or kind == 'code'
  local block = is_plain and kind or kind .. ' block'
  local what = (WANTED[cut or case.variant] or 'the %s'):format(block)
  local range = case.range
  local first = (range and range.start.line or case.line) + 1
  local last = range and range['end'].line + 1 or first
  local lines = first == last and 'line ' .. first or ('lines %d-%d'):format(first, last)
  return what .. ', ' .. lines
end

--- Describes the answer of one engine.
---@param result ghostbench.Result
---@return string
function M.describe_result(result)
  local similar = ('%.0f %% similar'):format(result.editSimilarity)
  local verdict = result.exact and 'exact' or result.status == 'ok' and similar or result.status
  local tests = result.passed == nil and '' or result.passed and ', tests passed' or ', tests failed'
  return result.engine .. ' ' .. verdict .. tests
end

--- Records the block at the cursor.
---@param client vim.lsp.Client
function M.record(client)
  ui.with_place(client, function(place)
    ui.request(client, 'ghostbench/recordCase', place, function(result)
      local verb = result.added and 'recorded ' or 'recorded before: '
      ui.request(client, 'ghostbench/case', { id = result.case.id }, function(whole)
        ui.tell(verb .. describe(result.case, vim.tbl_get(whole.case, 'tags', 'cut')))
      end)
    end)
  end)
end

--- Returns the case whose truth includes a line; of several, the one that begins last.
---@param cases ghostbench.CaseSummary[]
---@param line integer 0-based.
---@return ghostbench.CaseSummary?
local function case_at(cases, line)
  local found ---@type ghostbench.CaseSummary?
  for _, case in ipairs(cases) do
    local range = case.range
    local is_here = range and range.start.line <= line and line <= range['end'].line
    if is_here and (not found or found.range.start.line <= range.start.line) then
      found = case
    end
  end
  return found
end

--- Passes the case at the cursor to `on_case`; says so if there is none.
---@param client vim.lsp.Client
---@param on_case fun(case: ghostbench.CaseSummary, document: lsp.TextDocumentIdentifier)
function M.at_cursor(client, on_case)
  ui.with_place(client, function(place)
    ui.request(client, 'ghostbench/cases', { textDocument = place.textDocument }, function(result)
      local case = case_at(result.cases, place.position.line)
      if case then
        on_case(case, place.textDocument)
      else
        ui.tell('no case was recorded at the cursor', vim.log.levels.WARN)
      end
    end)
  end)
end

---@param case ghostbench.CaseSummary
---@return vim.quickfix.entry
local function entry(case)
  local start = case.range and case.range.start
  local results = vim.tbl_map(M.describe_result, case.results)
  local results_text = #results > 0 and table.concat(results, ' | ') or 'not replayed yet'
  return {
    filename = vim.uri_to_fname(case.uri),
    lnum = (start and start.line or case.line) + 1,
    col = (start and start.character or 0) + 1,
    text = case.scenario .. (case.variant and '/' .. case.variant or '') .. ': ' .. results_text,
  }
end

--- Puts the recorded cases into the quickfix list.
---@param client vim.lsp.Client
---@param document? lsp.TextDocumentIdentifier Only those of this document.
local function list(client, document)
  ui.request(client, 'ghostbench/cases', { textDocument = document }, function(result)
    if #result.cases == 0 then
      ui.tell('no case is recorded; :Ghostbench record')
      return
    end
    vim.fn.setqflist({}, ' ', { title = 'Ghostbench cases', items = vim.tbl_map(entry, result.cases) })
    vim.cmd.copen()
  end)
end

--- Lists the recorded cases, those of the current file or all.
---@param client vim.lsp.Client
---@param is_file boolean
function M.list(client, is_file)
  if not is_file then
    list(client)
    return
  end
  ui.with_place(client, function(place)
    list(client, place.textDocument)
  end)
end

return M
