--- The options in `vim.g`: their defaults and types. A value of another type is reported once, and the default applies.

local ui = require('ghostbench.ui')

local M = {}

--- Keys of insert mode: their defaults, by option.
M.KEYS = {
  accept = '<Tab>',
  accept_word = '<M-Right>',
  accept_line = '<M-C-Right>',
  next = '<M-]>',
  previous = '<M-[>',
  dismiss = '<C-]>',
}

--- Options that were reported.
local reported = {} ---@type table<string, true?>

---@param name string
---@param is_valid boolean
---@param expected string
---@return boolean is_valid
local function check(name, is_valid, expected)
  if not is_valid and not reported[name] then
    reported[name] = true
    ui.tell(('g:%s is no %s; the default applies'):format(name, expected), vim.log.levels.WARN)
  end
  return is_valid
end

--- Returns the key for an action of `KEYS`; nil for none.
---@param action string
---@return string?
function M.key(action)
  local name = 'ghostbench_' .. action
  local key = vim.g[name]
  if key == false then
    return nil
  end
  local is_default = key == nil or not check(name, type(key) == 'string' and key ~= '', 'key')
  return is_default and M.KEYS[action] or key
end

--- Pause after the last key before the request, in milliseconds: longer than between two keys of fast typing. The server waits
--- longer itself if the engine is slow.
M.PAUSE_MS = 75

--- Whether Neovim itself draws the suggestions (from 0.12 on), rather than this plugin.
---@return boolean
function M.is_native()
  local wanted = vim.g.ghostbench_native
  if wanted ~= nil and check('ghostbench_native', type(wanted) == 'boolean', 'boolean') then
    return wanted and vim.lsp.inline_completion ~= nil
  end
  return vim.lsp.inline_completion ~= nil
end

return M
