---@brief
---
--- {{ repository }}
---
--- {{ description }}: ghost text from the engine of your choice, and a language server that
--- records what you write as benchmark cases. Neovim 0.12 draws the ghost text itself:
--- ```lua
--- vim.lsp.enable('ghostbench')
--- vim.lsp.inline_completion.enable(true)
--- ```
--- Commands, keys and Neovim 0.10 and 0.11 need the plugin in `editors/neovim` of the repository.

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
  root_markers = { 'ghostbench.toml', '.git' },
}
