(method_declaration name: (_) @name body: (_) @body) @function
(constructor_declaration name: (_) @name body: (_) @body) @function
(destructor_declaration name: (_) @name body: (_) @body) @function
(operator_declaration operator: _ @name body: (_) @body) @function
(conversion_operator_declaration body: (_) @body) @function
(local_function_statement name: (_) @name body: (_) @body) @function

; Accessors are called as their property, event or indexer.
(property_declaration
  name: (_) @name
  accessors: (accessor_list (accessor_declaration body: (_) @body) @function))
(event_declaration
  name: (_) @name
  accessors: (accessor_list (accessor_declaration body: (_) @body) @function))
(indexer_declaration
  "this" @name
  accessors: (accessor_list (accessor_declaration body: (_) @body) @function))
(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @function
(indexer_declaration "this" @name value: (arrow_expression_clause) @body) @function

; Abstract, extern, or of an interface.
(method_declaration name: (_) @name !body) @function
