--- The server's process: its folder, starting it in Neovim 0.10, and starting it again after a crash.

local compat = require('ghostbench.compat')
local ui = require('ghostbench.ui')

local M = {}

--- Crashes within this time (ms) belong together. After the last of them the server is not started again by itself.
local CRASH_WINDOW_MS = 180000
local MAX_CRASHES = 5

--- Pause before the server is started again (ms); it doubles with each crash.
local RESTART_MS = 100

--- Time in which a server has to end before it is started again (ms).
local STOP_MS = 3000

--- Signals that end a process on request.
local SIGINT, SIGTERM = 2, 15

--- Exit code of a wrong command line: starting again would not help.
local USAGE = 2

---@class ghostbench.Served
---@field config vim.lsp.ClientConfig
---@field buffers table<integer, true?>

--- Configuration and buffers of the running servers, by client.
local served = {} ---@type table<integer, ghostbench.Served?>

--- Configuration and buffers of the last server that ended.
local last ---@type ghostbench.Served?

--- How it ended.
local last_ending ---@type string?

--- Clients that end to be started again.
local restarting = {} ---@type table<integer, true?>

--- Times of the latest crashes.
local crashes = {} ---@type number[]

--- The configuration in Neovim 0.10, which does not read `lsp/`.
local own_config ---@type table?

---@return vim.lsp.Config
local function config()
  return own_config or vim.lsp.config.ghostbench
end

--- Whether the program of a configuration is there.
---@param command string[]|function A function starts the server in its own way.
---@return boolean
function M.is_installed(command)
  return type(command) ~= 'table' or vim.fn.executable(command[1]) == 1
end

--- Says that a program is missing, and where the ways to install it are.
---@param program string
function M.tell_missing(program)
  ui.tell(('no %s in your PATH; see :checkhealth ghostbench'):format(program), vim.log.levels.WARN)
end

local has_reported_missing = false

---@param program string
local function tell_missing_once(program)
  if not has_reported_missing then
    has_reported_missing = true
    M.tell_missing(program)
  end
end

--- Says once that the program is missing, if it would be started for a file type. Neovim 0.12 does not start it then, and is silent.
---@param file_type string
function M.check_program(file_type)
  local found = config()
  if vim.list_contains(found.filetypes, file_type) and not M.is_installed(found.cmd) then
    tell_missing_once(found.cmd[1])
  end
end

--- Files whose folder is a workspace folder; those of a row have the same rank.
local ROOT_MARKERS = {
  { 'ghostbench.toml' },
  { '.git' },
  { 'pyproject.toml', 'package.json', 'Cargo.toml', 'go.mod', 'pom.xml', 'CMakeLists.txt' },
}

--- Passes the workspace folder of a buffer to `on_folder`, or nil if it has none. Without the program, says so once, and does not
--- call it, so that older versions of Neovim do not start the server.
---@param bufnr integer
---@param on_folder fun(folder?: string)
function M.find_folder(bufnr, on_folder)
  local command = config().cmd
  if not M.is_installed(command) then
    tell_missing_once(command[1])
    return
  end
  for _, markers in ipairs(ROOT_MARKERS) do
    local folder = vim.fs.root(bufnr, markers)
    if folder then
      on_folder(folder)
      return
    end
  end
  on_folder(nil)
end

--- Starts the server for files of its languages, in Neovim 0.10.
---@param changes table Fields that differ from `lsp/ghostbench.lua`.
function M.enable_by_file_type(changes)
  local file = vim.api.nvim_get_runtime_file('lsp/ghostbench.lua', false)[1]
  local found = vim.tbl_deep_extend('force', dofile(file), changes)
  found.capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), found.capabilities)
  own_config = found
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('ghostbench.enable', {}),
    pattern = found.filetypes,
    callback = function(event)
      -- Scratch buffers, such as answers beside each other, are no documents.
      if vim.bo[event.buf].buftype ~= '' then
        return
      end
      local function start(folder)
        local settled = vim.tbl_extend('force', found, { name = 'ghostbench' })
        settled.root_dir = folder -- nil for none.
        vim.lsp.start(settled, { bufnr = event.buf })
      end
      if type(found.root_dir) == 'function' then
        found.root_dir(event.buf, start)
      else
        start(found.root_dir)
      end
    end,
  })
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.on_attach(client, bufnr)
  served[client.id] = served[client.id] or { config = client.config, buffers = {} }
  served[client.id].buffers[bufnr] = true
end

--- Starts a server as before, for the buffers that are still there.
---@param left ghostbench.Served
local function start_again(left)
  for bufnr in pairs(left.buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      vim.lsp.start(left.config, { bufnr = bufnr })
    end
  end
end

--- Counts a crash. Returns how many there were lately.
---@return integer
local function count_crash()
  local now = vim.uv.now()
  crashes = vim.tbl_filter(function(time)
    return now - time < CRASH_WINDOW_MS
  end, crashes)
  table.insert(crashes, now)
  return #crashes
end

--- Starts the server again after a crash; after too many, says that it stays off.
---@param left ghostbench.Served
---@param how string
local function on_crash(left, how)
  local count = count_crash()
  if count < MAX_CRASHES then
    ui.tell(('the server crashed (%s) and is started again'):format(how), vim.log.levels.WARN)
    vim.defer_fn(function()
      start_again(left)
    end, RESTART_MS * 2 ^ (count - 1))
  else
    last_ending = ('crashed %d times within %d minutes, at last %s'):format(count, CRASH_WINDOW_MS / 60000, how)
    ui.tell(('server crashed %d times (%s); see :Ghostbench log'):format(count, how), vim.log.levels.ERROR)
  end
end

--- The server of a client has ended.
---@param code integer
---@param signal integer
---@param client_id integer
function M.on_exit(code, signal, client_id)
  local left = served[client_id]
  served[client_id] = nil
  require('ghostbench.trial').clear()
  require('ghostbench.status').clear(client_id)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  last = left or last
  local is_requested = signal == SIGTERM or signal == SIGINT or (code == 0 and signal == 0)
  local how = signal ~= 0 and 'signal ' .. signal or 'exit code ' .. code
  last_ending = 'ended with ' .. how
  if left and restarting[client_id] then
    start_again(left)
  elseif is_requested then
    last_ending = 'was stopped'
  elseif code == USAGE and signal == 0 then
    last_ending = 'does not accept its arguments, which are the field cmd of its configuration'
    ui.tell('the server does not accept its arguments; see :Ghostbench log', vim.log.levels.ERROR)
  elseif left then
    on_crash(left, how)
  else
    ui.tell(('the server does not start (%s); see :Ghostbench log'):format(how), vim.log.levels.ERROR)
  end
  restarting[client_id] = nil
end

--- Says how the last server ended.
---@return string
function M.ending()
  return last_ending or 'has not run yet; it starts with a file of its languages, see :checkhealth ghostbench'
end

--- Starts the server again, for the buffers that it serves or served last.
function M.restart()
  crashes = {}
  local clients = vim.lsp.get_clients({ name = 'ghostbench' })
  for _, client in ipairs(clients) do
    restarting[client.id] = true
    compat.stop(client, false)
    vim.defer_fn(function()
      if restarting[client.id] then
        compat.stop(client, true)
      end
    end, STOP_MS)
  end
  if #clients == 0 and last then
    start_again(last)
  elseif #clients == 0 then
    ui.tell('no server has run yet; see :checkhealth ghostbench', vim.log.levels.WARN)
  end
end

return M
