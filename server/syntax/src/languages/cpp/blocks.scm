(for_range_loop ")" @open body: (_) @body) @for

(try_statement body: (compound_statement) @body) @try
(catch_clause body: (compound_statement) @body) @catch

[
  (co_return_statement)
  (co_yield_statement)
  (static_assert_declaration)
  (throw_statement)
  (using_declaration)
] @statement

; The parts of a header are no statements of their own.
(init_statement (_) @other)
(condition_clause value: (declaration) @other)

; Members of classes.
(field_declaration_list [(declaration) (static_assert_declaration) (using_declaration)] @part)
[(alias_declaration) (friend_declaration)] @part
