--- Attaches the plugin to a buffer that the server serves.

local ghost = require('ghostbench.ghost')
local keys = require('ghostbench.keys')
local lenses = require('ghostbench.lenses')
local replays = require('ghostbench.replays')
local reports = require('ghostbench.reports')
local server = require('ghostbench.server')
local status = require('ghostbench.status')

local M = {}

--- Groups of Neovim 0.11 and 0.12, for the versions before.
local GROUPS = { ComplHint = 'NonText', ComplHintMore = 'MoreMsg' }

--- Makes ghost text and lenses grey if there are no true colours and the colour scheme has no colour for them; they would look
--- like code.
local function tint()
  for group, similar in pairs(GROUPS) do
    if vim.fn.hlexists(group) == 0 then
      vim.api.nvim_set_hl(0, group, { link = similar })
    end
  end
  if vim.o.termguicolors then
    return
  end
  for _, group in ipairs({ 'ComplHint', 'LspCodeLens' }) do
    local highlight = vim.api.nvim_get_hl(0, { name = group, link = false })
    if not highlight.ctermfg then
      highlight.ctermfg = 8 -- Grey.
      highlight.default = true
      vim.api.nvim_set_hl(0, group, highlight)
    end
  end
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  server.on_attach(client, bufnr)
  ghost.attach(client, bufnr)
  lenses.attach(bufnr)
  keys.map(bufnr)
  reports.watch(bufnr)
  status.refresh(client)
  tint()
  local group = vim.api.nvim_create_augroup('ghostbench.session', {})
  vim.api.nvim_create_autocmd('LspProgress', { group = group, callback = replays.show_progress })
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = tint })
end

return M
