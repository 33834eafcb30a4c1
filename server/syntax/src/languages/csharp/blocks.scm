(if_statement ")" @open consequence: (_) @body) @if
(switch_statement body: (switch_body) @body) @if
(switch_expression "{" @open "}" @close) @if

(for_statement ")" @open body: (_) @body) @for
(foreach_statement ")" @open body: (_) @body) @for
(while_statement ")" @open body: (_) @body) @while
(do_statement "do" @open body: (_) @body) @while

(try_statement body: (block) @body) @try
(finally_clause (block) @body) @try
(catch_clause body: (block) @body) @catch

[
  (break_statement)
  (continue_statement)
  (expression_statement)
  (goto_statement)
  (local_declaration_statement)
  (return_statement)
  (throw_statement)
  (yield_statement)
] @statement

[(extern_alias_directive) (using_directive)] @import

; The expression body of a member.
(arrow_expression_clause (_) @statement)

[
  (delegate_declaration)
  (enum_member_declaration)
  (event_field_declaration)
  (field_declaration)
  (property_declaration)
] @part

; An annotation has its own end, not that of its method's header.
(attribute_list) @part
