(field_definition) @declaration
