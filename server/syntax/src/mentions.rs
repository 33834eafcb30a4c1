//! Classifies the mentions of a name in a line by tokens only: for files without a tree.

use crate::Language;
use crate::lexer::{Token, TokenKind, is_reserved, lex};

/// Kind of a mention of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// A member of the expression before it.
    Member,
    /// A call without a receiver.
    Called,
    /// Any other mention.
    Bare,
    /// A definition of the name as a variable, parameter, own field or other item.
    Defined,
}

/// Signs between a value, type or module and its member.
const MEMBER_SIGNS: [&str; 5] = [".", "->", "::", "?.", "->*"];
/// Names for the current value or type.
const OWN_VALUES: [&str; 3] = ["self", "this", "cls"];
/// Signs that assign a value to the name before them.
const ASSIGNMENT_SIGNS: [&str; 2] = ["=", ":="];
/// After one of these, or at the start, a name with a colon is a field, a parameter or a key.
const LIST_SIGNS: [&str; 3] = ["(", ",", "{"];
/// Words that introduce a name.
const DEFINING_WORDS: [&str; 19] = [
    "class",
    "const",
    "def",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "let",
    "macro_rules",
    "mod",
    "namespace",
    "package",
    "record",
    "static",
    "struct",
    "trait",
    "var",
];

/// Returns the mentions of `name` in `line`, which begins outside of literals and comments. Literals and comments have no
/// mentions.
pub fn mentions(language: Language, line: &str, name: &str) -> Vec<Mention> {
    if !line.contains(name) {
        return Vec::new();
    }
    let tokens = lex(language, line);
    let text = |token: Option<&Token>| token.map_or("", |Token { range, .. }: &Token| &line[range.clone()]);
    let at = |position: Option<usize>| text(position.and_then(|position| tokens.get(position)));
    let is_named =
        |position: &usize| tokens[*position].kind == TokenKind::Word && at(Some(*position)) == name;
    let places = (0..tokens.len()).filter(is_named);
    places
        .map(|place| {
            let before = at(place.checked_sub(1));
            let owner = at(place.checked_sub(2));
            mention_kind(language, owner, before, at(Some(place + 1)))
        })
        .collect()
}

/// Classifies a name by its neighbouring tokens.
fn mention_kind(language: Language, owner: &str, before: &str, after: &str) -> Mention {
    let is_given = ASSIGNMENT_SIGNS.contains(&after);
    if MEMBER_SIGNS.contains(&before) {
        return if is_given && OWN_VALUES.contains(&owner) { Mention::Defined } else { Mention::Member };
    }
    let is_key = after == ":" && (before.is_empty() || LIST_SIGNS.contains(&before));
    let is_introduced = DEFINING_WORDS.contains(&before) && is_reserved(language, before);
    if is_given || is_key || is_introduced {
        Mention::Defined
    } else if after == "(" {
        Mention::Called
    } else {
        Mention::Bare
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiline_tokens;

    #[track_caller]
    fn check(language: Language, line: &str, expected: &[Mention]) {
        assert_eq!(mentions(language, line, "name"), expected, "{line}");
    }

    #[test]
    fn members_calls_and_bare_names_are_distinguished() {
        check(Language::Python, "x = item.name + name(1)", &[Mention::Member, Mention::Called]);
        check(Language::Python, "return name[0]", &[Mention::Bare]);
        check(Language::Cpp, "p->name; N::name();", &[Mention::Member, Mention::Member]);
        check(Language::TypeScript, "use(item?.name)", &[Mention::Member]);
        check(Language::Python, "x = names + rename", &[]);
    }

    #[test]
    fn assignments_parameters_and_declarations_define_a_name() {
        check(Language::Python, "self.name = name", &[Mention::Defined, Mention::Bare]);
        check(Language::Python, "other.name = 1", &[Mention::Member]);
        check(Language::Python, "call(name=1)", &[Mention::Defined]);
        check(Language::Python, "if name == 1:", &[Mention::Bare]);
        check(Language::Go, "name := 1", &[Mention::Defined]);
        check(Language::TypeScript, "function f(name: string) {", &[Mention::Defined]);
        check(Language::Rust, "    let name = 1;", &[Mention::Defined]);
        check(Language::Python, "    def name(x):", &[Mention::Defined]);
    }

    #[test]
    fn strings_and_comments_have_no_mentions() {
        check(Language::Python, "\"\"\"Something to sell. It has a name.\"\"\"", &[]);
        check(Language::Python, "f('the name')  # its name", &[]);
        check(Language::Java, "f(\"name\"); // name", &[]);
    }

    #[test]
    fn multiline_strings_and_comments_are_found() {
        let text = "a = '''x\ny''' + b  # c\nd = 1\n'''\nname\n'''\n";
        let texts: Vec<&str> =
            multiline_tokens(Language::Python, text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(texts, ["'''x\ny'''", "'''\nname\n'''"]);
        let text = "f(); /* a\n name */ g(); // b\n\n// c\nh(`\n`);\n";
        let texts: Vec<&str> =
            multiline_tokens(Language::Go, text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(texts, ["/* a\n name */", "`\n`"]);
    }
}
