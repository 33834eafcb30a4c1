--- `:Ghostbench`: its subcommands, their arguments and completion. Each subcommand is documented in `doc/ghostbench.txt`.

local ghost = require('ghostbench.ghost')
local status = require('ghostbench.status')
local ui = require('ghostbench.ui')

local M = {}

---@class (exact) ghostbench.Subcommand
---@field run? fun(words: string[]) Works without a server.
---@field ask? fun(client: vim.lsp.Client, words: string[]) Needs a server.
---@field complete? fun(words: string[], typed: string): string[] Words that may follow those before the cursor.

--- Returns a completion of the first argument.
---@param words string[]
---@return fun(before: string[]): string[]
local function first(words)
  return function(before)
    return #before == 0 and words or {}
  end
end

---@param name string
---@return any
local function load(name)
  return require('ghostbench.' .. name)
end

local PARTS = { 'all', 'word', 'line' }

---@param words string[]
local function accept(words)
  local part = words[1] or 'all'
  if vim.list_contains(PARTS, part) then
    ghost.accept(part, function() end)
  else
    ui.tell(('cannot accept "%s"; use all, word or line'):format(part), vim.log.levels.ERROR)
  end
end

--- What `:Ghostbench trial` does, by its first argument.
local TRIAL = {
  start = function(client, words) load('trial').start(client, words) end,
  stop = function(client) load('trial').stop(client) end,
  scoreboard = function(client) load('pages').scoreboard(client, true) end,
}

---@param client vim.lsp.Client
---@param words string[]
local function trial(client, words)
  local action = TRIAL[words[1]]
  if action then
    action(client, vim.list_slice(words, 2))
  elseif not words[1] then
    load('trial').show(client)
  else
    ui.tell(('cannot do "%s"; use start, stop or scoreboard'):format(words[1]), vim.log.levels.ERROR)
  end
end

---@param before string[]
---@return string[]
local function complete_trial(before)
  if #before == 0 then
    return { 'start', 'stop', 'scoreboard' }
  elseif before[1] ~= 'start' then
    return {}
  end
  return #before == 1 and load('trial').MODES or status.engine_names()
end

---@param client vim.lsp.Client
---@param words string[]
local function report(client, words)
  if words[1] and words[1] ~= 'trial' then
    ui.tell(('no report of "%s"; use trial, or nothing for the replay'):format(words[1]), vim.log.levels.ERROR)
  else
    load('pages').report(client, words[1] == 'trial')
  end
end

---@param client vim.lsp.Client
---@param words string[]
local function list_cases(client, words)
  if words[1] and words[1] ~= 'file' then
    ui.tell(('cannot list "%s"; use file, or nothing for all cases'):format(words[1]), vim.log.levels.ERROR)
  else
    load('cases').list(client, words[1] == 'file')
  end
end

---@type table<string, ghostbench.Subcommand>
M.SUBCOMMANDS = {
  accept = { run = accept, complete = first(PARTS) },
  cases = { ask = list_cases, complete = first({ 'file' }) },
  diff = {
    ask = function(client, words) load('diff').run(client, words) end,
    complete = status.engine_names,
  },
  dismiss = { run = function() ghost.dismiss() end },
  doctor = { run = function() load('pages').doctor() end },
  engine = {
    ask = function(client, words) load('engine').run(client, words) end,
    complete = function(before) return first(status.engine_names())(before) end,
  },
  forget = { ask = function(client, words) load('privacy').forget(client, words) end },
  log = { run = function() status.open_log() end },
  missing = { ask = function(client) load('trial').mark_missing(client) end },
  next = { run = function() ghost.cycle(1) end },
  pause = { ask = function(client, words) load('privacy').pause(client, words) end },
  previous = { run = function() ghost.cycle(-1) end },
  record = { ask = function(client) load('cases').record(client) end },
  replay = {
    ask = function(client, words) load('replays').run(client, words) end,
    complete = function(before) return first(load('replays').TARGETS)(before) end,
  },
  report = { ask = report, complete = first({ 'trial' }) },
  restart = { run = function() load('server').restart() end },
  resume = { ask = function(client) load('privacy').resume(client) end },
  scoreboard = { ask = function(client) load('pages').scoreboard(client, false) end },
  sent = { ask = function(client) load('privacy').show_sent(client) end },
  status = { run = function() status.show() end },
  suite = {
    ask = function(client, words) load('suite').run(client, words) end,
    complete = function(before, typed) return #before == 0 and load('suite').complete(typed) or {} end,
  },
  trial = { ask = trial, complete = complete_trial },
  unwanted = { ask = function(client) load('trial').mark_unwanted(client) end },
}

---@return string[]
local function names()
  local sorted = vim.tbl_keys(M.SUBCOMMANDS)
  table.sort(sorted)
  return sorted
end

--- Runs a subcommand. In a page, the server is that of any buffer.
---@param words string[]
function M.run(words)
  local name = words[1] or 'status'
  local subcommand = M.SUBCOMMANDS[name]
  local arguments = vim.list_slice(words, 2)
  if not subcommand then
    ui.tell(('there is no subcommand "%s"; :help ghostbench-commands'):format(name), vim.log.levels.ERROR)
  elseif subcommand.run then
    subcommand.run(arguments)
  else
    local is_file = vim.bo.buftype == ''
    local any = not is_file and vim.lsp.get_clients({ name = 'ghostbench' })[1] or nil
    local client = ui.server_of(vim.api.nvim_get_current_buf()) or any
    if client then
      subcommand.ask(client, arguments)
    else
      ui.tell('no server runs for this file; :Ghostbench restart', vim.log.levels.WARN)
    end
  end
end

--- Returns the completions at the cursor.
---@param line string The command line before the cursor.
---@return string[]
function M.complete(line)
  local words = vim.split(vim.trim(line:match('G%S*%s(.*)$') or ''), '%s+', { trimempty = true })
  local typed = line:match('%S$') and table.remove(words) or ''
  local known = names()
  if words[1] then
    local subcommand = M.SUBCOMMANDS[words[1]]
    known = subcommand and subcommand.complete and subcommand.complete(vim.list_slice(words, 2), typed) or {}
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, typed)
  end, known)
end

return M
