[
  (identifier)
  (field_identifier)
  (shorthand_field_identifier)
  (type_identifier)
] @identifier
[(string_literal) (raw_string_literal) (char_literal)] @string
