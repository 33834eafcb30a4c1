--- Messages, windows and requests of the Ghostbench configuration.

local M = {}

--- Prefix of every message.
local SPEAKER = 'Ghostbench: '

---@param text string
---@param width integer Cells.
---@return string
local function shorten(text, width)
  local is_fitting = vim.fn.strdisplaywidth(text) <= width
  return is_fitting and text or vim.fn.printf('%.*S…', width - 1, text)
end

--- Shortens a message to one line, because Neovim makes the user confirm longer ones. Keeps the remedy at the end.
---@param message string
---@return string
local function on_one_line(message)
  local reason, remedy = message:match('^(.*)(; .-)$')
  reason, remedy = reason or message, remedy or ''
  local room = vim.v.echospace - vim.fn.strdisplaywidth(remedy)
  return shorten(shorten(reason, math.max(room, #SPEAKER)) .. remedy, vim.v.echospace)
end

---@param message string
---@param level? integer
function M.tell(message, level)
  vim.notify(on_one_line(SPEAKER .. message), level or vim.log.levels.INFO)
end

--- Shows unwrapped lines in a window that `q` closes.
---@param lines string[]
function M.show(lines)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = 'wipe'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, nowait = true })
  local width = vim.iter(lines):map(vim.fn.strdisplaywidth):fold(1, math.max)
  width = math.min(width, vim.o.columns - 2)
  local height = math.min(#lines, vim.o.lines - vim.o.cmdheight - 3)
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2) - 1,
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = ' Ghostbench ',
  })
  vim.wo[window].wrap = false
end

--- Sends a request and passes its result to `on_result`; reports errors.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param on_result fun(result: any) The result of a command may be nil.
function M.request(client, method, params, on_result)
  client:request(method, params, function(err, result)
    if err then
      M.tell(err.message, vim.log.levels.ERROR)
    else
      on_result(result)
    end
  end)
end

--- Returns the server of a buffer.
---@param bufnr integer
---@return vim.lsp.Client?
function M.server_of(bufnr)
  return vim.lsp.get_clients({ name = 'ghostbench', bufnr = bufnr })[1]
end

return M
