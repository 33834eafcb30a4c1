--- The server's state: in a page, and in short for a status line.

local compat = require('ghostbench.compat')
local trial = require('ghostbench.trial')
local ui = require('ghostbench.ui')

local M = {}

---@class ghostbench.Status
---@field version string
---@field folders { uri: string, state: string, message?: string, files: integer, lines: integer }[]
---@field engines ghostbench.EngineStatus[] The first one writes the ghost text of the settings.
---@field lastCompletion? { status: string, reason?: string, ms: number }
---@field logFile? string

---@class ghostbench.EngineStatus
---@field name string
---@field reason? string Why it is not used.
---@field fault? string Its last failure.
---@field latency? number Its usual time for ghost text (ms).

--- Descriptions of the results of requests for ghost text, by status.
local ENDINGS = {
  ok = 'with text',
  reused = 'with cached text',
  silent = 'without text, the engine suggested nothing',
  gated = 'without text, it was held back',
  superseded = 'without text, you continued typing',
  timeout = 'without text, the engine took too long',
  error = 'without text, the engine failed',
}

--- At most one request for the status line in this time (ms).
local REFRESH_MS = 500

--- The latest state of each server, by client.
local states = {} ---@type table<integer, { status?: ghostbench.Status, busy?: string, is_waiting?: boolean }>

--- Path of the log of the server that answered last.
local log_file ---@type string?

---@param client_id integer
---@return { status?: ghostbench.Status, busy?: string, is_waiting?: boolean }
local function state_of(client_id)
  states[client_id] = states[client_id] or {}
  return states[client_id]
end

--- Returns the path of the server's log; before the server's first answer, that of Neovim's.
---@return string
function M.log_file()
  return vim.fn.fnamemodify(log_file or require('vim.lsp.log').get_filename(), ':~')
end

--- Returns the latest state of a server.
---@param client_id integer
---@return ghostbench.Status?
function M.state(client_id)
  return states[client_id] and states[client_id].status
end

--- The server of a client has ended.
---@param client_id integer
function M.clear(client_id)
  states[client_id] = nil
end

--- Asks for the state, for the status line.
---@param client vim.lsp.Client
function M.refresh(client)
  compat.request(client, 'ghostbench/status', vim.empty_dict(), function(err, status)
    if err or type(status) ~= 'table' or not vim.lsp.get_client_by_id(client.id) then
      return
    end
    state_of(client.id).status = status
    log_file = status.logFile or log_file
    require('ghostbench.version').compare(status.version)
    vim.cmd.redrawstatus({ bang = true })
  end)
end

--- A request for ghost text was answered: the latency has changed.
---@param client vim.lsp.Client
function M.on_answer(client)
  local state = state_of(client.id)
  if state.is_waiting then
    return
  end
  state.is_waiting = true
  vim.defer_fn(function()
    state.is_waiting = false
    if vim.lsp.get_client_by_id(client.id) then
      M.refresh(client)
    end
  end, REFRESH_MS)
end

--- The server begins or ends something that takes long.
---@param change { busy: boolean, message: string }
---@param client_id integer
function M.on_changed(change, client_id)
  state_of(client_id).busy = change.busy and change.message or nil
  local client = vim.lsp.get_client_by_id(client_id)
  if client then
    M.refresh(client)
  end
end

--- Names of the engines that can be used, the present one first.
---@return string[]
function M.engine_names()
  local client = vim.lsp.get_clients({ name = 'ghostbench' })[1]
  local status = client and state_of(client.id).status
  local names = {}
  for _, engine in ipairs(status and status.engines or {}) do
    if not engine.reason then
      table.insert(names, engine.name)
    end
  end
  return names
end

---@param state { status: ghostbench.Status, busy?: string }
---@return string
local function describe(state)
  local engine, folder = state.status.engines[1], state.status.folders[1]
  if state.busy then
    return state.busy
  elseif folder and folder.state == 'failed' then
    return 'folder unreadable'
  end
  return engine and engine.fault and 'failing' or 'ready'
end

--- Returns the engine, its state and latency, and whether a trial is recorded; '' without the server.
---@return string
function M.statusline()
  local client = ui.server_of(vim.api.nvim_get_current_buf())
  local state = client and states[client.id]
  if not state or not state.status then
    return ''
  end
  local engine, last = state.status.engines[1], state.status.lastCompletion
  local words = {
    trial.is_blind() and 'engine hidden' or trial.shown_arm() or engine and engine.name or 'no engine',
    describe(state),
    last and ('%.0f ms'):format(last.ms) or '',
    trial.recording(),
  }
  return table.concat(vim.tbl_filter(function(word)
    return word ~= ''
  end, words), ' ')
end

---@param engine ghostbench.EngineStatus
---@param is_writing boolean
---@return string
local function engine_line(engine, is_writing)
  local problem = engine.reason or engine.fault
  return table.concat({
    'engine   ' .. engine.name,
    is_writing and ', writes the ghost text' or '',
    engine.latency and (', usually in %.0f ms'):format(engine.latency) or '',
    problem and ': ' .. problem or '',
  })
end

---@param status ghostbench.Status
---@return string[]
local function status_lines(status)
  local lines = { 'server   version ' .. status.version }
  for _, folder in ipairs(status.folders) do
    local path = vim.fn.fnamemodify(vim.uri_to_fname(folder.uri), ':~')
    local detail = folder.message or ('files: %d, lines: %d'):format(folder.files, folder.lines)
    table.insert(lines, ('folder   %s: %s (%s)'):format(path, folder.state, detail))
  end
  if #status.folders == 0 then
    table.insert(lines, 'folder   none, recording is not possible')
  end
  for index, engine in ipairs(status.engines) do
    table.insert(lines, engine_line(engine, index == 1 and not trial.is_blind()))
  end
  local last = status.lastCompletion
  local ending = last and ('%s, after %.0f ms'):format(ENDINGS[last.status] or last.status, last.ms)
  table.insert(lines, 'request  ' .. (ending or 'none for ghost text yet'))
  if last and last.reason then
    table.insert(lines, 'because  ' .. last.reason)
  end
  if status.logFile then
    table.insert(lines, 'log      ' .. vim.fn.fnamemodify(status.logFile, ':~'))
  end
  return lines
end

--- Shows the state of the current buffer's server, or why there is none.
function M.show()
  local client = ui.server_of(vim.api.nvim_get_current_buf()) or vim.lsp.get_clients({ name = 'ghostbench' })[1]
  if not client then
    local lines = { 'server   ' .. require('ghostbench.server').ending() }
    vim.list_extend(lines, { 'start    :Ghostbench restart', 'log      ' .. M.log_file() })
    ui.show_page('status', lines, M.show)
    return
  end
  ui.request(client, 'ghostbench/status', vim.empty_dict(), function(status)
    ui.show_page('status', status_lines(status), M.show)
  end)
end

--- Opens the server's log.
function M.open_log()
  vim.cmd.split({ args = { vim.fn.fnameescape(M.log_file()) } })
  vim.cmd.normal({ args = { 'G' }, bang = true })
end

return M
