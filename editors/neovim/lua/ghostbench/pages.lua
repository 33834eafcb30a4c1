--- Pages of text that come from the server or the binary: scoreboards, reports and the doctor's findings.

local ui = require('ghostbench.ui')

local M = {}

--- Compares the engines on the recorded cases, or the arms of the trial.
---@param client vim.lsp.Client
---@param is_trial boolean
function M.scoreboard(client, is_trial)
  local params = { textDocument = ui.document(), trial = is_trial or nil }
  ui.request(client, 'ghostbench/scoreboard', next(params) and params or vim.empty_dict(), function(result)
    ui.show_page(is_trial and 'trial-scoreboard' or 'scoreboard', ui.lines(result.text), function()
      M.scoreboard(client, is_trial)
    end)
  end)
end

--- Opens the report of the latest replay, or of the trial, in the browser.
---@param client vim.lsp.Client
---@param is_trial boolean
function M.report(client, is_trial)
  local params = { kind = is_trial and 'trial' or 'replay', textDocument = ui.document() }
  ui.request(client, 'ghostbench/page', params, function(page)
    -- Neovim deletes its temporary folder, which only the user can read.
    local file = vim.fn.tempname() .. '.html'
    vim.fn.writefile(vim.split(page.html, '\n'), file)
    local _, problem = vim.ui.open(file)
    if problem then
      ui.tell('no browser opens ' .. file, vim.log.levels.WARN)
    end
  end)
end

--- Returns the server's program: the one that is configured, unless a function starts it.
---@return string
local function program()
  local client = vim.lsp.get_clients({ name = 'ghostbench' })[1]
  local command = client and client.config.cmd
  return type(command) == 'table' and command[1] or 'ghostbench'
end

--- Shows the settings in effect, engines and problems, as `ghostbench doctor` prints them.
function M.doctor()
  local server = ui.server_of(vim.api.nvim_get_current_buf())
  local folder = server and server.config.root_dir or vim.fn.getcwd()
  if vim.fn.executable(program()) == 0 then
    require('ghostbench.server').tell_missing(program())
    return
  end
  vim.system({ program(), 'doctor', folder }, { text = true }, vim.schedule_wrap(function(result)
    ui.show_page('doctor', ui.lines(result.stdout .. result.stderr), M.doctor)
  end))
end

return M
