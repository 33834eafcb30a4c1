(function_definition name: (identifier) @name ":" @open body: (block) @body) @function

(decorated_definition definition: (function_definition body: (block) @body)) @function

(function_definition
  body: (block
    .
    (comment)*
    .
    (expression_statement . [(string) (concatenated_string)] .) @docstring) @body) @function
