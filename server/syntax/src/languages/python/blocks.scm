; The header of every compound statement ends with its colon.

(if_statement ":" @open consequence: (block) @body) @if
(elif_clause ":" @open consequence: (block) @body) @if
(match_statement ":" @open body: (block) @body) @if

(for_statement ":" @open body: (block) @body) @for
(while_statement ":" @open body: (block) @body) @while

(try_statement ":" @open body: (block) @body) @try
(finally_clause ":" @open (block) @body) @try
(except_clause ":" @open (block) @body) @catch

[
  (assert_statement)
  (break_statement)
  (continue_statement)
  (delete_statement)
  (exec_statement)
  (expression_statement)
  (global_statement)
  (nonlocal_statement)
  (pass_statement)
  (print_statement)
  (raise_statement)
  (return_statement)
  (type_alias_statement)
] @statement

[(future_import_statement) (import_from_statement) (import_statement)] @import

; Attributes of a class are not in a function.
(class_definition body: (block [(expression_statement) (pass_statement) (type_alias_statement)] @part))

; Docstrings are no statements.
(module . (comment)* . (expression_statement . [(string) (concatenated_string)] .) @other)
(class_definition
  body: (block . (comment)* . (expression_statement . [(string) (concatenated_string)] .) @other))
(function_definition
  body: (block . (comment)* . (expression_statement . [(string) (concatenated_string)] .) @other))

; An annotation has its own end, not that of its function's header.
(decorator) @part
