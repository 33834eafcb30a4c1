[(identifier) (field_identifier) (statement_identifier) (type_identifier)] @identifier
[(string_literal) (char_literal)] @string
