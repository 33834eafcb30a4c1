-- What a user of the configuration has in their init.lua, and eyes on what happens: every request that Neovim sends is
-- kept with its answer. Functions for tests are in the global table `Test`.

Test = {
  --- Requests as they went over the wire: `method`, `params`, and `result` or `error` once it is answered.
  requests = {},
  --- Methods whose requests are left unsent, as if the server had not answered yet.
  held = {},
  --- Notifications to the server: `method` and `params`.
  notifications = {},
}

-- Neovim would start every Python of the machine in search of one that can run plugins.
vim.g.loaded_python3_provider = 0
vim.opt.runtimepath:prepend(assert(vim.env.GHOSTBENCH_TEST_CONFIGURATION))

--- A transport to the server that keeps account of requests.
local function start(dispatchers, config)
  local command = vim.list_extend({ 'ghostbench', 'lsp', '--stdio' }, vim.json.decode(vim.env.GHOSTBENCH_TEST_OPTIONS))
  local rpc = vim.lsp.rpc.start(command, dispatchers, { cwd = config.root_dir })
  local send = rpc.request
  rpc.request = function(method, params, on_answer, on_reply)
    if Test.held[method] then
      return true
    end
    local request = { method = method, params = params }
    table.insert(Test.requests, request)
    return send(method, params, function(err, result, id)
      request.error, request.result = err, result
      request.is_answered = true
      return on_answer(err, result, id)
    end, on_reply)
  end
  local notify = rpc.notify
  rpc.notify = function(method, params)
    table.insert(Test.notifications, { method = method, params = params })
    return notify(method, params)
  end
  return rpc
end

assert(vim.deep_equal(vim.lsp.config.ghostbench.cmd, { 'ghostbench', 'lsp', '--stdio' }))
vim.lsp.config('ghostbench', { cmd = start, root_dir = vim.fn.getcwd() })
vim.lsp.enable('ghostbench')

--- Whether the server serves the current buffer.
function Test.is_attached()
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'ghostbench' })[1]
  local filter = client and { bufnr = 0, client_id = client.id }
  return client ~= nil and client.initialized and vim.lsp.inline_completion.is_enabled(filter)
end

--- The suggestion as it is drawn, lines joined by line feeds; nil where there is none.
function Test.ghost_text()
  local namespace = vim.api.nvim_get_namespaces()['nvim.lsp.inline_completion']
  local mark = namespace and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
  if not mark then
    return nil
  end
  local lines = { mark[4].virt_text }
  vim.list_extend(lines, mark[4].virt_lines or {})
  for index, chunks in ipairs(lines) do
    lines[index] = vim.iter(chunks):fold('', function(text, chunk)
      return text .. chunk[1]
    end)
  end
  return table.concat(lines, '\n')
end

--- The titles of the code lenses of the current buffer by 1-based line.
function Test.lenses()
  local titles = {}
  for _, entry in ipairs(vim.lsp.codelens.get({ bufnr = 0 })) do
    local command = entry.lens.command
    table.insert(titles, { line = entry.lens.range.start.line + 1, title = command and command.title })
  end
  return titles
end

--- The text of the floating window; nil where there is none.
function Test.floating_text()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true), '\n')
    end
  end
end

--- What the user was told, of it the lines with some words.
function Test.messages(words)
  local lines = vim.split(vim.api.nvim_exec2('messages', { output = true }).output, '\n')
  return vim.tbl_filter(function(line)
    return line:find(words, 1, true) ~= nil
  end, lines)
end

--- The parameters of the notifications of a method.
function Test.notified(method)
  return vim
    .iter(Test.notifications)
    :filter(function(notification)
      return notification.method == method
    end)
    :map(function(notification)
      return notification.params
    end)
    :totable()
end

--- How many pieces of work with a title the server shows as under way.
function Test.pending(title)
  local client = vim.lsp.get_clients({ name = 'ghostbench' })[1]
  return #vim.tbl_filter(function(shown)
    return shown == title
  end, vim.tbl_values(client.progress.pending))
end

--- What the server is doing.
function Test.status()
  local client = vim.lsp.get_clients({ name = 'ghostbench' })[1]
  return assert(client:request_sync('ghostbench/status', vim.empty_dict())).result
end
