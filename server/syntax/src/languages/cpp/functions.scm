(function_definition
  declarator: [(operator_cast) (qualified_identifier) (reference_declarator)] @name
  body: (compound_statement) @body) @function

(template_declaration (function_definition body: (compound_statement) @body)) @function
(template_declaration (template_declaration (function_definition body: (compound_statement) @body))) @function
(linkage_specification body: (function_definition body: (compound_statement) @body)) @function

; The whole body is a `try`.
(function_definition declarator: (_) @name (try_statement body: (compound_statement) @body)) @function

; Methods that are only declared, defaulted or deleted.
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)]) @name) @function
(field_declaration declarator: (pointer_declarator declarator: (function_declarator)) @name) @function
(field_declaration declarator: (reference_declarator (function_declarator)) @name) @function
(field_declaration_list (declaration declarator: [(function_declarator) (operator_cast)] @name) @function)
(function_definition declarator: (_) @name [(default_method_clause) (delete_method_clause)]) @function
