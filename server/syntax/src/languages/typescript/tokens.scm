(type_identifier) @identifier
