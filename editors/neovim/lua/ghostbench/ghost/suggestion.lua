--- The suggestions for one place of a buffer, one of which is drawn: its rest behind the typed text, and inserting it.

local compat = require('ghostbench.compat')
local parts = require('ghostbench.ghost.parts')

--- Namespaces of the drawn text, and of the starts of suggestions.
local DRAWN = vim.api.nvim_create_namespace('ghostbench.ghost')
local ANCHORS = vim.api.nvim_create_namespace('ghostbench.anchors')

---@class ghostbench.Suggestion
---@field bufnr integer
---@field items lsp.InlineCompletionItem[] At least one.
---@field starts integer[] Bytes before each of them in its line.
---@field number integer Number of the chosen one.
---@field is_counted boolean Whether its number is drawn.
---@field anchor integer Extmark at the start of the chosen one.
---@field behind string Text of the line behind the cursor when it was suggested.
---@field replaced integer[] Bytes of that text that each item replaces.
local Suggestion = {}
Suggestion.__index = Suggestion

--- Returns the cursor: row and column from 0, and the text of its line.
---@return integer row
---@return integer col
---@return string line
local function cursor()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  return row - 1, col, vim.api.nvim_get_current_line()
end

--- Creates the suggestions of an answer for the present cursor of the current buffer.
---@param bufnr integer
---@param items lsp.InlineCompletionItem[]
---@param encoding string
---@return ghostbench.Suggestion
function Suggestion.new(bufnr, items, encoding)
  local row, col, line = cursor()
  local starts, replaced = {}, {}
  for number, item in ipairs(items) do
    local range = item.range
    local is_here = range and range.start.line == row and range['end'].line == row
    local start = is_here and compat.byte_index(line, encoding, range.start.character) or col
    local finish = is_here and compat.byte_index(line, encoding, range['end'].character) or col
    starts[number], replaced[number] = math.min(start, col), math.max(finish - col, 0)
  end
  local fields = { bufnr = bufnr, items = items, starts = starts, replaced = replaced }
  local self = setmetatable(fields, Suggestion)
  self.behind = line:sub(col + 1)
  self.is_counted = false
  self:choose(1)
  return self
end

--- Chooses a suggestion. The text is still the one that it was made for.
---@param number integer
function Suggestion:choose(number)
  self.number = number
  local row = cursor()
  self.anchor = vim.api.nvim_buf_set_extmark(self.bufnr, ANCHORS, row, self.starts[number], {
    id = self.anchor,
    right_gravity = false,
  })
end

---@return lsp.InlineCompletionItem
function Suggestion:item()
  return self.items[self.number]
end

--- Returns the rest of the suggestion behind the typed text; nil if other text was typed.
---@return string?
function Suggestion:rest()
  local row, col, line = cursor()
  local start = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, ANCHORS, self.anchor, {})
  local is_before = start[1] and (row < start[1] or (row == start[1] and col < start[2]))
  if not start[1] or is_before or line:sub(col + 1) ~= self.behind then
    return nil
  end
  local typed = vim.api.nvim_buf_get_text(self.bufnr, start[1], start[2], row, col, {})
  typed = table.concat(typed, '\n')
  local text = self:item().insertText
  local rest = vim.startswith(text, typed) and text:sub(#typed + 1) or ''
  return rest ~= '' and rest or nil
end

function Suggestion:clear()
  vim.api.nvim_buf_clear_namespace(self.bufnr, DRAWN, 0, -1)
end

--- Draws the rest of the suggestion.
---@return boolean is_drawn
function Suggestion:draw()
  self:clear()
  local rest = self:rest()
  if not rest then
    return false
  end
  local row, col = cursor()
  -- Virtual text has no tab stops.
  local lines = vim.split(rest:gsub('\t', (' '):rep(vim.bo[self.bufnr].tabstop)), '\n')
  local chunks = vim.tbl_map(function(line)
    return { { line, 'ComplHint' } }
  end, lines)
  if self.is_counted then
    table.insert(chunks[#chunks], { (' (%d/%d)'):format(self.number, #self.items), 'ComplHintMore' })
  end
  vim.api.nvim_buf_set_extmark(self.bufnr, DRAWN, row, col, {
    virt_text = chunks[1],
    virt_text_pos = 'inline',
    virt_lines = vim.list_slice(chunks, 2),
    hl_mode = 'combine',
  })
  return true
end

--- Chooses and draws another suggestion.
---@param step integer
function Suggestion:select(step)
  self.is_counted = true
  self:choose((self.number - 1 + step) % #self.items + 1)
  self:draw()
end

--- Inserts the next part of the suggestion as a separate undo step. Returns how much of it is in the text now.
---@param part ghostbench.Part
---@return string accepted
function Suggestion:accept(part)
  local rest = assert(self:rest(), 'it was checked')
  local text = parts.next(rest, part)
  local row, col = cursor()
  local replaced = text == rest and self.replaced[self.number] or 0
  self:clear()
  vim.bo.undolevels = vim.bo.undolevels
  local lines = vim.split(text, '\n')
  vim.api.nvim_buf_set_text(self.bufnr, row, col, row, col + replaced, lines)
  local before = #lines == 1 and col or 0
  vim.api.nvim_win_set_cursor(0, { row + #lines, before + #lines[#lines] })
  vim.api.nvim_feedkeys(vim.keycode('<C-g>u'), 'in', false)
  local insert_text = self:item().insertText
  return insert_text:sub(1, #insert_text - #rest + #text)
end

return Suggestion
