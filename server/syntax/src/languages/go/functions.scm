(function_declaration name: (_) @name body: (block) @body) @function
(method_declaration name: (_) @name body: (block) @body) @function

; Written in another language, or of an interface.
(function_declaration name: (_) @name !body) @function
(method_declaration name: (_) @name !body) @function
(method_elem name: (_) @name) @function
