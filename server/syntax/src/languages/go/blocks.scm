(if_statement consequence: (block) @body) @if
(expression_switch_statement "{" @open "}" @close) @if
(type_switch_statement "{" @open "}" @close) @if
(select_statement "{" @open "}" @close) @if

(for_statement body: (block) @body) @for

[
  (assignment_statement)
  (break_statement)
  (const_declaration)
  (continue_statement)
  (dec_statement)
  (defer_statement)
  (expression_statement)
  (fallthrough_statement)
  (go_statement)
  (goto_statement)
  (inc_statement)
  (return_statement)
  (send_statement)
  (short_var_declaration)
  (var_declaration)
] @statement

(import_declaration) @import

; The lines of a group.
(const_declaration "(" (const_spec) @statement)
(import_spec_list (import_spec) @import)
(var_spec_list (var_spec) @statement)

; The parts of a header are no statements of their own.
(if_statement initializer: (_) @other)
(expression_switch_statement initializer: (_) @other)
(type_switch_statement initializer: (_) @other)
(communication_case communication: (_) @other)
(for_clause initializer: (_) @other)
(for_clause update: (_) @other)

(field_declaration) @part
