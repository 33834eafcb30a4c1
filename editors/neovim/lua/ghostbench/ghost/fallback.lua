--- Ghost text for Neovim 0.10 and 0.11, which have no inline completion: when to ask, and how answers are drawn.
---
--- Each key cancels the request before, keeps the suggestion if the key typed its next character, and asks again after a pause.

local compat = require('ghostbench.compat')
local options = require('ghostbench.options')
local reports = require('ghostbench.reports')
local status = require('ghostbench.status')
local Suggestion = require('ghostbench.ghost.suggestion')

local M = {}

local METHOD = 'textDocument/inlineCompletion'

--- Kinds of requests in the protocol.
local INVOKED, AUTOMATIC = 1, 2

---@class ghostbench.GhostState
---@field client_id integer
---@field timer? uv.uv_timer_t Runs until the next request.
---@field request? integer Id of the request under way.
---@field count integer Changes with each request and each key, so that late answers are recognized.
---@field suggestion? ghostbench.Suggestion
---@field choice? integer `count` when all suggestions were asked for.

local states = {} ---@type table<integer, ghostbench.GhostState>

--- Ends the pause and the request.
---@param state ghostbench.GhostState
local function cancel(state)
  state.count = state.count + 1
  if state.timer and not state.timer:is_closing() then
    state.timer:stop()
    state.timer:close()
  end
  state.timer = nil
  local client = state.request and vim.lsp.get_client_by_id(state.client_id)
  if client then
    compat.cancel(client, state.request)
  end
  state.request = nil
end

---@param bufnr integer
---@return boolean
local function is_inserting(bufnr)
  return vim.api.nvim_get_current_buf() == bufnr and vim.startswith(vim.api.nvim_get_mode().mode, 'i')
end

--- Draws the rest of the suggestion, or nothing if other text was typed.
---@param bufnr integer
---@param state ghostbench.GhostState
local function draw(bufnr, state)
  if state.suggestion and not state.suggestion:draw() then
    state.suggestion = nil
  end
end

---@param bufnr integer
function M.hide(bufnr)
  local state = states[bufnr]
  if state then
    cancel(state)
    if state.suggestion then
      state.suggestion:clear()
    end
    state.suggestion = nil
  end
end

--- Draws the first suggestion of an answer.
---@param bufnr integer
---@param state ghostbench.GhostState
---@param items lsp.InlineCompletionItem[]
---@param encoding string
local function take(bufnr, state, items, encoding)
  if state.suggestion then
    state.suggestion:clear()
  end
  state.suggestion = items[1] and Suggestion.new(bufnr, items, encoding)
  draw(bufnr, state)
  if state.suggestion then
    reports.shown(bufnr, state.suggestion:item())
  end
end

---@param bufnr integer
---@param kind integer
---@param on_drawn? fun()
local function ask(bufnr, kind, on_drawn)
  local state = states[bufnr]
  local client = vim.lsp.get_client_by_id(state.client_id)
  if not client or not is_inserting(bufnr) then
    return
  end
  cancel(state)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  local count, tick = state.count, vim.api.nvim_buf_get_changedtick(bufnr)
  local _, id = compat.request(client, METHOD, params, function(err, result)
    if states[bufnr] ~= state or state.count ~= count then
      return
    end
    state.request = nil
    status.on_answer(client)
    -- Without a result the request was out of date, and the screen stays as it is.
    if err or type(result) ~= 'table' or not is_inserting(bufnr) then
      return
    end
    if vim.api.nvim_buf_get_changedtick(bufnr) == tick then
      take(bufnr, state, result.items or result, client.offset_encoding)
      if on_drawn then
        on_drawn()
      end
    end
  end, bufnr)
  state.request = id
end

---@param bufnr integer
local function on_key(bufnr)
  local state = states[bufnr]
  cancel(state)
  draw(bufnr, state)
  state.timer = vim.defer_fn(function()
    state.timer = nil
    if states[bufnr] == state then
      ask(bufnr, AUTOMATIC)
    end
  end, options.PAUSE_MS)
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  M.hide(bufnr)
  states[bufnr] = { client_id = client.id, count = 0 }
  local group = vim.api.nvim_create_augroup('ghostbench.fallback.' .. bufnr, {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  on({ 'InsertEnter', 'CursorMovedI', 'TextChangedP' }, function()
    on_key(bufnr)
  end)
  on({ 'InsertLeave', 'BufLeave' }, function()
    M.hide(bufnr)
  end)
  on('BufDelete', function()
    M.hide(bufnr)
    states[bufnr] = nil
    vim.api.nvim_del_augroup_by_id(group)
  end)
  on('LspDetach', function(event)
    local state = states[bufnr]
    if state and event.data.client_id == state.client_id then
      M.hide(bufnr)
    end
  end)
  if is_inserting(bufnr) then
    on_key(bufnr)
  end
end

---@param bufnr integer
---@return lsp.InlineCompletionItem?
function M.shown(bufnr)
  local state = states[bufnr]
  return state and state.suggestion and state.suggestion:item()
end

--- Tells the server that the whole suggestion was inserted.
---@param state ghostbench.GhostState
---@param item lsp.InlineCompletionItem
---@param bufnr integer
local function run_command(state, item, bufnr)
  local client = vim.lsp.get_client_by_id(state.client_id)
  if client and item.command then
    local params = { command = item.command.command, arguments = item.command.arguments }
    compat.request(client, 'workspace/executeCommand', params, function() end, bufnr)
  end
end

---@param part ghostbench.Part
---@param otherwise fun()
---@return boolean
function M.accept(part, otherwise)
  local bufnr = vim.api.nvim_get_current_buf()
  local state = states[bufnr]
  if not state or not state.suggestion or not state.suggestion:rest() then
    return false
  end
  -- A mapping with a result must not change the text. Until then, another answer may have replaced the suggestion.
  vim.schedule(function()
    local suggestion = state.suggestion
    if not suggestion or not suggestion:rest() then
      otherwise()
      return
    end
    cancel(state)
    local item = suggestion:item()
    local accepted = suggestion:accept(part)
    if accepted == item.insertText then
      state.suggestion = nil
      run_command(state, item, bufnr)
    else
      reports.partly_accepted(assert(vim.lsp.get_client_by_id(state.client_id)), item, accepted)
    end
  end)
  return true
end

---@param step integer
function M.cycle(step)
  local bufnr = vim.api.nvim_get_current_buf()
  local state = states[bufnr]
  if not state then
    return
  end
  local function show()
    if state.suggestion then
      state.suggestion:select(step)
      reports.shown(bufnr, state.suggestion:item())
    end
    state.choice = state.count
  end
  if state.choice == state.count then
    show()
  else
    ask(bufnr, INVOKED, show)
  end
end

return M
