(identifier) @identifier
[
  (character_literal)
  (interpolated_string_expression)
  (raw_string_literal)
  (string_literal)
  (verbatim_string_literal)
] @string
