[
  (identifier)
  (field_identifier)
  (shorthand_field_identifier)
  (type_identifier)
] @identifier
[(line_comment) (block_comment)] @comment
[(string_literal) (raw_string_literal) (char_literal)] @string
