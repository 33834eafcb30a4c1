//! Removes a repetition of the cursor's line from the start of an answer, as chat models often produce.

use syntax::{Language, LanguageFamily, TokenKind, is_reserved, lex};

use super::{CleaningContext, is_distinctive};

/// Maximum number of lines before the cursor's that may be repeated with it.
const MAX_LINES: usize = 8;

pub(super) fn remove(answer: String, around: &CleaningContext<'_>) -> String {
    let line = around.before.line().trim_start();
    let echo = answer.trim_start_matches([' ', '\t', '\n', '\r']);
    if let Some(rest) = several_lines(around).find_map(|lines| echo.strip_prefix(lines)) {
        return rest.to_owned();
    }
    match echo.strip_prefix(line).or_else(|| echo.strip_prefix(line.trim_end())) {
        Some(rest) if is_certain(line, rest, around) => {
            let rest = if line.ends_with(' ') { rest.strip_prefix(' ').unwrap_or(rest) } else { rest };
            rest.to_owned()
        }
        _ => answer,
    }
}

/// Returns the texts from each of the previous lines up to the cursor, the longest first. Empty if the cursor's line is blank: the same
/// statements may occur twice.
fn several_lines<'a>(around: &CleaningContext<'a>) -> impl Iterator<Item = &'a str> {
    let text = around.before.text();
    let is_blank = around.before.line().trim().is_empty();
    let starts =
        text.rmatch_indices('\n').skip(1).map(|(at, _)| at + 1).take(if is_blank { 0 } else { MAX_LINES });
    let starts: Vec<usize> = starts.collect();
    starts.into_iter().rev().map(|start| text[start..].trim_start()).filter(|lines| lines.contains('\n'))
}

/// Returns whether an answer with this beginning may still repeat the line.
pub(super) fn may_be_echo(beginning: &str, around: &CleaningContext<'_>) -> bool {
    let line = around.before.line().trim_start();
    let echo = beginning.trim_start_matches([' ', '\t', '\n', '\r']);
    let is_line = may_be_repeated(line, "a", around) && line.len() > echo.len() && line.starts_with(echo);
    is_line || several_lines(around).any(|lines| lines.starts_with(echo))
}

/// Returns whether a line is distinctive enough that its repetition is no coincidence: more than a part of a name, or a keyword that
/// cannot follow itself.
fn may_be_repeated(line: &str, rest: &str, around: &CleaningContext<'_>) -> bool {
    // Three names in a row declare nothing.
    let is_followed = line.ends_with(' ') && rest.trim_start().starts_with(is_word);
    let tokens = lex(around.language, line);
    let is_keyword = |word: &str| is_reserved(around.language, word);
    match &tokens[..] {
        [] => false,
        [word] if word.kind == TokenKind::Word => {
            let word = &line[word.range.clone()];
            // `Kernel Kernel` declares a property, `kernel kernel` does not.
            line.len() == word.len()
                || is_keyword(word)
                || word.starts_with(char::is_lowercase)
                || is_followed
        }
        // A bracket cannot close twice, and a member access has one dot.
        // Some languages concatenate adjacent literals.
        [literal] if literal.kind == TokenKind::String => {
            !matches!(around.language.family(), LanguageFamily::C) && around.language != Language::Python
        }
        [_] if line.trim_end() == "<" => around.language.family() == LanguageFamily::Script,
        [_] => line.starts_with(['}', ')', ']', '.', ':', '-', '?', '@']),
        _ => true,
    }
}

/// Returns whether the answer doubles the name before the cursor to a name that the document does not contain.
fn doubles_name(line: &str, rest: &str, around: &CleaningContext<'_>) -> bool {
    let start =
        line.len() - line.chars().rev().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
    let doubled = [line, &line[start..]].concat();
    !rest.starts_with(is_word)
        && !has_name(around.before.text(), &doubled)
        && !has_name(around.suffix, &doubled)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether a text contains a name.
fn has_name(text: &str, name: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word))
}

/// Returns whether the answer repeats the line, rather than nesting code with the same beginning, as in `max(max(a, b), c)`: that opens
/// brackets again.
fn is_certain(line: &str, rest: &str, around: &CleaningContext<'_>) -> bool {
    if !may_be_repeated(line, rest, around) {
        return false;
    }
    if line.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return doubles_name(line, rest, around);
    }
    let closes_nothing =
        line.starts_with(['}', ')', ']']) && around.before.leaves_open_what_follows_closes("");
    closes_nothing
        || is_distinctive(line) && !line.ends_with(['(', '[', '{', '<'])
        || !balances_twice(line, rest, around)
}

/// Returns whether the brackets fit only with the line repeated.
fn balances_twice(line: &str, rest: &str, around: &CleaningContext<'_>) -> bool {
    let first = |text: &str| match around.before.end(around.extent, text) {
        Some(end) => text[..end].to_owned(),
        None => text.to_owned(),
    };
    let (with, without) = (first(&[line, rest].concat()), first(rest));
    let fits = |text: &str| around.before.leaves_open_what_follows_closes(text);
    fits(&with) && !fits(&without)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn repeated_line_before_the_cursor_is_removed() {
        check("a.py", "    total_price = $0\n", "    total_price = a + b", "a + b");
        check("a.py", "    total_price = $0\n", "\ntotal_price = a + b", "a + b");
    }

    #[test]
    fn repeated_short_prefix_is_removed() {
        check("a.py", "x = $0\n", "x = 1", "1");
        check("a.java", "class A { void f() {\n  this$0\n} }", "this.x = 1;", ".x = 1;");
        check("a.go", "\tfmt.$0\n", "fmt.Println()", "Println()");
        check("a.java", "@$0\nint f() {}\n", "@Name(\"a\")", "Name(\"a\")");
        check("a.tsx", "render(\n  <$0\n)\n", "<A b={c} />", "A b={c} />");
        check("a.java", "Config $0\n", "Config config = new Config();", "config = new Config();");
        check("a.go", "// success\nc$0\n", "c.usage = f(s)", ".usage = f(s)");
        let after = "void f() {\n  try {\n    g();\n  } $0\n}\n";
        check("a.java", after, "} catch (E e) {\n    h();\n  }", "catch (E e) {\n    h();\n  }");
    }

    #[test]
    fn repeated_previous_lines_are_removed() {
        let document = "f(a);\n// Now the settings.\nnew $0\n";
        check("a.ts", document, "// Now the settings.\nnew Settings();", "Settings();");
        check("a.ts", "f(a);\n$0\n", "f(a);\nf(b);", "f(a);");
    }

    #[test]
    fn similar_beginning_is_not_an_echo() {
        check("a.py", "x = max($0)\n", "max(a, b), c", "max(a, b), c");
        check("a.py", "s$0\nss = 1\n", "s = 2", "s = 2");
        check("a.cs", "public $0 { get; set; }\n", "Kernel Kernel { get; set; }", "Kernel Kernel");
    }
}
