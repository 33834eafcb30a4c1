---@brief
---
--- {{ repository }}
---
--- {{ description }}: ghost text from the engine of your choice, and a language server that
--- records what you write as benchmark cases. Needs Neovim 0.12 for ghost text:
--- ```lua
--- vim.lsp.enable('ghostbench')
--- vim.lsp.inline_completion.enable(true)
--- ```

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
