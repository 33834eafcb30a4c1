(function_item name: (_) @name body: (block) @body) @function
((attribute_item)+ @function . (function_item body: (block) @body) @function)

(function_signature_item name: (_) @name) @function
((attribute_item)+ @function . (function_signature_item name: (_) @name) @function)
