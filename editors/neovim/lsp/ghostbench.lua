--- Ghostbench: ghost text while typing, and benchmark cases that are recorded and replayed in the editor.
---
--- With the folder above this one on the runtimepath: `vim.lsp.enable('ghostbench')`. Needs Neovim 0.12. Logic belongs in the
--- server wherever possible; docs/protocol.md describes its requests.
---
--- `vim.g.ghostbench_accept` is the key that accepts a suggestion. Default: `<Tab>`; false for none.
--- `vim.g.ghostbench_next` is the key that requests all suggestions and shows the next one. Default: `<M-]>`; false for none.
--- `vim.g.ghostbench_accept_word` and `vim.g.ghostbench_accept_line` accept a part. Defaults: `<M-Right>`, `<M-C-Right>`.
--- `vim.g.ghostbench_dismiss` hides the suggestion. Default: `<C-]>`.
---
--- `vim.g.ghostbench_trial` is the state of the live trial for a status line: `recording`, `paused` or an empty text.

---@class ghostbench.CaseSummary
---@field id string
---@field scenario string
---@field variant? string
---@field blockKind? string
---@field path string
---@field line integer 0-based.
---@field range? lsp.Range Current range of its truth.
---@field results { engine: string, status: string, exact: boolean, editSimilarity: number }[]

---@class (exact) ghostbench.ReplayParams
---@field target 'case'|'file'|'suite'
---@field case? string
---@field textDocument lsp.TextDocumentIdentifier

---@class ghostbench.Status
---@field version string
---@field folders { uri: string, state: string, message?: string, files: integer, lines: integer }[]
---@field engines { name: string }[] The first one writes the ghost text.
---@field lastCompletion? { status: string, reason?: string, ms: number }
---@field logFile? string

local reports = require('ghostbench.reports')
local suite = require('ghostbench.suite')
local trial = require('ghostbench.trial')
local ui = require('ghostbench.ui')

--- Targets of a replay.
local TARGETS = { 'case', 'file', 'suite' }

--- Description of the right answer, by the cut of the case.
local WANTED = {
  block_start = 'the whole %s',
  header_end = 'the %s body',
  mid_statement = 'the rest of the %s',
  rest_of_block = 'the rest of the %s',
  empty = 'that nothing follows',
}

--- Descriptions of the results of requests for ghost text, by status.
local ENDINGS = {
  ok = 'with text',
  reused = 'with cached text',
  silent = 'without text, the engine suggested nothing',
  gated = 'without text, it was held back',
  superseded = 'without text, you continued typing',
  timeout = 'without text, the engine took too long',
  error = 'without text, the engine failed',
}

--- Returns the suggestion with a range that ends at the cursor, or nil if other text was typed. Neovim keeps drawing a
--- suggestion while its text is typed or deleted, but the range still ends at the cursor of its request.
---@param item vim.lsp.inline_completion.Item
---@return vim.lsp.inline_completion.Item?
local function fit(item)
  local client = vim.lsp.get_client_by_id(item.client_id)
  if not client or client.name ~= 'ghostbench' then
    return item
  end
  local range = item.range
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  row = row - 1
  if row < range.start_row or (row == range.start_row and col < range.start_col) then
    return nil
  end
  local typed = vim.api.nvim_buf_get_text(0, range.start_row, range.start_col, row, col, {})
  if not vim.startswith(item.insert_text, table.concat(typed, '\n')) then
    return nil
  end
  item.range = vim.range(range.buf, range.start_row, range.start_col, row, col)
  return item
end

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

---@param key string
---@return string keys
local function accept(key)
  local bufnr = vim.api.nvim_get_current_buf()
  local is_accepted = vim.lsp.inline_completion.get({
    on_accept = function(item)
      local fitting = fit(item)
      local client = vim.lsp.get_client_by_id(item.client_id)
      if fitting and client and client.name ~= 'ghostbench' then
        vim.schedule(function()
          reports.identify_change(bufnr, 'other_provider')
        end)
      end
      if fitting then
        -- Makes the suggestion a separate undo step: this assignment ends the step before it, the keys end its own step.
        vim.bo.undolevels = vim.bo.undolevels
      end
      local keys = fitting and '<C-g>u' or fall_through(key)
      vim.api.nvim_feedkeys(vim.keycode(keys), 'in', false)
      return fitting
    end,
  })
  return is_accepted and '' or fall_through(key)
