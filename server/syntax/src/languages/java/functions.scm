(method_declaration name: (_) @name body: (block) @body) @function
(constructor_declaration name: (_) @name body: (constructor_body) @body) @function
(compact_constructor_declaration name: (_) @name body: (block) @body) @function

; Abstract, native, or of an interface.
(method_declaration name: (_) @name !body) @function
