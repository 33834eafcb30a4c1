//! Converts snippets to plain text with default values.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting. Real snippets have two or three levels; deeper ones must not exhaust the stack.
const MAX_DEPTH: usize = 16;

/// Returns a snippet's plain text. A tabstop becomes its default, its first choice, the content of another tabstop with the
/// same number, or nothing; a variable becomes its default or nothing.
pub(super) fn plain_text(snippet: &str) -> String {
    let parts = parts(&mut snippet.chars().peekable(), None, 0);
    let mut defaults = BTreeMap::new();
    collect(&parts, &mut defaults);
    let mut text = String::new();
    write(&parts, &defaults, &mut text);
    text
}

#[derive(Debug, PartialEq)]
enum SnippetPart {
    Text(String),
    /// A tabstop with this number.
    Tabstop(String),
    /// A tabstop or variable with a default.
    Default(String, Vec<SnippetPart>),
}

/// Parses parts up to and including `end`.
fn parts(rest: &mut Peekable<Chars<'_>>, end: Option<char>, depth: usize) -> Vec<SnippetPart> {
    let mut parts = Vec::new();
    let mut text = String::new();
    while let Some(next) = rest.next() {
        match next {
            _ if Some(next) == end => break,
            '\\' => text.push(rest.next_if(|c| matches!(c, '$' | '}' | '\\')).unwrap_or('\\')),
            '$' => match tabstop(rest, depth) {
                Some(part) => {
                    parts.extend([SnippetPart::Text(std::mem::take(&mut text)), part]);
                }
                None => text.push('$'),
            },
            _ => text.push(next),
        }
    }
    parts.push(SnippetPart::Text(text));
    parts
}

/// Parses the text after a dollar sign as a tabstop or a variable.
fn tabstop(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Option<SnippetPart> {
    if rest.peek().is_some_and(|c| is_in_name(*c)) {
        return Some(SnippetPart::Tabstop(name(rest)));
    }
    let mut ahead = rest.clone();
    ahead.next_if_eq(&'{').filter(|_| depth < MAX_DEPTH)?;
    let name = name(&mut ahead);
    if name.is_empty() {
        return None;
    }
    let part = match ahead.next()? {
        '}' => SnippetPart::Tabstop(name),
        ':' => SnippetPart::Default(name, parts(&mut ahead, Some('}'), depth + 1)),
        '|' => SnippetPart::Default(name, vec![SnippetPart::Text(first_choice(&mut ahead))]),
        // A transformation of nothing is nothing.
        '/' => {
            parts(&mut ahead, Some('}'), depth + 1);
            SnippetPart::Tabstop(name)
        }
        _ => return None,
    };
    *rest = ahead;
    Some(part)
}

fn name(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    while let Some(c) = rest.next_if(|c| is_in_name(*c)) {
        name.push(c);
    }
    name
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the first choice of `a,b|}`, and consumes all of them.
fn first_choice(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut choice = String::new();
    let mut is_first = true;
    while let Some(next) = rest.next() {
        let next = match next {
            '|' if rest.next_if_eq(&'}').is_some() => break,
            ',' => {
                is_first = false;
                continue;
            }
            '\\' => rest.next_if(|c| matches!(c, ',' | '|' | '\\' | '$' | '}')).unwrap_or('\\'),
            next => next,
        };
        if is_first {
            choice.push(next);
        }
    }
    choice
}

/// Collects the content of tabstops by number.
fn collect<'a>(parts: &'a [SnippetPart], defaults: &mut BTreeMap<&'a str, &'a [SnippetPart]>) {
    for part in parts {
        if let SnippetPart::Default(name, inner) = part {
            defaults.entry(name).or_insert(inner);
            collect(inner, defaults);
        }
    }
}

fn write(parts: &[SnippetPart], defaults: &BTreeMap<&str, &[SnippetPart]>, text: &mut String) {
    for part in parts {
        match part {
            SnippetPart::Text(part) => text.push_str(part),
            SnippetPart::Default(_, inner) => write(inner, defaults, text),
            SnippetPart::Tabstop(name) => {
                let mirrored = defaults.get(name.as_str()).copied().unwrap_or_default();
                // A repeated default loses its own tabstops, which could refer to itself.
                mirrored.iter().for_each(|part| {
                    if let SnippetPart::Text(part) = part {
                        text.push_str(part);
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_by_their_defaults() {
        for (snippet, expected) in [
            ("return $1;$0", "return ;"),
            ("for ${1:i} in ${2:items}:\n\t$0", "for i in items:\n\t"),
            ("${1|let,const|} $2", "let "),
            ("${1|a\\,b,c\\|d|}", "a,b"),
            ("${1:x} = f($1, ${1})", "x = f(x, x)"),
            ("${1:outer ${2:inner}}", "outer inner"),
            ("${TM_FILENAME} ${NAME:anon} ${TM_FILENAME/(.*)\\..+$/$1/}!", " anon !"),
            ("cost: \\$5 \\} \\\\ \\n", "cost: $5 } \\ \\n"),
            ("a $ b ${ c ${-} $", "a $ b ${ c ${-} $"),
            ("${1:open", "open"),
            ("${1:$1}", ""),
            ("", ""),
        ] {
            assert_eq!(plain_text(snippet), expected, "{snippet}");
        }
    }

    #[test]
    fn deeply_nested_snippet_does_not_overflow_the_stack() {
        let deep = "${1:".repeat(100_000);
        assert!(plain_text(&deep).len() < deep.len());
    }
}
