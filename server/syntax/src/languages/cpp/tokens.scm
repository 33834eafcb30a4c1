(namespace_identifier) @identifier
(raw_string_literal) @string
