(function_item name: (_) @name body: (block) @body) @function

(function_signature_item name: (_) @name) @function
