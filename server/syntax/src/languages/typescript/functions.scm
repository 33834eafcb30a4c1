; The decorators of a method stand before it.
((decorator)+ @function . (method_definition body: (statement_block) @body) @function)

(public_field_definition name: (_) @name value: (_ body: (statement_block) @body)) @function

; Declared without a body.
(function_signature name: (_) @name) @function
(ambient_declaration (function_signature name: (_) @name)) @function
(export_statement declaration: (function_signature name: (_) @name)) @function
(method_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
