--- Code lenses: Neovim 0.12 keeps them up to date itself, for older versions this does.

local M = {}

---@param bufnr integer
local function refresh(bufnr)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    vim.lsp.codelens.refresh({ bufnr = bufnr })
  end
end

--- Handles the server's request to ask again.
---@type lsp.Handler
function M.on_refresh(err, result, context)
  local own = vim.lsp.handlers['workspace/codeLens/refresh']
  if own then
    return own(err, result, context)
  end
  for _, bufnr in ipairs(vim.lsp.get_buffers_by_client_id(context.client_id)) do
    refresh(bufnr)
  end
  return vim.NIL
end

---@param bufnr integer
function M.attach(bufnr)
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
    return
  end
  local group = vim.api.nvim_create_augroup('ghostbench.lenses.' .. bufnr, {})
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      refresh(bufnr)
    end,
  })
  refresh(bufnr)
end

return M
