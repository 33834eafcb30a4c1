--- The live trial: its state, its commands, and marks at the cursor.

local ui = require('ghostbench.ui')

local M = {}

---@class ghostbench.TrialState
---@field folder string
---@field state 'off'|'running'|'paused'
---@field arms? string[] Absent while the developer must not know which engine answers.
---@field today? { opportunities: integer, truths: integer, shown: integer, accepted: integer }
---@field message string The state in words.

--- Marks the cursor for the trial.
---@param command string
---@param message string
---@return fun(client: vim.lsp.Client)
local function marker(command, message)
  return function(client)
    ui.with_place(client, function(place)
      ui.request(client, 'workspace/executeCommand', { command = command, arguments = { place } }, function()
        ui.tell(message)
      end)
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
---@param params { textDocument?: lsp.TextDocumentIdentifier, mode: string, arms: string[], confirmed?: string[] }
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

--- Shows the state of the trial.
---@param client vim.lsp.Client
function M.show(client)
  ui.request(client, 'ghostbench/trial', { textDocument = ui.document() }, function(state)
    ui.show_page('trial', state_lines(state), function()
      M.show(client)
    end)
  end)
end

M.MODES = { 'single', 'shadow', 'assign', 'duel' }

---@param client vim.lsp.Client
---@param words string[] Mode and engines.
function M.start(client, words)
  local arms = vim.list_slice(words, 2)
  start_trial(client, { textDocument = ui.document(), mode = words[1] or 'single', arms = arms })
end

---@param client vim.lsp.Client
function M.stop(client)
  ui.request(client, 'ghostbench/stopTrial', { textDocument = ui.document() }, function(result)
    ui.tell(('trial %s is stopped; its opportunities are kept'):format(result.name))
    local names = vim.tbl_map(function(arm)
      return ('%s was %s'):format(arm.shownAs, arm.name)
    end, result.revealed)
    if #names > 0 then
      ui.show_page('trial', names)
    end
  end)
end

--- States of the trials, by folder.
local trials = {} ---@type table<string, ghostbench.TrialState>

---@param is_so fun(state: ghostbench.TrialState): boolean
---@return boolean
local function any(is_so)
  return vim.iter(pairs(trials)):any(function(_, state)
    return is_so(state)
  end)
end

---@return boolean
function M.is_running()
  return any(function(state)
    return state.state ~= 'off'
  end)
end

--- Whether the developer must not know which engine answers.
---@return boolean
function M.is_blind()
  return any(function(state)
    return state.state ~= 'off' and not state.arms
  end)
end

--- Returns the engine that writes the ghost text while a trial runs, if the developer may know it.
---@return string?
function M.shown_arm()
  for _, state in pairs(trials) do
    if state.state == 'running' and state.arms then
      return state.arms[1]
    end
  end
end

--- Whether a trial is recorded, in a word for a status line.
---@return 'recording'|'paused'|''
function M.recording()
  local is_recording = any(function(state)
    return state.state == 'running'
  end)
  return is_recording and 'recording' or M.is_running() and 'paused' or ''
end

---@param state ghostbench.TrialState
function M.on_changed(state)
  trials[state.folder] = state
  vim.cmd.redrawstatus({ bang = true })
end

--- The server has ended.
function M.clear()
  trials = {}
  vim.cmd.redrawstatus({ bang = true })
end

return M
