; Shared by JavaScript and TypeScript.

(if_statement condition: (_) @open consequence: (_) @body) @if
(switch_statement body: (switch_body) @body) @if

(for_statement ")" @open body: (_) @body) @for
(for_in_statement ")" @open body: (_) @body) @for
(while_statement condition: (_) @open body: (_) @body) @while
(do_statement "do" @open body: (_) @body) @while

(try_statement body: (statement_block) @body) @try
(finally_clause body: (statement_block) @body) @try
(catch_clause body: (statement_block) @body) @catch

[
  (break_statement)
  (continue_statement)
  (debugger_statement)
  (expression_statement)
  (lexical_declaration)
  (return_statement)
  (throw_statement)
  (variable_declaration)
] @statement

(import_statement) @import

; An exported declaration is one statement with its `export`.
(export_statement [(export_clause) (namespace_export) "*"]) @statement
; A re-export is an import.
(export_statement source: (string)) @import
(export_statement value: (_)) @statement
(export_statement value: (class)) @other
(export_statement declaration: [(lexical_declaration) (variable_declaration)]) @statement
(export_statement declaration: [(lexical_declaration) (variable_declaration)] @other)

; The parts of a loop's header are no statements of their own.
(for_statement initializer: (_) @other)
(for_statement condition: (_) @other)

; An annotation has its own end, not that of its function's header.
(decorator) @part
