[(identifier) (type_identifier)] @identifier
[(string_literal) (character_literal)] @string
