; Shared by JavaScript and TypeScript.

[(comment) (html_comment)] @comment
