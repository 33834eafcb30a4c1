[(identifier) (field_identifier) (label_name) (package_identifier) (type_identifier)] @identifier
[(interpreted_string_literal) (raw_string_literal) (rune_literal)] @string
