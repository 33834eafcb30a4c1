--- Reports to the server for live trials: which suggestions are drawn and dismissed, and how changes came about. The server infers
--- the rest (docs/protocol.md, "Reports of a trial").

local ui = require('ghostbench.ui')

local M = {}

--- Reports how the last change of a buffer came about. Neovim sends the change itself before the report.
---@param bufnr integer
---@param provenance 'popup'|'pasted'|'undo'|'formatter'|'other_provider'
function M.identify_change(bufnr, provenance)
  local client = ui.server_of(bufnr)
  if client and (vim.g.ghostbench_trial or '') ~= '' then
    local document = vim.lsp.util.make_text_document_params(bufnr)
    client:notify('ghostbench/didIdentifyChange', { textDocument = document, provenance = provenance })
  end
end

--- Suggestions of the last answer that was drawn, by buffer.
local drawn = {} ---@type table<integer, lsp.InlineCompletionItem[]>

--- Returns the number of the suggestion that is drawn in a buffer; nil if none is.
---@param bufnr integer
---@return integer?
function M.drawn_number(bufnr)
  local namespace = vim.api.nvim_get_namespaces()['nvim.lsp.inline_completion']
  local mark = namespace and vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })[1]
  if not mark then
    return nil
  end
  local lines = mark[4].virt_lines or {}
  local chunks = lines[#lines] or mark[4].virt_text or {}
  local hint = chunks[2] and chunks[2][1] or ''
  return tonumber(hint:match('^ %((%d+)/%d+%)$')) or 1
end

--- Remembers the suggestions of an answer, which Neovim has drawn.
---@param bufnr integer
---@param items lsp.InlineCompletionItem[]
function M.note_answer(bufnr, items)
  drawn[bufnr] = items
  M.report_shown(bufnr)
end

--- Reports the suggestion that is drawn in a buffer.
---@param bufnr integer
function M.report_shown(bufnr)
  local client, number = ui.server_of(bufnr), M.drawn_number(bufnr)
  local item = number and drawn[bufnr] and drawn[bufnr][number]
  if client and item then
    client:notify('textDocument/didShowCompletion', { item = { command = item.command } })
  end
end

--- Reports that the suggestion of a buffer is not drawn any more and was not accepted. Call it while it is drawn.
---@param bufnr integer
---@param reason 'rejected'|'ignored'
function M.report_dismissed(bufnr, reason)
  local client = ui.server_of(bufnr)
  if client and M.drawn_number(bufnr) then
    local document = vim.lsp.util.make_text_document_params(bufnr)
    client:notify('ghostbench/didDismissCompletion', { textDocument = document, reason = reason })
  end
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
  -- Neovim hides the suggestion after this event.
  on('InsertLeavePre', function(event)
    M.report_dismissed(event.buf, 'ignored')
  end)
  on('BufDelete', function(event)
    steps[event.buf], drawn[event.buf] = nil, nil
  end)
end

return M
