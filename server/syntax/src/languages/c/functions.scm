; A function whose declarator is a bare name is a class after a macro (`class EXPORT Name {`).
(function_definition
  declarator: [
    (attributed_declarator)
    (function_declarator)
    (parenthesized_declarator)
    (pointer_declarator)
  ] @name
  body: (compound_statement) @body) @function

; Prototypes. Inside of functions, an apparent prototype usually declares a variable.
(translation_unit
  (declaration
    declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))] @name) @function)
(declaration_list
  (declaration
    declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))] @name) @function)
(preproc_ifdef
  (declaration
    declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))] @name) @function)
(preproc_if
  (declaration
    declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))] @name) @function)
