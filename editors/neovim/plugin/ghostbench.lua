--- The command `:Ghostbench`, and attaching to buffers with the server. Everything else is loaded when it is needed.

if vim.g.loaded_ghostbench then
  return
end
vim.g.loaded_ghostbench = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('Ghostbench needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Ghostbench', function(command)
  require('ghostbench.command').run(command.fargs)
end, {
  desc = 'Measure completion engines: :Ghostbench SUBCOMMAND, see :help ghostbench-commands',
  nargs = '*',
  complete = function(_, line, column)
    return require('ghostbench.command').complete(line:sub(1, column))
  end,
})

local group = vim.api.nvim_create_augroup('ghostbench', {})

if vim.lsp.is_enabled then
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    desc = 'Says if the program of Ghostbench is missing',
    callback = function(event)
      if vim.lsp.is_enabled('ghostbench') then
        require('ghostbench.server').check_program(event.match)
      end
    end,
  })
end

vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  desc = 'Ghost text, keys and reports of Ghostbench',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'ghostbench' then
      require('ghostbench.attach').attach(client, event.buf)
    end
  end,
})
