(template_declaration (function_definition body: (compound_statement) @body)) @function
(template_declaration (template_declaration (function_definition body: (compound_statement) @body))) @function
(linkage_specification body: (function_definition body: (compound_statement) @body)) @function

(function_definition
  declarator: [
    (operator_cast) @name
    (qualified_identifier name: (operator_cast)) @name
    (function_declarator
      declarator: [
        (destructor_name)
        (field_identifier)
        (operator_name)
        (qualified_identifier)
        (template_function)
      ] @name)
    (pointer_declarator
      declarator: (function_declarator
        declarator: [(field_identifier) (operator_name) (qualified_identifier) (template_function)] @name))
    (reference_declarator
      (function_declarator
        declarator: [
          (field_identifier)
          (identifier)
          (operator_name)
          (qualified_identifier)
          (template_function)
        ] @name))
  ]
  body: (compound_statement) @body) @function

; The whole body is a `try`.
(function_definition
  declarator: (function_declarator declarator: (_) @name)
  (try_statement body: (compound_statement) @body)) @function

; Methods that are only declared, defaulted or deleted.
(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]) @function
(field_declaration_list
  (declaration
    declarator: [
      (function_declarator declarator: [(identifier) (destructor_name)] @name)
      (operator_cast) @name
    ]) @function)
(function_definition declarator: (function_declarator declarator: (_) @name) (default_method_clause)) @function
(function_definition declarator: (function_declarator declarator: (_) @name) (delete_method_clause)) @function
