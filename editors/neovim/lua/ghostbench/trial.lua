--- The live trial: its state, its commands, and marks at the cursor.

local ui = require('ghostbench.ui')

local M = {}

---@class ghostbench.TrialState
---@field folder string
---@field state 'off'|'running'|'paused'
---@field today? { opportunities: integer, truths: integer, shown: integer, accepted: integer }
---@field message string The state in words.

--- Marks the cursor for the trial.
---@param command string
---@param message string
---@return fun(client: vim.lsp.Client)
local function marker(command, message)
  return function(client)
    local place = vim.lsp.util.make_position_params(0, client.offset_encoding)
    ui.request(client, 'workspace/executeCommand', { command = command, arguments = { place } }, function()
      ui.tell(message)
    end)
  end
end

M.mark_missing = marker(
  'ghostbench.shouldHaveSuggested',
  'marked as missing; now write what belongs here'
)
M.mark_unwanted = marker('ghostbench.notWanted', 'marked: nothing should have been suggested here')

---@param state ghostbench.TrialState
---@return string[]
local function state_lines(state)
  local today = state.today
  local counts = today
    and ('today: opportunities: %d, right answer known: %d, shown: %d, accepted: %d'):format(
      today.opportunities,
      today.truths,
      today.shown,
      today.accepted
    )
  return { state.message, counts }
end

---@param client vim.lsp.Client
---@param params { textDocument: lsp.TextDocumentIdentifier, mode: string, arms: string[], confirmed?: string[] }
local function start_trial(client, params)
  ui.request(client, 'ghostbench/startTrial', params, function(result)
    if result.started then
      local note = result.note and '; note: ' .. result.note or ''
      ui.tell(('trial %s is started%s'):format(result.name, note))
    elseif params.confirmed then
      ui.tell('the settings have changed; start the trial again', vim.log.levels.WARN)
    else
      local question = table.concat(result.disclosures, '\n') .. '\nStart the trial with these engines?'
      if vim.fn.confirm(question, '&Yes\n&No', 2) == 1 then
        params.confirmed = result.disclosures
        start_trial(client, params)
      end
    end
  end)
end

--- What `:GhostbenchTrial` does, by its first argument.
local ACTIONS = {
  ---@param document lsp.TextDocumentIdentifier
  [''] = function(client, document)
    ui.request(client, 'ghostbench/trial', { textDocument = document }, function(state)
      ui.show(state_lines(state))
    end)
  end,
  ---@param words string[] Mode and engines.
  start = function(client, document, words)
    local arms = vim.list_slice(words, 2)
    start_trial(client, { textDocument = document, mode = words[1] or 'single', arms = arms })
  end,
  stop = function(client, document)
    ui.request(client, 'ghostbench/stopTrial', { textDocument = document }, function(result)
      ui.tell(('trial %s is stopped; its opportunities are kept'):format(result.name))
      local names = vim.tbl_map(function(arm)
        return ('%s was %s'):format(arm.shownAs, arm.name)
      end, result.revealed)
      if #names > 0 then
        ui.show(names)
      end
    end)
  end,
  scoreboard = function(client, document)
    ui.request(client, 'ghostbench/scoreboard', { textDocument = document, trial = true }, function(result)
      ui.show(vim.split(result.text, '\n', { trimempty = true }))
    end)
  end,
}

---@param client vim.lsp.Client
---@param command vim.api.keyset.create_user_command.command_args
function M.on_command(client, command)
  local action = ACTIONS[command.fargs[1] or '']
  if action then
    action(client, vim.lsp.util.make_text_document_params(), vim.list_slice(command.fargs, 2))
  else
    ui.tell(('cannot do "%s"; use start, stop or scoreboard'):format(command.fargs[1]), vim.log.levels.ERROR)
  end
end

--- States of the trials, by folder.
local trials = {} ---@type table<string, ghostbench.TrialState>

---@param state ghostbench.TrialState
function M.on_changed(_, state)
  trials[state.folder] = state
  local states = vim.tbl_map(function(known)
    return known.state
  end, vim.tbl_values(trials))
  vim.g.ghostbench_trial = vim.list_contains(states, 'running') and 'recording'
    or vim.list_contains(states, 'paused') and 'paused'
    or ''
  vim.cmd.redrawstatus({ bang = true })
end

--- The server has ended.
function M.clear()
  trials = {}
  vim.g.ghostbench_trial = ''
end

return M
