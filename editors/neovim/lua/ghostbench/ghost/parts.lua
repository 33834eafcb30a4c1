--- Parts of a suggestion that can be accepted.

local M = {}

---@alias ghostbench.Part 'all'|'word'|'line'

--- Patterns of the next part.
local PATTERNS = { all = '^.*$', word = '^%s*[%w_]+', line = '^\n?[^\n]*' }

--- One character of UTF-8 with the blanks before it.
local CHARACTER = '^%s*[^\128-\191][\128-\191]*'

--- Returns the next part of the rest of a suggestion; the next character if it does not begin with a word.
---@param rest string
---@param part ghostbench.Part
---@return string
function M.next(rest, part)
  return rest:match(PATTERNS[part]) or rest:match(CHARACTER) or rest
end

return M
