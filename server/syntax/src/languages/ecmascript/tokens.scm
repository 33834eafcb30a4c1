; Shared by JavaScript and TypeScript.

[
  (identifier)
  (private_property_identifier)
  (property_identifier)
  (shorthand_property_identifier)
  (shorthand_property_identifier_pattern)
  (statement_identifier)
] @identifier
[(string) (template_string)] @string
