-- Questions of tests to Neovim: its drawing, its messages, the server's work. Functions are in the global table `Test`.

Test = Test or {}

--- Whether the server serves the current buffer.
function Test.is_attached()
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'ghostbench' })[1]
  local is_watched = vim.fn.exists('#ghostbench.ghost.' .. vim.api.nvim_get_current_buf()) == 1
  return client ~= nil and client.initialized == true and is_watched
end

--- The suggestion as it is drawn, by Neovim or by the plugin, lines joined by line feeds; nil where there is none.
function Test.ghost_text()
  local mark
  for _, name in ipairs({ 'nvim.lsp.inline_completion', 'ghostbench.ghost' }) do
    local namespace = vim.api.nvim_get_namespaces()[name]
    mark = mark or namespace and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
  end
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
  local is_new = vim.lsp.codelens.enable ~= nil
  for _, entry in ipairs(vim.lsp.codelens.get(is_new and { bufnr = 0 } or 0)) do
    local lens = entry.lens or entry
    table.insert(titles, { line = lens.range.start.line + 1, title = lens.command and lens.command.title })
  end
  return titles
end

--- The text of the page that is shown; nil where there is none.
function Test.page()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if vim.startswith(vim.api.nvim_buf_get_name(buffer), 'ghostbench://') then
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n')
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
  local has_methods = vim.fn.has('nvim-0.11') == 1
  local method, params = 'ghostbench/status', vim.empty_dict()
  local answer = has_methods and client:request_sync(method, params) or client.request_sync(method, params)
  return assert(answer).result
end
