(field_definition) @part
