--- The keys of insert mode. Each acts on the suggestion, and otherwise does the same as before.

local ghost = require('ghostbench.ghost')
local options = require('ghostbench.options')

local M = {}

--- Returns the keys of the existing mapping: Neovim jumps within snippets, plugins move through menus.
---@param key string
---@return string keys
local function fall_through(key)
  local map = vim.iter(vim.api.nvim_get_keymap('i')):find(function(map)
    return vim.keycode(map.lhs) == vim.keycode(key)
  end)
  if not map then
    return key
  elseif map.expr == 1 then
    return map.callback and (map.callback() or '') or vim.api.nvim_eval(map.rhs)
  elseif map.callback then
    vim.schedule(map.callback)
    return ''
  end
  return map.rhs
end

--- Actions of the keys, by option. Each returns whether there is a suggestion. If that turns out not to fit, it calls `otherwise`.
local ACTIONS = {
  accept = { 'Accept the suggestion', function(otherwise) return ghost.accept('all', otherwise) end },
  accept_word = { 'Accept the next word', function(otherwise) return ghost.accept('word', otherwise) end },
  accept_line = { 'Accept the next line', function(otherwise) return ghost.accept('line', otherwise) end },
  dismiss = { 'Hide the suggestion', ghost.dismiss },
  next = { 'Show the next suggestion', function() return ghost.cycle(1) end },
  previous = { 'Show the previous suggestion', function() return ghost.cycle(-1) end },
}

---@param bufnr integer
function M.map(bufnr)
  for option, action in pairs(ACTIONS) do
    local desc, act = unpack(action)
    local key = options.key(option)
    if key then
      local function otherwise()
        vim.api.nvim_feedkeys(vim.keycode(fall_through(key)), 'in', false)
      end
      vim.keymap.set('i', key, function()
        return act(otherwise) and '' or fall_through(key)
      end, { buffer = bufnr, expr = true, remap = true, desc = desc .. ', otherwise ' .. key })
    end
  end
end

return M
