--- Replays: starting and cancelling them, and their progress.

local cases = require('ghostbench.cases')
local compat = require('ghostbench.compat')
local ui = require('ghostbench.ui')

local M = {}

---@class (exact) ghostbench.ReplayParams
---@field target 'case'|'file'|'suite'
---@field case? string
---@field textDocument? lsp.TextDocumentIdentifier

--- Tokens of the running replays, including those started by a code lens.
local replays = {} ---@type table<lsp.ProgressToken, true?>

---@param client vim.lsp.Client
---@param params ghostbench.ReplayParams
local function replay(client, params)
  ui.request(client, 'ghostbench/replay', params, function(result)
    local verb = result.cancelled and 'cancelled after' or 'replayed'
    local run = vim.fs.basename(result.run)
    ui.tell(('%s %d of %d requests, run %s'):format(verb, result.requests, result.planned, run))
  end)
end

---@param client vim.lsp.Client
local function cancel_all(client)
  local tokens = vim.tbl_filter(function(token)
    return replays[token]
  end, vim.tbl_keys(client.progress.pending))
  for _, token in ipairs(tokens) do
    compat.notify(client, 'window/workDoneProgress/cancel', { token = token })
  end
  if #tokens == 0 then
    ui.tell('no replay is running', vim.log.levels.WARN)
  end
end

--- Functions that start or end replays, by the word of the subcommand.
local TARGETS = {
  case = function(client)
    cases.at_cursor(client, function(case, document)
      replay(client, { target = 'case', case = case.id, textDocument = document })
    end)
  end,
  file = function(client)
    ui.with_place(client, function(place)
      replay(client, { target = 'file', textDocument = place.textDocument })
    end)
  end,
  suite = function(client)
    replay(client, { target = 'suite', textDocument = ui.document() })
  end,
  cancel = cancel_all,
}

M.TARGETS = { 'case', 'file', 'suite', 'cancel' }

---@param client vim.lsp.Client
---@param words string[]
function M.run(client, words)
  local target = words[1] or 'case'
  if TARGETS[target] then
    TARGETS[target](client)
  else
    local known = table.concat(M.TARGETS, ', ')
    ui.tell(('cannot replay "%s"; use %s'):format(target, known), vim.log.levels.ERROR)
  end
end

--- Shows the progress of replays, as Neovim's progress messages from 0.12 on. Only replays can be cancelled. Indexing is not shown,
--- because it would cover other messages.
---@param event vim.api.keyset.create_autocmd.callback_args
function M.show_progress(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  if not client or client.name ~= 'ghostbench' then
    return
  end
  local params = event.data.params ---@type lsp.ProgressParams
  local value = params.value
  if value.kind == 'begin' and value.cancellable then
    replays[params.token] = true
  elseif not replays[params.token] then
    return
  end
  local is_over = value.kind == 'end'
  local message = value.message or is_over and 'done' or 'started'
  if vim.fn.has('nvim-0.12') == 1 then
    vim.api.nvim_echo({ { message } }, false, {
      id = params.token,
      kind = 'progress',
      source = 'ghostbench',
      title = value.title,
      status = is_over and 'success' or 'running',
      percent = value.percentage,
    })
  elseif not is_over then
    vim.api.nvim_echo({ { 'Ghostbench replays cases: ' .. message } }, false, {})
  end
  if is_over then
    replays[params.token] = nil
  end
end

return M
