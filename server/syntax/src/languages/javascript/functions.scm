(field_definition property: (_) @name value: (_ body: (statement_block) @body)) @function
