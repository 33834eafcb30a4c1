--- Reports to the server for live trials: which suggestions are drawn and dismissed, and how changes came about. The server infers
--- the rest (docs/protocol.md, "Reports of a trial").

local compat = require('ghostbench.compat')
local trial = require('ghostbench.trial')
local ui = require('ghostbench.ui')

local M = {}

--- Reports how the last change of a buffer came about. Neovim sends the change itself before the report.
---@param bufnr integer
---@param provenance 'popup'|'pasted'|'undo'|'formatter'|'other_provider'
function M.identify_change(bufnr, provenance)
  local client = ui.server_of(bufnr)
  if client and trial.is_running() then
    local document = vim.lsp.util.make_text_document_params(bufnr)
    compat.notify(client, 'ghostbench/didIdentifyChange', { textDocument = document, provenance = provenance })
  end
end

--- Reports that a suggestion is drawn.
---@param bufnr integer
---@param item lsp.InlineCompletionItem
function M.shown(bufnr, item)
  local client = ui.server_of(bufnr)
  if client then
    compat.notify(client, 'textDocument/didShowCompletion', { item = { command = item.command } })
  end
end

--- Reports that the suggestion is not drawn any more and was not accepted.
---@param bufnr integer
---@param reason 'rejected'|'ignored'
function M.dismissed(bufnr, reason)
  local client = ui.server_of(bufnr)
  if client then
    local document = vim.lsp.util.make_text_document_params(bufnr)
    compat.notify(client, 'ghostbench/didDismissCompletion', { textDocument = document, reason = reason })
  end
end

--- Reports that the beginning of a suggestion was inserted.
---@param client vim.lsp.Client
---@param item { command?: lsp.Command }
---@param accepted string
function M.partly_accepted(client, item, accepted)
  local length = compat.utf16_length(accepted)
  local params = { item = { command = item.command }, acceptedLength = length }
  compat.notify(client, 'textDocument/didPartiallyAcceptCompletion', params)
end

--- Number of the undo step that each buffer is at, and of its last step.
local steps = {} ---@type table<integer, { at: integer, last: integer }>

--- Reports undo and redo: the buffer is at another step, and there is no new one.
---@param event vim.api.keyset.create_autocmd.callback_args
local function watch_undo(event)
  local tree = vim.fn.undotree(event.buf)
  local before = steps[event.buf]
  steps[event.buf] = { at = tree.seq_cur, last = tree.seq_last }
  if before and before.last == tree.seq_last and before.at ~= tree.seq_cur then
    M.identify_change(event.buf, 'undo')
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function watch_popup(event)
  if vim.tbl_get(vim.v.completed_item, 'word') then
    M.identify_change(event.buf, 'popup')
  end
end

local FORMATTING = { 'textDocument/formatting', 'textDocument/rangeFormatting', 'textDocument/rangesFormatting' }

--- Reports the change of a language server that formats, which follows its answer.
---@param event vim.api.keyset.create_autocmd.callback_args
local function watch_formatting(event)
  local asked = event.data.request
  if asked.type ~= 'complete' or not vim.list_contains(FORMATTING, asked.method) then
    return
  end
  local tick = vim.api.nvim_buf_get_changedtick(event.buf)
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(event.buf) and vim.api.nvim_buf_get_changedtick(event.buf) ~= tick then
      M.identify_change(event.buf, 'formatter')
    end
  end)
end

--- Reports text that the terminal or a graphical interface pastes. Set once; other wrappers of `vim.paste` stay in effect.
local function watch_paste()
  local paste = vim.paste
  vim.paste = function(lines, phase)
    local is_done = paste(lines, phase)
    if phase == -1 or phase == 3 then
      M.identify_change(vim.api.nvim_get_current_buf(), 'pasted')
    end
    return is_done
  end
end

local is_paste_watched = false

--- Watches a buffer for the reports of trials.
---@param bufnr integer
function M.watch(bufnr)
  if not is_paste_watched then
    is_paste_watched = true
    watch_paste()
  end
  local tree = vim.fn.undotree(bufnr)
  steps[bufnr] = { at = tree.seq_cur, last = tree.seq_last }
  local group = vim.api.nvim_create_augroup('ghostbench.reports.' .. bufnr, {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  on({ 'TextChanged', 'TextChangedI' }, watch_undo)
  on('CompleteDone', watch_popup)
  on('LspRequest', watch_formatting)
  on('BufDelete', function(event)
    steps[event.buf] = nil
  end)
end

return M
