--- The functions for configurations: `statusline`, and `enable` for Neovim 0.10.

local M = {}

--- Returns the engine, its state and latency, and whether a trial is recorded, for a status line; '' without the server.
---@return string
function M.statusline()
  return require('ghostbench.status').statusline()
end

--- Starts the server for the files of its languages in Neovim 0.10. Newer versions have `vim.lsp.config` and `vim.lsp.enable`.
---@param config? table Fields that differ from `lsp/ghostbench.lua`.
function M.enable(config)
  require('ghostbench.server').enable_by_file_type(config or {})
end

return M
