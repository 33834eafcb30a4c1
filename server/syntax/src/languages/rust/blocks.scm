; A construct in statement position has the statement's range, which includes a `;` only if the statement needs one.

(if_expression consequence: (block) @body) @if
(expression_statement (if_expression consequence: (block) @body)) @if
(match_expression body: (match_block) @body) @if
(expression_statement (match_expression body: (match_block) @body)) @if

(for_expression body: (block) @body) @for
(expression_statement (for_expression body: (block) @body)) @for

(while_expression body: (block) @body) @while
(expression_statement (while_expression body: (block) @body)) @while
(loop_expression body: (block) @body) @while
(expression_statement (loop_expression body: (block) @body)) @while

[
  (const_item)
  (expression_statement)
  (let_declaration)
  (static_item)
] @statement

[(extern_crate_declaration) (use_declaration)] @import

; The tail expression of a block.
(block (_expression) @statement)

; A macro call in item position.
(source_file (macro_invocation) @statement)

; Blocks without a kind.
(block [(block) (unsafe_block) (async_block) (const_block)] @other)
(expression_statement [(block) (unsafe_block) (async_block) (const_block)]) @other

; Members of types, and declarations of types.
(impl_item body: (declaration_list (const_item) @part))
(trait_item body: (declaration_list (const_item) @part))
[(associated_type) (enum_variant) (field_declaration) (type_item)] @part

; An annotation has its own end, not that of its function's header.
(attribute_item) @part

; The value of an arm is no statement, but is completed to its end.
(match_arm value: (_) @part)
(match_arm value: (block) @other)
