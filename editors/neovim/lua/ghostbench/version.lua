--- The version of this plugin. The server should have the same one.

local ui = require('ghostbench.ui')

local M = {}

-- `cargo xtask release` sets it.
M.VERSION = '0.1.0'

--- Versions of servers that were compared.
local compared = {} ---@type table<string, true?>

--- Returns the major and minor part, within which servers and plugins fit each other.
---@param version string
---@return string
local function series(version)
  return version:match('^%d+%.%d+') or version
end

--- Whether a server fits this plugin.
---@param server string Its version.
---@return boolean
function M.fits(server)
  return series(server) == series(M.VERSION)
end

--- Says once if a server is of another version.
---@param server string Its version.
function M.compare(server)
  if compared[server] or M.fits(server) then
    return
  end
  compared[server] = true
  local difference = ('server %s, plugin %s'):format(server, M.VERSION)
  ui.tell(difference .. '; see :checkhealth ghostbench', vim.log.levels.WARN)
end

return M
