--- Ghost text: accepting, cycling and dismissing, whether Neovim draws the suggestions or this plugin.
---
--- A backend has `attach`, `shown`, `accept`, `cycle` and `hide`: `ghost/native.lua` for Neovim 0.12, `ghost/fallback.lua` otherwise.

local options = require('ghostbench.options')
local reports = require('ghostbench.reports')

local M = {}

---@class ghostbench.GhostBackend
---@field attach fun(client: vim.lsp.Client, bufnr: integer)
---@field shown fun(bufnr: integer): lsp.InlineCompletionItem? The suggestion that is drawn.
---@field accept fun(part: ghostbench.Part, otherwise: fun()): boolean Whether there is a suggestion.
---@field cycle fun(step: integer)
---@field hide fun(bufnr: integer)

---@return ghostbench.GhostBackend
local function backend()
  return require(options.is_native() and 'ghostbench.ghost.native' or 'ghostbench.ghost.fallback')
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  backend().attach(client, bufnr)
  vim.api.nvim_create_autocmd('InsertLeavePre', {
    group = vim.api.nvim_create_augroup('ghostbench.ghost.' .. bufnr, {}),
    buffer = bufnr,
    -- The suggestion is hidden after this event.
    callback = function()
      if backend().shown(bufnr) then
        reports.dismissed(bufnr, 'ignored')
      end
    end,
  })
end

--- Accepts the suggestion or its next part. Calls `otherwise` if it turns out not to fit any more.
---@param part ghostbench.Part
---@param otherwise fun()
---@return boolean is_shown
function M.accept(part, otherwise)
  return backend().accept(part, otherwise)
end

--- Shows another suggestion. The first use at a position asks for all of them.
---@param step 1|-1
---@return true
function M.cycle(step)
  backend().cycle(step)
  return true
end

--- Hides the suggestion.
---@return boolean is_shown
function M.dismiss()
  local bufnr = vim.api.nvim_get_current_buf()
  if not backend().shown(bufnr) then
    return false
  end
  reports.dismissed(bufnr, 'rejected')
  -- A mapping with a result must not change what is drawn.
  vim.schedule(function()
    backend().hide(bufnr)
  end)
  return true
end

return M
