; Namespaces are in expression position.
(expression_statement (internal_module)) @other
(export_statement declaration: (internal_module)) @other

[(property_signature) (public_field_definition) (type_alias_declaration)] @part
