--- The server of Ghostbench, for `vim.lsp.enable('ghostbench')`. Neovim 0.10 has no such function: `require('ghostbench').enable()`
--- starts the server with this table there.

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
  -- Neovim 0.12 announces this itself; older versions request them again on demand, by the handler below.
  capabilities = { workspace = { codeLens = { refreshSupport = true } } },
  root_dir = function(bufnr, on_folder)
    require('ghostbench.server').find_folder(bufnr, on_folder)
  end,
  on_exit = vim.schedule_wrap(function(code, signal, client_id)
    require('ghostbench.server').on_exit(code, signal, client_id)
  end),
  handlers = {
    ['ghostbench/didChangeTrial'] = function(_, state)
      require('ghostbench.trial').on_changed(state)
    end,
    ['ghostbench/didChangeStatus'] = function(_, change, context)
      require('ghostbench.status').on_changed(change, context.client_id)
    end,
    ['workspace/codeLens/refresh'] = function(err, result, context)
      return require('ghostbench.lenses').on_refresh(err, result, context)
    end,
  },
}
