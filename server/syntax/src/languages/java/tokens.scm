[(identifier) (type_identifier)] @identifier
[(line_comment) (block_comment)] @comment
[(string_literal) (character_literal)] @string
