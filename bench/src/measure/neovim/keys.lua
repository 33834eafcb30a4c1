-- Presses keys in Neovim and takes the time until the suggestion that answers them is drawn. Started with `-u`, without
-- a terminal. It prints one JSON object: for each key, milliseconds to the request, to its answer, and to the suggestion.
--
-- At each position the rest of a line is removed and its first character is typed again, as one key. The clock starts when
-- the key enters Neovim's queue, and stops when the extmark of the suggestion is set, one redraw before it is visible.

local options = vim.json.decode(vim.env.GHOSTBENCH_BENCH)
local METHOD = 'textDocument/inlineCompletion'
--- Namespace of what is drawn: Neovim's, or the plugin's.
local DRAWN = options.is_native and 'nvim.lsp.inline_completion' or 'ghostbench.ghost'

vim.opt.runtimepath:prepend(options.configuration)
vim.opt.swapfile = false
vim.opt.showmode = false
-- Neovim would start every Python of the machine in search of one that can run plugins.
vim.g.loaded_python3_provider = 0
vim.g.ghostbench_native = options.is_native

--- Number of completion requests, and the times at which the latest one was sent, answered and drawn (ns).
local asked = 0
local latest = {}
local is_drawing = false

local function start(dispatchers)
  local rpc = vim.lsp.rpc.start(options.server, dispatchers)
  local send = rpc.request
  rpc.request = function(method, params, on_answer, on_reply)
    if method ~= METHOD then
      return send(method, params, on_answer, on_reply)
    end
    asked = asked + 1
    local request = { sent = vim.uv.hrtime() }
    latest = request
    return send(method, params, function(...)
      request.answered = vim.uv.hrtime()
      is_drawing = request == latest
      on_answer(...)
      is_drawing = false
    end, on_reply)
  end
  return rpc
end

local set_extmark = vim.api.nvim_buf_set_extmark
vim.api.nvim_buf_set_extmark = function(buffer, namespace, ...)
  local mark = set_extmark(buffer, namespace, ...)
  if is_drawing and namespace == vim.api.nvim_get_namespaces()[DRAWN] then
    latest.drawn = vim.uv.hrtime()
  end
  return mark
end

--- Gives the editor its turn until something is so.
local function await(what, is_so)
  local waiting = coroutine.running()
  local deadline = vim.uv.hrtime() + 60e9
  while not is_so() do
    assert(vim.uv.hrtime() < deadline, 'waited in vain until ' .. what)
    vim.defer_fn(function()
      coroutine.resume(waiting)
    end, 1)
    coroutine.yield()
  end
end

local function mode()
  return vim.api.nvim_get_mode().mode
end

--- Lines with code of their own, cut after their first word: where, what stays, and the key.
local function places()
  local found = {}
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local head, key = line:match('^(%s+%w+[ .(=]+)(%w)[%w_.]+[(%[]')
    if head then
      table.insert(found, { row = row, line = line, head = head, key = key })
    end
  end
  return found
end

--- Types the key at a place, and puts the line back.
local function press(place)
  vim.api.nvim_buf_set_lines(0, place.row - 1, place.row, true, { place.head })
  vim.api.nvim_win_set_cursor(0, { place.row, #place.head })
  vim.api.nvim_input('A')
  await('text is inserted', function()
    return mode() == 'i'
  end)
  local before = asked
  local pressed = vim.uv.hrtime()
  vim.api.nvim_input(place.key)
  await('the key is answered', function()
    return asked > before and latest.answered
  end)
  local request = latest
  vim.api.nvim_input('<Esc>')
  await('text is not inserted', function()
    return mode() == 'n'
  end)
  vim.api.nvim_buf_set_lines(0, place.row - 1, place.row, true, { place.line })
  local function since(time)
    return time and (time - pressed) / 1e6
  end
  return { sent = since(request.sent), answered = since(request.answered), drawn = since(request.drawn) }
end

--- Waits until the server has read the workspace, where it can say so.
local function await_server()
  local client
  await('the server is attached', function()
    client = vim.lsp.get_clients({ bufnr = 0, name = 'ghostbench' })[1]
    return client and client.initialized and vim.lsp.buf_is_attached(0, client.id)
  end)
  local is_ready, is_asking = false, false
  await('the workspace is read', function()
    if not is_asking then
      is_asking = true
      client:request('ghostbench/status', vim.empty_dict(), function(_, status)
        is_asking = false
        is_ready = type(status) ~= 'table' or not status.folders or status.folders[1].state == 'ready'
      end)
    end
    return is_ready
  end)
end

local function measure()
  await_server()
  local all, keys, silent = places(), {}, 0
  local step = math.max(1, math.floor(#all / options.places))
  for index = 1, #all, step do
    local key = press(all[index])
    if key.drawn then
      table.insert(keys, key)
    else
      silent = silent + 1
    end
    if #keys == options.keys then
      break
    end
  end
  return { keys = keys, silent = silent, version = tostring(vim.version()) }
end

vim.lsp.config('ghostbench', { cmd = start, root_dir = vim.fn.getcwd() })
vim.lsp.enable('ghostbench')
vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    coroutine.wrap(function()
      local is_ok, result = pcall(measure)
      io.stdout:write(vim.json.encode(is_ok and result or { error = tostring(result) }))
      vim.cmd('qall!')
    end)()
  end,
})
