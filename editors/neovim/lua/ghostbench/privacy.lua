--- Control of the code that is sent and stored: the last request, a pause of the recording, and forgetting the last minutes.

local ui = require('ghostbench.ui')

local M = {}

--- How long a pause lasts, and how far back is forgotten, unless a number is given (minutes).
local MINUTES = 60

---@class ghostbench.SentRequest
---@field sentAt string
---@field engine? string
---@field status string
---@field reason? string
---@field ms number
---@field context { path: string, startLine?: integer, endLine?: integer, strategy: string, text: string }[]
---@field prompt? string
---@field answer? string
---@field cut boolean

---@class ghostbench.LastRequest
---@field answeredAt string
---@field position lsp.Position
---@field trigger string
---@field engine? string
---@field blind boolean
---@field status string
---@field reason? string
---@field ms number
---@field items string[]
---@field sent? ghostbench.SentRequest

--- Appends a heading and the lines of a text, indented.
---@param lines string[]
---@param heading string
---@param text string
local function add_text(lines, heading, text)
  vim.list_extend(lines, { '', heading })
  for _, line in ipairs(vim.split(text, '\r?\n')) do
    table.insert(lines, '    ' .. line)
  end
end

--- Appends the request to an engine, and its answer.
---@param lines string[]
---@param sent ghostbench.SentRequest
local function add_sent(lines, sent)
  local engine = sent.engine or 'a hidden engine'
  local ending = ('%s, after %.0f ms'):format(sent.status, sent.ms)
  vim.list_extend(lines, { '', ('sent     to %s at %s: %s'):format(engine, sent.sentAt, ending) })
  if sent.reason then
    table.insert(lines, 'because  ' .. sent.reason)
  end
  for _, chunk in ipairs(sent.context) do
    local place = chunk.startLine and (':%d-%d'):format(chunk.startLine + 1, chunk.endLine) or ''
    add_text(lines, ('context  %s%s (%s)'):format(chunk.path, place, chunk.strategy), chunk.text)
  end
  local cut = sent.cut and ', only its beginning' or ''
  if sent.prompt then
    add_text(lines, 'prompt' .. cut, sent.prompt)
  end
  if sent.answer and sent.answer ~= '' then
    add_text(lines, 'answer' .. cut, sent.answer)
  end
end

---@param last ghostbench.LastRequest
---@return string[]
local function request_lines(last)
  local engine = last.blind and 'a hidden engine' or last.engine or 'no engine'
  local place = ('line %d, character %d'):format(last.position.line + 1, last.position.character)
  local lines = {
    ('request  %s at %s, %s'):format(last.trigger, last.answeredAt, place),
    ('result   %s by %s, after %.0f ms'):format(last.status, engine, last.ms),
  }
  if last.reason then
    table.insert(lines, 'because  ' .. last.reason)
  end
  for _, item in ipairs(last.items) do
    add_text(lines, 'offered', item)
  end
  if last.sent then
    add_sent(lines, last.sent)
  else
    vim.list_extend(lines, { '', 'sent     nothing yet: no engine was asked for this file' })
  end
  return lines
end

---@param client vim.lsp.Client
---@param document lsp.TextDocumentIdentifier
local function show_sent(client, document)
  ui.request(client, 'ghostbench/lastRequest', { textDocument = document }, function(last)
    if not last or last == vim.NIL then
      ui.tell('nothing was asked for this file yet')
      return
    end
    ui.show_page('sent', request_lines(last), function()
      show_sent(client, document)
    end)
  end)
end

--- Shows the last request of the current file, and the answer.
---@param client vim.lsp.Client
function M.show_sent(client)
  ui.with_place(client, function(place)
    show_sent(client, place.textDocument)
  end)
end

--- Passes the minutes of an argument to `on_minutes`; says so if it is no number.
---@param word? string
---@param on_minutes fun(minutes: integer)
local function with_minutes(word, on_minutes)
  local minutes = word == nil and MINUTES or tonumber(word)
  if minutes and minutes >= 1 and minutes % 1 == 0 then
    on_minutes(minutes)
  else
    ui.tell(('"%s" is no number of minutes'):format(word), vim.log.levels.ERROR)
  end
end

--- Pauses the recording of trials, for an hour or the given minutes.
---@param client vim.lsp.Client
---@param words string[]
function M.pause(client, words)
  with_minutes(words[1], function(minutes)
    ui.request(client, 'ghostbench/pauseRecording', { minutes = minutes }, function()
      ui.tell(('nothing is recorded for %d minutes; :Ghostbench resume'):format(minutes))
    end)
  end)
end

--- Ends a pause.
---@param client vim.lsp.Client
function M.resume(client)
  ui.request(client, 'ghostbench/resumeRecording', vim.empty_dict(), function()
    ui.tell('the pause has ended')
  end)
end

--- Deletes the opportunities of trials of the last hour or the given minutes, after a confirmation.
---@param client vim.lsp.Client
---@param words string[]
function M.forget(client, words)
  with_minutes(words[1], function(minutes)
    local question = ('Delete the opportunities that trials recorded here in the last %d minutes?'):format(minutes)
    if vim.fn.confirm(question, '&Yes\n&No', 2) ~= 1 then
      return
    end
    ui.request(client, 'ghostbench/forget', { minutes = minutes }, function(result)
      ui.tell(('%d opportunities are deleted; recorded cases are kept'):format(result.forgotten))
    end)
  end)
end

return M
