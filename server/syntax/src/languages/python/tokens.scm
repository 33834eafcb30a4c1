(identifier) @identifier
(string) @string
