--- Messages, pages and requests.

local compat = require('ghostbench.compat')

local M = {}

--- Prefix of every message.
local SPEAKER = 'Ghostbench: '

--- Cells that the reason of a message needs at least; otherwise its remedy is cut, not the reason.
local REASON_WIDTH = #SPEAKER + 15

---@param text string
---@param width integer Cells.
---@return string
local function shorten(text, width)
  local is_fitting = vim.fn.strdisplaywidth(text) <= width
  return is_fitting and text or vim.fn.printf('%.*S…', width - 1, text)
end

--- Shortens a message to one line, because Neovim makes the user confirm longer ones. Keeps the remedy at the end if possible.
---@param message string
---@return string
local function on_one_line(message)
  local reason, remedy = message:match('^(.*)(; .-)$')
  reason, remedy = reason or message, remedy or ''
  local room = vim.v.echospace - vim.fn.strdisplaywidth(remedy)
  local kept = room >= REASON_WIDTH and shorten(reason, room) or reason
  return shorten(kept .. remedy, vim.v.echospace)
end

---@param message string
---@param level? integer
function M.tell(message, level)
  vim.notify(on_one_line(SPEAKER .. message), level or vim.log.levels.INFO)
end

--- Returns the buffer of a page, which has the page's name.
---@param name string
---@return integer
local function page_buffer(name)
  local path = 'ghostbench://' .. name
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(bufnr) == path then
      return bufnr
    end
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, path)
  return bufnr
end

--- Shows a page of unwrapped lines in a window below, which `q` closes. `R` runs `reload`.
---@param name string Its buffer is `ghostbench://NAME`.
---@param lines string[]
---@param reload? fun()
function M.show_page(name, lines, reload)
  local bufnr = page_buffer(name)
  vim.bo[bufnr].modifiable = true
  -- Messages of engines may have several lines.
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(table.concat(lines, '\n'), '\n'))
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = 'ghostbench'
  vim.keymap.set('n', 'q', '<Cmd>bwipeout<CR>', { buffer = bufnr, nowait = true, desc = 'Close the page' })
  if reload then
    vim.keymap.set('n', 'R', reload, { buffer = bufnr, nowait = true, desc = 'Ask the server again' })
  end
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    local height = math.min(math.max(#lines, 3), math.floor(vim.o.lines / 2))
    vim.cmd(('botright %dsplit'):format(height))
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
  else
    vim.api.nvim_set_current_win(window)
  end
  vim.wo[window][0].wrap = false
  vim.wo[window][0].number = false
  vim.wo[window][0].relativenumber = false
end

--- Splits a text of the server into lines.
---@param text string
---@return string[]
function M.lines(text)
  return vim.split(text, '\r?\n', { trimempty = true })
end

--- Sends a request and passes its result to `on_result`; reports errors.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param on_result fun(result: any) The result of a command may be nil.
function M.request(client, method, params, on_result)
  compat.request(client, method, params, function(err, result)
    if not err then
      on_result(result)
    elseif err.code == vim.lsp.protocol.ErrorCodes.MethodNotFound then
      M.tell(('the server is too old for %s; update ghostbench'):format(method), vim.log.levels.ERROR)
    else
      M.tell(err.message, vim.log.levels.ERROR)
    end
  end, vim.api.nvim_get_current_buf())
end

--- Returns the server of a buffer.
---@param bufnr integer
---@return vim.lsp.Client?
function M.server_of(bufnr)
  return vim.lsp.get_clients({ name = 'ghostbench', bufnr = bufnr })[1]
end

--- Returns the document of the current buffer; nil if the server does not serve it, as in a page.
---@return lsp.TextDocumentIdentifier?
function M.document()
  local is_served = M.server_of(vim.api.nvim_get_current_buf())
  return is_served and vim.lsp.util.make_text_document_params() or nil
end

--- Passes the document and cursor of the current buffer to `on_place`; says so if the server does not serve it.
---@param client vim.lsp.Client
---@param on_place fun(place: lsp.TextDocumentPositionParams)
function M.with_place(client, on_place)
  if M.document() then
    on_place(vim.lsp.util.make_position_params(0, client.offset_encoding))
  else
    M.tell('this is no file that the server knows; go to one', vim.log.levels.WARN)
  end
end

return M
