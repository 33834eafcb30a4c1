(public_field_definition name: (_) @name value: (_ body: (statement_block) @body)) @function

; Declared without a body.
(function_signature name: (_) @name) @function
(ambient_declaration (function_signature name: (_) @name)) @function
(export_statement declaration: (function_signature name: (_) @name)) @function
(method_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