end

--- Patterns of the next part of a suggestion.
local PARTS = { word = '^%s*[%w_]+', line = '^\n?[^\n]*' }

--- Accepts the next word or line of the suggestion, otherwise does what the key did before.
---@param key string
---@param part 'word'|'line'
---@return string keys
local function accept_part(key, part)
  local is_accepted = vim.lsp.inline_completion.get({
    on_accept = function(item)
      local client = vim.lsp.get_client_by_id(item.client_id)
      local fitting = client and client.name == 'ghostbench' and fit(item)
      if not fitting then
        vim.api.nvim_feedkeys(vim.keycode(fall_through(key)), 'in', false)
        return nil
      end
      local range = fitting.range
      local row, col, end_row, end_col = range.start_row, range.start_col, range.end_row, range.end_col
      local typed = table.concat(vim.api.nvim_buf_get_text(0, row, col, end_row, end_col, {}), '\n')
      local rest = fitting.insert_text:sub(#typed + 1)
      local accepted = typed .. (rest:match(PARTS[part]) or rest:match('^%s*.') or rest)
      local whole = fitting.insert_text == accepted
      local shown = { command = fitting.command }
      vim.bo.undolevels = vim.bo.undolevels
      vim.api.nvim_feedkeys(vim.keycode('<C-g>u'), 'in', false)
      if not whole then
        local length = vim.str_utfindex(accepted, 'utf-16')
        vim.schedule(function()
          client:notify('textDocument/didPartiallyAcceptCompletion', { item = shown, acceptedLength = length })
        end)
        fitting.command = nil
      end
      fitting.insert_text = accepted
      return fitting
    end,
  })
  return is_accepted and '' or fall_through(key)
end

local INLINE_COMPLETION = 'textDocument/inlineCompletion'

--- Original `request` functions of the clients, by id.
local senders = {} ---@type table<integer, function>

--- Neovim's handlers of answers, by buffer.
local takers = {} ---@type table<integer, lsp.Handler>

--- Position of the last request for all suggestions.
local choice = {} ---@type { bufnr?: integer, tick?: integer, cursor?: integer[] }

--- Stores the handlers of Neovim's automatic requests. Neovim has no function for explicit requests, so `show_next` sends them
--- with the stored handler.
---@param client vim.lsp.Client
local function watch_questions(client)
  if senders[client.id] then
    return
  end
  local send = client.request
  senders[client.id] = send
  client.request = function(self, method, params, handler, bufnr)
    if method ~= INLINE_COMPLETION or not bufnr then
      return send(self, method, params, handler, bufnr)
    end
    local function take(err, result, context)
      handler(err, result, context)
      if not err and result then
        reports.note_answer(bufnr, result.items or result)
      end
    end
    takers[bufnr] = take
    return send(self, method, params, take, bufnr)
  end
end

--- Hides the suggestion, otherwise does what the key did before.
---@param key string
---@return string keys
local function dismiss(key)
  local bufnr = vim.api.nvim_get_current_buf()
  local client, take = ui.server_of(bufnr), takers[bufnr]
  if not client or not take or not reports.drawn_number(bufnr) then
    return fall_through(key)
  end
  reports.report_dismissed(bufnr, 'rejected')
  vim.schedule(function()
    -- Neovim has no function that hides one suggestion; an empty answer does.
    take(nil, { items = {} }, { client_id = client.id, bufnr = bufnr, method = INLINE_COMPLETION })
  end)
  return ''
end

---@return { bufnr: integer, tick: integer, cursor: integer[] }
local function place()
  local bufnr = vim.api.nvim_get_current_buf()
  return {
    bufnr = bufnr,
    tick = vim.api.nvim_buf_get_changedtick(bufnr),
    cursor = vim.api.nvim_win_get_cursor(0),
  }
end

--- Shows the next suggestion. The first use at a position requests all suggestions.
local function show_next()
  local here = place()
  if vim.deep_equal(choice, here) then
    vim.lsp.inline_completion.select()
    reports.report_shown(here.bufnr)
    return
  end
  local client = ui.server_of(here.bufnr)
  local take = takers[here.bufnr]
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
    vim.lsp.inline_completion.select()
    reports.report_shown(here.bufnr)
  end
  -- Bypasses the wrapper, so that the stored handler remains Neovim's own.
  senders[client.id](client, INLINE_COMPLETION, params, on_answer, here.bufnr)
end

--- Describes a recorded case and its lines.
---@param case ghostbench.CaseSummary
---@param cut? string How it was cut, if the variant is something else.
---@return string
local function describe(case, cut)
  local kind = case.blockKind or 'code'
  local is_plain = kind == 'function' or kind == 'statement' or kind == 'code'
  local block = is_plain and kind or kind .. ' block'
  local what = (WANTED[cut or case.variant] or 'the %s'):format(block)
  local range = case.range
  local first = (range and range.start.line or case.line) + 1
  local last = range and range['end'].line + 1 or first
  local lines = first == last and 'line ' .. first or ('lines %d-%d'):format(first, last)
  return what .. ', ' .. lines
end

---@param client vim.lsp.Client
local function record(client)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  ui.request(client, 'ghostbench/recordCase', params, function(result)
    local verb = result.added and 'recorded ' or 'recorded before: '
    ui.request(client, 'ghostbench/case', { id = result.case.id }, function(whole)
      ui.tell(verb .. describe(result.case, vim.tbl_get(whole.case, 'tags', 'cut')))
    end)
  end)
end

--- Returns the case whose truth includes a line; of several, the one that begins last.
---@param cases ghostbench.CaseSummary[]
---@param line integer 0-based.
---@return ghostbench.CaseSummary?
local function case_at(cases, line)
  local found ---@type ghostbench.CaseSummary?
  for _, case in ipairs(cases) do
    local range = case.range
    local is_here = range and range.start.line <= line and line <= range['end'].line
    if is_here and (not found or found.range.start.line <= range.start.line) then
      found = case
    end
  end
  return found
end

---@param client vim.lsp.Client
---@param params ghostbench.ReplayParams
local function replay(client, params)
  ui.request(client, 'ghostbench/replay', params, function(result)
    local verb = result.cancelled and 'cancelled after' or 'replayed'
    local run = vim.fs.basename(result.run)
    ui.tell(('%s %d of %d requests, run %s'):format(verb, result.requests, result.planned, run))
  end)
end

---@param client vim.lsp.Client
---@param document lsp.TextDocumentIdentifier
local function replay_case_at_cursor(client, document)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  ui.request(client, 'ghostbench/cases', { textDocument = document }, function(result)
    local case = case_at(result.cases, line)
    if case then
      replay(client, { target = 'case', case = case.id, textDocument = document })
    else
      ui.tell('no case was recorded at the cursor', vim.log.levels.WARN)
    end
  end)
end

--- Tokens of the running replays, including those started by a code lens.
local replays = {} ---@type table<lsp.ProgressToken, true?>

---@param client vim.lsp.Client
local function stop_replays(client)
  local tokens = vim.tbl_filter(function(token)
    return replays[token]
  end, vim.tbl_keys(client.progress.pending))
  for _, token in ipairs(tokens) do
    client:notify('window/workDoneProgress/cancel', { token = token })
  end
  if #tokens == 0 then
    ui.tell('no replay is running', vim.log.levels.WARN)
  end
end

---@param client vim.lsp.Client
---@param command vim.api.keyset.create_user_command.command_args
local function on_replay_command(client, command)
  local target = command.args == '' and 'case' or command.args
  local document = vim.lsp.util.make_text_document_params()
  if command.bang then
    stop_replays(client)
  elseif not vim.list_contains(TARGETS, target) then
    ui.tell(('cannot replay "%s"; use %s'):format(target, table.concat(TARGETS, ', ')), vim.log.levels.ERROR)
  elseif target == 'case' then
    replay_case_at_cursor(client, document)
  else
    replay(client, { target = target, textDocument = document })
  end
end

---@param client vim.lsp.Client
local function show_scoreboard(client)
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  ui.request(client, 'ghostbench/scoreboard', params, function(result)
    ui.show(vim.split(result.text, '\n', { trimempty = true }))
  end)
end

---@param status ghostbench.Status
---@return string[]
local function status_lines(status)
  local lines = { 'server   version ' .. status.version }
  for _, folder in ipairs(status.folders) do
    local path = vim.fn.fnamemodify(vim.uri_to_fname(folder.uri), ':~')
    local detail = folder.message or ('files: %d, lines: %d'):format(folder.files, folder.lines)
    table.insert(lines, ('folder   %s: %s (%s)'):format(path, folder.state, detail))
  end
  if #status.folders == 0 then
    table.insert(lines, 'folder   none, recording is not possible')
  end
  for index, engine in ipairs(status.engines) do
    table.insert(lines, 'engine   ' .. engine.name .. (index == 1 and ', writes the ghost text' or ''))
  end
  local last = status.lastCompletion
  local ending = last and ('%s, after %.0f ms'):format(ENDINGS[last.status] or last.status, last.ms)
  table.insert(lines, 'request  ' .. (ending or 'none for ghost text yet'))
  if last and last.reason then
    table.insert(lines, 'because  ' .. last.reason)
  end
  if status.logFile then
    table.insert(lines, 'log      ' .. vim.fn.fnamemodify(status.logFile, ':~'))
  end
  return lines
end

---@param client vim.lsp.Client
local function show_status(client)
  ui.request(client, 'ghostbench/status', vim.empty_dict(), function(status)
    ui.show(status_lines(status))
  end)
end

--- Shows the progress of replays with Neovim's progress messages. Only replays can be cancelled. Indexing is not shown, because
--- it would cover other messages.
---@param event vim.api.keyset.create_autocmd.callback_args
local function show_progress(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  if not client or client.name ~= 'ghostbench' then
    return
  end
  local params = event.data.params ---@type lsp.ProgressParams
  local value = params.value
  if value.kind == 'begin' and value.cancellable then
    replays[params.token] = true
  elseif not replays[params.token] then
    return
  end
  local is_over = value.kind == 'end'
  vim.api.nvim_echo({ { value.message or is_over and 'done' or 'started' } }, false, {
    id = params.token,
    kind = 'progress',
    source = 'ghostbench',
    title = value.title,
    status = is_over and 'success' or 'running',
    percent = value.percentage,
  })
  if is_over then
    replays[params.token] = nil
  end
end

--- Makes ghost text and lenses grey if there are no true colours and the colour scheme has no colour for them; they would look
--- like code.
local function tint_ghost_text()
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

--- Creates a command of a buffer that needs its server.
---@param bufnr integer
---@param name string
---@param action fun(client: vim.lsp.Client, command: vim.api.keyset.create_user_command.command_args)
---@param options vim.api.keyset.user_command
local function add_command(bufnr, name, action, options)
  vim.api.nvim_buf_create_user_command(bufnr, name, function(command)
    local client = ui.server_of(bufnr)
    if client then
      action(client, command)
    else
      ui.tell('the server has ended; :edit restarts it', vim.log.levels.WARN)
    end
  end, options)
end

---@param bufnr integer
local function add_commands(bufnr)
  add_command(bufnr, 'GhostbenchRecord', record, { desc = 'Record the code at the cursor as a case' })
  add_command(bufnr, 'GhostbenchReplay', on_replay_command, {
    desc = 'Replay the case at the cursor, the file or the suite; with ! cancel all replays',
    nargs = '?',
    bang = true,
    complete = function()
      return TARGETS
    end,
  })
  add_command(bufnr, 'GhostbenchScoreboard', show_scoreboard, {
    desc = 'Compare the engines on the recorded cases',
  })
  add_command(bufnr, 'GhostbenchSuite', suite.on_command, suite.COMMAND)
  add_command(bufnr, 'GhostbenchTrial', trial.on_command, {
    desc = 'Show the live trial; start MODE ENGINE..., stop, or scoreboard',
    nargs = '*',
    complete = function()
      return { 'start', 'stop', 'scoreboard' }
    end,
  })
  add_command(bufnr, 'GhostbenchMissing', trial.mark_missing, { desc = 'A suggestion is missing at the cursor' })
  add_command(bufnr, 'GhostbenchUnwanted', trial.mark_unwanted, {
    desc = 'Nothing should have been suggested at the cursor',
  })
  add_command(bufnr, 'GhostbenchStatus', show_status, {
    desc = 'Show the state of the server and the reason for missing ghost text',
  })
end

---@param bufnr integer
local function map_accept_key(bufnr)
  local key = vim.g.ghostbench_accept
  if key == false then
    return
  end
  key = key or '<Tab>'
  local function accept_or_fall_through()
    return accept(key)
  end
  vim.keymap.set('i', key, accept_or_fall_through, {
    buffer = bufnr,
    expr = true,
    remap = true,
    desc = 'Accept the suggestion, otherwise ' .. key,
  })
end

---@param bufnr integer
local function map_next_key(bufnr)
  local key = vim.g.ghostbench_next
  if key ~= false then
    vim.keymap.set('i', key or '<M-]>', show_next, { buffer = bufnr, desc = 'Show the next suggestion' })
  end
end

--- Keys that act on the suggestion, and otherwise do what they did before: option, default, action.
local KEYS = {
  { 'accept_word', '<M-Right>', function(key) return accept_part(key, 'word') end, 'Accept the next word' },
  { 'accept_line', '<M-C-Right>', function(key) return accept_part(key, 'line') end, 'Accept the next line' },
  { 'dismiss', '<C-]>', dismiss, 'Hide the suggestion' },
}

---@param bufnr integer
local function map_other_keys(bufnr)
  for _, entry in ipairs(KEYS) do
    local option, default, action, desc = unpack(entry)
    local key = vim.g['ghostbench_' .. option]
    if key ~= false then
      key = key or default
      vim.keymap.set('i', key, function()
        return action(key)
      end, { buffer = bufnr, expr = true, remap = true, desc = desc })
    end
  end
end

---@param client vim.lsp.Client
---@param bufnr integer
local function on_attach(client, bufnr)
  if vim.fn.has('nvim-0.12') == 0 then
    vim.notify_once('Ghostbench needs Neovim 0.12 or newer', vim.log.levels.ERROR)
    return
  end
  vim.lsp.inline_completion.enable(true, { bufnr = bufnr })
  vim.lsp.codelens.enable(true, { bufnr = bufnr })
  watch_questions(client)
  map_accept_key(bufnr)
  map_next_key(bufnr)
  map_other_keys(bufnr)
  add_commands(bufnr)
  tint_ghost_text()
  reports.watch(bufnr)
  local group = vim.api.nvim_create_augroup('ghostbench', {})
  vim.api.nvim_create_autocmd('LspProgress', { group = group, callback = show_progress })
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = tint_ghost_text })
end

---@type vim.lsp.Config
return {
  cmd = { 'ghostbench', 'lsp', '--stdio' },
  filetypes = {
    'python',
    'typescript',
    'typescriptreact',
    'javascript',
    'javascriptreact',
    'java',
    'cs',
    'rust',
    'go',
    'c',
    'cpp',
  },
  root_markers = {
    'ghostbench.toml',
    '.git',
    { 'pyproject.toml', 'package.json', 'Cargo.toml', 'go.mod', 'pom.xml', 'CMakeLists.txt' },
  },
  on_attach = on_attach,
  on_exit = vim.schedule_wrap(trial.clear),
  handlers = { ['ghostbench/didChangeTrial'] = trial.on_changed },
}
