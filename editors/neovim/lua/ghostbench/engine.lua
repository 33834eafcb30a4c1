--- The engine that writes the ghost text, until the server ends.

local compat = require('ghostbench.compat')
local status = require('ghostbench.status')
local ui = require('ghostbench.ui')

local M = {}

---@param client vim.lsp.Client
---@param name string
local function choose(client, name)
  local own = { ghostbench = { completion = { engine = name } } }
  client.settings = vim.tbl_deep_extend('force', client.settings or {}, own)
  compat.notify(client, 'workspace/didChangeConfiguration', { settings = client.settings })
  status.refresh(client)
  ui.tell(name .. ' writes the ghost text until the server ends')
end

--- Chooses an engine: the named one, otherwise one of a list.
---@param client vim.lsp.Client
---@param words string[]
function M.run(client, words)
  ui.request(client, 'ghostbench/status', vim.empty_dict(), function(state)
    local names = vim.tbl_map(function(engine)
      return engine.name
    end, vim.tbl_filter(function(engine)
      return not engine.reason
    end, state.engines))
    local name = words[1]
    if name and vim.list_contains(names, name) then
      choose(client, name)
    elseif name then
      ui.tell(('no engine "%s" can be used; use %s'):format(name, table.concat(names, ', ')), vim.log.levels.ERROR)
    else
      vim.ui.select(names, { prompt = 'Engine of the ghost text' }, function(chosen)
        if chosen then
          choose(client, chosen)
        end
      end)
    end
  end)
end

return M
