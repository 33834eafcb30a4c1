[(identifier) (field_identifier) (statement_identifier) (type_identifier)] @identifier
(comment) @comment
[(string_literal) (char_literal)] @string
