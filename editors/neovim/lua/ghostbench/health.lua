--- `:checkhealth ghostbench`: Neovim, the binary and its version, the running server, and the settings.

local options = require('ghostbench.options')
local server = require('ghostbench.server')
local version = require('ghostbench.version')

local M = {}

local INSTALL = {
  'uv tool install ghostbench, or pipx install ghostbench',
  'npm install --global ghostbench',
  'or a package of https://github.com/ghostbench/ghostbench/releases',
}

local function check_neovim()
  vim.health.start('Neovim')
  local own = tostring(vim.version())
  if options.is_native() then
    vim.health.ok(own .. ' draws the suggestions itself')
  else
    vim.health.ok(own .. ': the plugin draws the suggestions')
  end
  for action in pairs(options.KEYS) do
    options.key(action)
  end
end

--- Returns the program of the configuration.
---@return string
local function program()
  local known = vim.lsp.config and vim.lsp.config.ghostbench
  local command = known and known.cmd
  return type(command) == 'table' and command[1] or 'ghostbench'
end

--- Returns the version that a program prints.
---@param path string
---@return string?
local function version_of(path)
  local is_started, process = pcall(vim.system, { path, '--version' }, { text = true })
  local result = is_started and process:wait(10000)
  return result and result.code == 0 and result.stdout:match('(%d+%.%d+%.%d+%S*)') or nil
end

---@return boolean is_there
local function check_binary()
  vim.health.start('The binary')
  local path = program()
  if not server.is_installed({ path }) then
    vim.health.error(('%s is not in your PATH'):format(path), INSTALL)
    return false
  end
  local found = version_of(path)
  if not found then
    vim.health.error(('`%s --version` fails'):format(path), INSTALL)
  elseif version.fits(found) then
    vim.health.ok(('%s, version %s'):format(vim.fn.exepath(path), found))
  else
    local difference = ('%s is version %s, this plugin %s'):format(vim.fn.exepath(path), found, version.VERSION)
    vim.health.warn(difference, vim.list_extend({ 'update the older of both' }, INSTALL))
  end
  return found ~= nil
end

--- Reports the state of a running server.
---@param client vim.lsp.Client
local function check_client(client)
  local root = client.config.root_dir
  if root then
    vim.health.ok('it serves ' .. vim.fn.fnamemodify(root, ':~'))
  else
    vim.health.warn('it serves a file without a workspace folder, so nothing can be recorded', {
      'open a file below a folder with a ghostbench.toml or .git',
    })
  end
  local states = require('ghostbench.status').state(client.id)
  for _, engine in ipairs(states and states.engines or {}) do
    local problem = engine.reason or engine.fault
    if problem then
      vim.health.warn(('engine %s: %s'):format(engine.name, problem))
    else
      vim.health.ok('engine ' .. engine.name)
    end
  end
end

local function check_server()
  vim.health.start('The server')
  local clients = vim.lsp.get_clients({ name = 'ghostbench' })
  for _, client in ipairs(clients) do
    check_client(client)
  end
  if #clients == 0 then
    vim.health.info('it is not running; it starts with a file of its languages')
    vim.health.info("it is enabled by vim.lsp.enable('ghostbench'), in Neovim 0.10 by require('ghostbench').enable()")
  end
  vim.health.info('its log: ' .. require('ghostbench.status').log_file())
end

--- Reports the problems that `ghostbench doctor` finds in the settings.
local function check_settings()
  vim.health.start('Settings')
  local result = vim.system({ program(), 'doctor', vim.fn.getcwd() }, { text = true }):wait(20000)
  if result.code == 0 then
    vim.health.ok('no problems; :Ghostbench doctor shows those in effect')
  else
    vim.health.warn('there are problems', vim.split(result.stdout .. result.stderr, '\n', { trimempty = true }))
  end
end

function M.check()
  check_neovim()
  if check_binary() then
    check_settings()
  end
  check_server()
end

return M
