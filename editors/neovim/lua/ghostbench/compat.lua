--- Differences between the versions of Neovim, from 0.10 on.

local M = {}

--- Functions of clients are methods from 0.11 on.
local HAS_METHODS = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param name string Name of a function of the client.
local function call(client, name, ...)
  if HAS_METHODS then
    return client[name](client, ...)
  end
  return client[name](...)
end

---@param client vim.lsp.Client
---@param method string
---@param params? table
---@param handler lsp.Handler
---@param bufnr? integer
---@return boolean is_sent
---@return integer? id
function M.request(client, method, params, handler, bufnr)
  return call(client, 'request', method, params, handler, bufnr)
end

--- Sends a notification, after the changes of documents that are not sent yet.
---@param client vim.lsp.Client
---@param method string
---@param params table
function M.notify(client, method, params)
  call(client, 'notify', method, params)
end

---@param client vim.lsp.Client
---@param id integer
function M.cancel(client, id)
  call(client, 'cancel_request', id)
end

---@param client vim.lsp.Client
---@param is_forced boolean Whether the process is ended without asking it.
function M.stop(client, is_forced)
  call(client, 'stop', is_forced)
end

--- Converts a position within a line to bytes.
---@param line string
---@param encoding string
---@param character integer Beyond the end it counts as the end.
---@return integer
function M.byte_index(line, encoding, character)
  if encoding == 'utf-8' then
    return math.min(character, #line)
  elseif HAS_METHODS then
    return vim.str_byteindex(line, encoding, character, false)
  end
  local length, length_utf16 = vim.str_utfindex(line)
  local is_utf16 = encoding == 'utf-16'
  return vim.str_byteindex(line, math.min(character, is_utf16 and length_utf16 or length), is_utf16)
end

--- Returns the length of a text in UTF-16 units.
---@param text string
---@return integer
function M.utf16_length(text)
  if HAS_METHODS then
    return vim.str_utfindex(text, 'utf-16')
  end
  return (select(2, vim.str_utfindex(text)))
end

return M
