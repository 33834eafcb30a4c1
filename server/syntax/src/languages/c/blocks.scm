(if_statement condition: (_) @open consequence: (_) @body) @if
(switch_statement condition: (_) @open body: (_) @body) @if

(for_statement ")" @open body: (_) @body) @for
(while_statement condition: (_) @open body: (_) @body) @while
(do_statement "do" @open body: (_) @body) @while

(seh_try_statement body: (compound_statement) @body) @try
(seh_finally_clause body: (compound_statement) @body) @try
(seh_except_clause body: (compound_statement) @body) @catch

[
  (break_statement)
  (continue_statement)
  (declaration)
  (goto_statement)
  (return_statement)
  (seh_leave_statement)
] @statement

; A `;` alone is no statement.
(expression_statement (_)) @statement

; The parts of a loop's header are no statements of their own.
(for_statement initializer: (_) @other)

; Nor are the types of parameters before the body.
(function_definition (declaration) @other)

[(field_declaration) (type_definition)] @part
