--- Ghostbench: ghost text while typing; benchmark cases recorded and replayed where you write.
---
--- With the folder above this one on the runtimepath: `vim.lsp.enable('ghostbench')`. Needs Neovim 0.12. What can be
--- decided in the server is decided there; docs/protocol.md describes its requests.

---@class ghostbench.CaseSummary
---@field id string
---@field scenario string
---@field variant? string
---@field blockKind? string
---@field path string
---@field line integer 0-based.
---@field range? lsp.Range Where its truth stands now.

---@class (exact) ghostbench.ReplayParams
---@field target 'case'|'file'|'suite'
---@field case? string
---@field textDocument lsp.TextDocumentIdentifier
---@field workDoneToken? string

--- The key that accepts a suggestion.
local ACCEPT = '<Tab>'

--- Under this token the server tells how a replay goes.
local REPLAY_TOKEN = 'ghostbench.replay'

---@param message string
---@param level? integer
local function tell(message, level)
  vim.notify('Ghostbench: ' .. message, level or vim.log.levels.INFO)
end

--- Sends a request and hands its result on; an error is told.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param on_result fun(result: table)
local function request(client, method, params, on_result)
  client:request(method, params, function(err, result)
    if err then
      tell(err.message, vim.log.levels.ERROR)
    elseif result then
      on_result(result)
    end
  end)
end

--- The suggestion as it fits now. Neovim draws it on while its text is typed or taken back, but still has its range end
--- where the cursor was when it came. Where other text was typed there is nothing to accept.
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

--- What the key does without us: Neovim itself jumps within snippets, others walk through menus.
---@return string keys
local function fall_through()
  local map = vim.iter(vim.api.nvim_get_keymap('i')):find(function(map)
    return map.lhs == ACCEPT
  end)
  if not map then
    return ACCEPT
  elseif map.expr == 1 then
    return map.callback and (map.callback() or '') or vim.api.nvim_eval(map.rhs)
  elseif map.callback then
    vim.schedule(map.callback)
    return ''
  end
  return map.rhs
end

---@return string keys
local function accept()
  local is_accepted = vim.lsp.inline_completion.get({
    on_accept = function(item)
      local fitting = fit(item)
      if not fitting then
        vim.api.nvim_feedkeys(vim.keycode(fall_through()), 'in', false)
      end
      return fitting
    end,
  })
  return is_accepted and '' or fall_through()
end

---@param client vim.lsp.Client
local function record(client)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  request(client, 'ghostbench/recordCase', params, function(result)
    local case = result.case ---@type ghostbench.CaseSummary
    local kind = table.concat({ case.scenario, case.blockKind }, ' ')
    local verb = result.added and 'recorded' or 'recorded before:'
    tell(('%s %s at %s:%d'):format(verb, kind, case.path, case.line + 1))
  end)
end

--- The case whose truth stands at a line; of several, the one that begins last.
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
  params.workDoneToken = REPLAY_TOKEN
  request(client, 'ghostbench/replay', params, function(result)
    local verb = result.cancelled and 'cancelled after' or 'replayed'
    local run = vim.fs.basename(result.run)
    tell(('%s %d of %d requests, run %s'):format(verb, result.requests, result.planned, run))
  end)
end

---@param client vim.lsp.Client
---@param document lsp.TextDocumentIdentifier
local function replay_case_at_cursor(client, document)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  request(client, 'ghostbench/cases', { textDocument = document }, function(result)
    local case = case_at(result.cases, line)
    if case then
      replay(client, { target = 'case', case = case.id, textDocument = document })
    else
      tell('no case was recorded at the cursor', vim.log.levels.WARN)
    end
  end)
end

---@param client vim.lsp.Client
---@param command vim.api.keyset.create_user_command.command_args
local function on_replay_command(client, command)
  local document = vim.lsp.util.make_text_document_params()
  if command.bang then
    client:notify('window/workDoneProgress/cancel', { token = REPLAY_TOKEN })
  elseif command.args == '' or command.args == 'case' then
    replay_case_at_cursor(client, document)
  else
    replay(client, { target = command.args, textDocument = document })
  end
end

---@param client vim.lsp.Client
local function show_scoreboard(client)
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  request(client, 'ghostbench/scoreboard', params, function(result)
    local lines = vim.split(result.markdown, '\n', { trimempty = true })
    vim.lsp.util.open_floating_preview(lines, 'markdown', { border = 'rounded', wrap = false })
  end)
end

--- Shows how a replay goes, where Neovim shows progress.
---@param event vim.api.keyset.create_autocmd.callback_args
local function show_progress(event)
  local params = event.data.params ---@type lsp.ProgressParams
  if params.token ~= REPLAY_TOKEN then
    return
  end
  local value = params.value
  local is_over = value.kind == 'end'
  vim.api.nvim_echo({ { value.message or is_over and 'done' or 'started' } }, false, {
    id = REPLAY_TOKEN,
    kind = 'progress',
    source = 'ghostbench',
    title = value.title,
    status = is_over and 'success' or 'running',
    percent = value.percentage,
  })
end

---@param client vim.lsp.Client
---@param bufnr integer
local function on_attach(client, bufnr)
  vim.lsp.inline_completion.enable(true, { bufnr = bufnr })
  vim.lsp.codelens.enable(true, { bufnr = bufnr })
  vim.keymap.set('i', ACCEPT, accept, {
    buffer = bufnr,
    expr = true,
    remap = true,
    desc = 'Accept the suggestion, otherwise ' .. ACCEPT,
  })
  vim.api.nvim_create_autocmd('LspProgress', {
    group = vim.api.nvim_create_augroup('ghostbench', {}),
    callback = show_progress,
  })

  local command = vim.api.nvim_buf_create_user_command
  command(bufnr, 'GhostbenchRecord', function()
    record(client)
  end, { desc = 'Record the block at the cursor as a case' })
  command(bufnr, 'GhostbenchReplay', function(args)
    on_replay_command(client, args)
  end, {
    desc = 'Replay the case at the cursor, the file or the suite; with ! stop',
    nargs = '?',
    bang = true,
    complete = function()
      return { 'case', 'file', 'suite' }
    end,
  })
  command(bufnr, 'GhostbenchScoreboard', function()
    show_scoreboard(client)
  end, { desc = 'Show how the engines compare on the recorded cases' })
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
}
