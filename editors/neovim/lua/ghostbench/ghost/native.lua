--- Ghost text that Neovim 0.12 draws itself: asking sooner than Neovim does, accepting parts, and actions that it has no functions for.

local options = require('ghostbench.options')
local parts = require('ghostbench.ghost.parts')
local reports = require('ghostbench.reports')
local status = require('ghostbench.status')
local ui = require('ghostbench.ui')

local M = {}

local METHOD = 'textDocument/inlineCompletion'

--- Original `request` functions of the clients, by id.
local senders = {} ---@type table<integer, function>

--- Neovim's handlers of answers, by buffer.
local takers = {} ---@type table<integer, lsp.Handler>

--- Suggestions of the last answer that was drawn, by buffer.
local drawn = {} ---@type table<integer, lsp.InlineCompletionItem[]>

---@class ghostbench.Place
---@field bufnr? integer
---@field tick? integer
---@field cursor? integer[]

--- Place of the last request for all suggestions.
local choice = {} ---@type ghostbench.Place

--- The automatic request of this plugin: the pause before it, and its place and id until it fails.
local early = {} ---@type { timer?: uv.uv_timer_t, place?: ghostbench.Place, request?: integer, client?: vim.lsp.Client }

--- Returns the number of the suggestion that is drawn in a buffer; nil if none is.
---@param bufnr integer
---@return integer?
local function drawn_number(bufnr)
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

---@param bufnr integer
---@return lsp.InlineCompletionItem?
function M.shown(bufnr)
  local number = drawn_number(bufnr)
  return number and drawn[bufnr] and drawn[bufnr][number]
end

---@param bufnr integer
local function report_shown(bufnr)
  local item = M.shown(bufnr)
  if item then
    reports.shown(bufnr, item)
  end
end

---@return ghostbench.Place
local function place()
  local bufnr = vim.api.nvim_get_current_buf()
  return {
    bufnr = bufnr,
    tick = vim.api.nvim_buf_get_changedtick(bufnr),
    cursor = vim.api.nvim_win_get_cursor(0),
  }
end

--- Stores the handlers of Neovim's automatic requests, and leaves out those that `ask_early` has sent. Neovim has no function for explicit requests, so `cycle` sends them
--- with the stored handler.
---@param client vim.lsp.Client
local function watch_requests(client)
  if senders[client.id] then
    return
  end
  local send = client.request
  senders[client.id] = send
  client.request = function(self, method, params, handler, bufnr)
    if method ~= METHOD or not bufnr then
      return send(self, method, params, handler, bufnr)
    end
    local function take(err, result, context)
      handler(err, result, context)
      if not err and result then
        drawn[bufnr] = result.items or result
        report_shown(bufnr)
      end
      status.on_answer(self)
    end
    takers[bufnr] = take
    if vim.deep_equal(early.place, place()) then
      return true
    end
    return send(self, method, params, take, bufnr)
  end
end

--- Ends the pause or the request under way.
local function stop_early()
  if early.timer and not early.timer:is_closing() then
    early.timer:stop()
    early.timer:close()
  end
  if early.client and early.request then
    early.client:cancel_request(early.request)
  end
  early = {}
end

--- Asks for a suggestion. Neovim, which asks 200 ms after a key, does so only if this fails.
---@param client vim.lsp.Client
---@param bufnr integer
local function ask_early(client, bufnr)
  if not vim.lsp.inline_completion.is_enabled({ bufnr = bufnr }) then
    -- Neovim has a new handler once it is enabled again.
    takers[bufnr] = nil
  end
  local take, here = takers[bufnr], place()
  if not take or here.bufnr ~= bufnr or not vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
    return
  end
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = vim.lsp.protocol.InlineCompletionTriggerKind.Automatic }
  local asked = { client = client, place = here }
  early = asked
  -- Bypasses the wrapper, so that the stored handler remains Neovim's own.
  local _, request = senders[client.id](client, METHOD, params, function(err, result, context)
    asked.request = nil
    if err then
      asked.place = nil
    elseif vim.deep_equal(place(), here) then
      take(err, result, context)
    end
  end, bufnr)
  asked.request = request
end

