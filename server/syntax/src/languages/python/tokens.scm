(identifier) @identifier
(comment) @comment
(string) @string
