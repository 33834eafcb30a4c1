(if_statement condition: (_) @open consequence: (_) @body) @if
(switch_expression body: (switch_block) @body) @if

(for_statement ")" @open body: (_) @body) @for
(enhanced_for_statement ")" @open body: (_) @body) @for
(while_statement condition: (_) @open body: (_) @body) @while
(do_statement "do" @open body: (_) @body) @while

(try_statement body: (block) @body) @try
(try_with_resources_statement body: (block) @body) @try
(finally_clause (block) @body) @try
(catch_clause body: (block) @body) @catch

[
  (assert_statement)
  (break_statement)
  (continue_statement)
  (explicit_constructor_invocation)
  (expression_statement)
  (local_variable_declaration)
  (return_statement)
  (throw_statement)
  (yield_statement)
] @statement

(import_declaration) @import

; The parts of a loop's header are no statements of their own.
(for_statement init: (_) @other)

[
  (annotation_type_element_declaration)
  (constant_declaration)
  (enum_constant)
  (field_declaration)
] @part

; An annotation has its own end, not that of its method's header.
[(annotation) (marker_annotation)] @part