---@param client vim.lsp.Client
---@param bufnr integer
local function on_key(client, bufnr)
  stop_early()
  early.timer = vim.defer_fn(function()
    ask_early(client, bufnr)
  end, options.PAUSE_MS)
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  vim.lsp.inline_completion.enable(true, { bufnr = bufnr })
  -- A handler knows the clients of its time only.
  takers[bufnr] = nil
  watch_requests(client)
  local group = vim.api.nvim_create_augroup('ghostbench.native.' .. bufnr, {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  on({ 'InsertEnter', 'CursorMovedI', 'TextChangedP' }, function()
    on_key(client, bufnr)
  end)
  on({ 'InsertLeave', 'BufLeave' }, stop_early)
  on('BufDelete', function()
    takers[bufnr], drawn[bufnr] = nil, nil
  end)
end

--- Returns the suggestion with a range that ends at the cursor, or nil if other text was typed. Neovim keeps drawing a
--- suggestion while its text is typed or deleted, but the range still ends at the cursor of its request.
---@param item vim.lsp.inline_completion.Item
---@return vim.lsp.inline_completion.Item?
---@return string typed The part of it before the cursor.
local function fit(item)
  local range = item.range
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  row = row - 1
  if row < range.start_row or (row == range.start_row and col < range.start_col) then
    return nil, ''
  end
  local typed = table.concat(vim.api.nvim_buf_get_text(0, range.start_row, range.start_col, row, col, {}), '\n')
  if not vim.startswith(item.insert_text, typed) then
    return nil, ''
  end
  item.range = vim.range(range.buf, range.start_row, range.start_col, row, col)
  return item, typed
end

--- Shortens a suggestion to its next part, and reports that if something is left.
---@param client vim.lsp.Client
---@param item vim.lsp.inline_completion.Item
---@param typed string
---@param part ghostbench.Part
local function shorten(client, item, typed, part)
  local accepted = typed .. parts.next(item.insert_text:sub(#typed + 1), part)
  if accepted == item.insert_text then
    return
  end
  local command = item.command
  vim.schedule(function()
    reports.partly_accepted(client, { command = command }, accepted)
  end)
  item.command = nil
  item.insert_text = accepted
end

--- Makes the suggestion a separate undo step: this assignment ends the step before it, the keys end its own step.
local function separate_undo_step()
  vim.bo.undolevels = vim.bo.undolevels
  vim.api.nvim_feedkeys(vim.keycode('<C-g>u'), 'in', false)
end

---@param part ghostbench.Part
---@param otherwise fun()
---@return boolean
function M.accept(part, otherwise)
  local bufnr = vim.api.nvim_get_current_buf()
  return vim.lsp.inline_completion.get({
    on_accept = function(item)
      local client = vim.lsp.get_client_by_id(item.client_id)
      if not client or client.name ~= 'ghostbench' then
        -- The suggestion of another server is accepted as a whole, in Neovim's way.
        if part ~= 'all' then
          otherwise()
          return nil
        end
        vim.schedule(function()
          reports.identify_change(bufnr, 'other_provider')
        end)
        separate_undo_step()
        return item
      end
      local fitting, typed = fit(item)
      if not fitting then
        otherwise()
        return nil
      end
      separate_undo_step()
      shorten(client, fitting, typed, part)
      return fitting
    end,
  })
end

--- Neovim has no function that hides one suggestion; an empty answer does.
---@param bufnr integer
function M.hide(bufnr)
  local client, take = ui.server_of(bufnr), takers[bufnr]
  if client and take then
    take(nil, { items = {} }, { client_id = client.id, bufnr = bufnr, method = METHOD })
  end
end

---@param step integer
function M.cycle(step)
  local here = place()
  local function show()
    vim.lsp.inline_completion.select({ count = step })
    report_shown(here.bufnr)
  end
  if vim.deep_equal(choice, here) then
    show()
    return
  end
  local client, take = ui.server_of(here.bufnr), takers[here.bufnr]
  if not client or not take then
    return
  end
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = vim.lsp.protocol.InlineCompletionTriggerKind.Invoked }
  local function on_answer(err, result, context)
    if err or not result or not vim.deep_equal(place(), here) then
      return
    end
    choice = here
    take(err, result, context)
    show()
  end
  -- Bypasses the wrapper, so that the stored handler remains Neovim's own.
  senders[client.id](client, METHOD, params, on_answer, here.bufnr)
end

return M
