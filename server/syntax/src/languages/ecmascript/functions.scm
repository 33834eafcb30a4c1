; Shared by JavaScript and TypeScript.

(function_declaration name: (_) @name body: (statement_block) @body) @function
(generator_function_declaration name: (_) @name body: (statement_block) @body) @function
(method_definition name: (_) @name body: (statement_block) @body) @function

; Exported, with a name or as the default.
(export_statement declaration: (_ body: (statement_block) @body)) @function
(export_statement value: (_ body: (statement_block) @body)) @function

; A function or arrow with a block body that is bound to a name.
(variable_declarator name: (identifier) @name value: (_ body: (statement_block) @body)) @function
(lexical_declaration . (variable_declarator value: (_ body: (statement_block) @body)) .) @function
(variable_declaration . (variable_declarator value: (_ body: (statement_block) @body)) .) @function
(export_statement
  declaration: (lexical_declaration . (variable_declarator value: (_ body: (statement_block) @body)) .)) @function
(expression_statement
  (assignment_expression
    left: [(identifier) @name (member_expression property: (_) @name)]
    right: (_ body: (statement_block) @body))) @function
(pair key: (_) @name value: (_ body: (statement_block) @body)) @function
