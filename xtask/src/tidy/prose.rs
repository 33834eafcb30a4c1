//! Checks of prose: phrases that hide the subject of a sentence or use a private word for a common one.
//!
//! Comments may hold a few of each, since some are right where they are; messages, help texts and documents hold none. The
//! limits are the rates of well-kept Rust projects, rounded up.

use std::sync::LazyLock;

use regex::Regex;

use super::rust::is_test_file;
use super::text::string_literals;
use super::{Finding, TextFile};

/// A phrase that is written otherwise.
struct Phrase {
    name: &'static str,
    pattern: Regex,
    remedy: &'static str,
    /// Occurrences allowed in a thousand lines of comments.
    per_thousand: f64,
}

/// The phrases with compiled patterns.
static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let phrase = |(name, per_thousand, pattern, remedy)| Phrase {
        name,
        pattern: Regex::new(pattern).expect("the pattern is part of the program"),
        remedy,
        per_thousand,
    };
    TABLE.map(phrase).into()
});

/// Name, occurrences allowed in a thousand lines of comments, pattern, remedy. Patterns ignore case and match within one line.
const TABLE: [(&str, f64, &str, &str); 9] = [
    ("who", 0.5, r"(?i)\b(who|whoever|whom)\b", "name the client, the caller, the user, the engine"),
    ("nobody", 0.2, r"(?i)\bnobody\b", "say which program, request or reader it is not"),
    (
        "stands",
        0.5,
        r"(?i)\b(stands?|stood)\b(?: (?:at|in|on|there|here|before|after|as|between|for itself|alone|last|first|where)\b|[.,;:]|$)",
        "write `is`, or name the place",
    ),
    (
        "is told",
        0.3,
        r"(?i)\b(is|are|was|were|be|been) told\b",
        "write `is reported`, or say which message is sent",
    ),
    (
        "headless what",
        1.0,
        r"(?i)(?:^|[^\w])(?:and|or|but|for|of|from|by|with|in|to|as|than|,|;|:|^|//[/!]?) ?what(?:ever)? (is|are|was|were|has|had|have|can|may|must|comes?|goes|stays?|follows?|belongs?|it|they|we|one)\b[^?]*$",
        "name the thing instead of describing it by a clause",
    ),
    ("where nothing is said", 0.0, r"(?i)\bwhere nothing is (said|set|told)\b", "write `if unset`"),
    ("let go of", 0.0, r"(?i)\blet(s|ting)? go of\b", "write `drop` or `release`"),
    ("anew", 0.1, r"(?i)\banew\b", "write `again`, or leave it out"),
    ("thereby", 0.1, r"(?i)\bthereby\b", "leave it out"),
];

/// All findings: rates of comments, and every occurrence elsewhere.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings: Vec<_> = PHRASES.iter().filter_map(|phrase| check_comments(files, phrase)).collect();
    for file in files {
        for (line, text) in strict_lines(file) {
            let found = PHRASES.iter().filter(|phrase| phrase.pattern.is_match(text));
            findings.extend(found.map(|phrase| {
                Finding::new(&file.path, format!("`{}`: {}", phrase.name, phrase.remedy)).at(line)
            }));
        }
    }
    findings
}

/// A finding if the comments of all sources use the phrase too often, with the first places.
fn check_comments(files: &[TextFile], phrase: &Phrase) -> Option<Finding> {
    let comments = || {
        let sources = files.iter().filter(|file| file.path.ends_with(".rs"));
        let lines = sources.flat_map(|file| file.lines().map(move |(line, text)| (file, line, text)));
        lines.filter(|(_, _, text)| text.trim_start().starts_with("//"))
    };
    let found: Vec<_> = comments().filter(|(_, _, text)| phrase.pattern.is_match(text)).collect();
    let per_thousand = found.len() as f64 * 1000.0 / comments().count().max(1) as f64;
    let (file, line, _) = found.first()?;
    let message = format!(
        "`{}` in {per_thousand:.1} of 1,000 comment lines, at most {}: {}",
        phrase.name, phrase.per_thousand, phrase.remedy
    );
    (per_thousand > phrase.per_thousand).then(|| Finding::new(&file.path, message).at(*line))
}

/// The lines that users read: documents, help texts, string literals of the product that look like sentences.
fn strict_lines(file: &TextFile) -> Vec<(usize, &str)> {
    if file.path.ends_with(".md") {
        return file.lines().filter(|(_, text)| !text.starts_with("    ")).collect();
    }
    // The strings of `prompt` are for models.
    let is_product = file.path.starts_with("server/")
        && file.path.contains("/src/")
        && !file.path.starts_with("server/prompt/");
    if !is_product || !file.path.ends_with(".rs") || is_test_file(&file.path) {
        return Vec::new();
    }
    let production = super::rust::production_part(file).len();
    let literals = string_literals(file).into_iter().filter(|range| range.start < production);
    let messages = literals.flat_map(|range| {
        let first = file.line_of(range.start);
        let text = file.text.get(range).unwrap_or_default();
        text.lines().enumerate().map(move |(index, line)| (first + index, line))
    });
    let help = file.lines().filter(|(_, text)| {
        file.path.starts_with("server/cli/src/args") && text.trim_start().starts_with("///")
    });
    messages.filter(|(_, text)| text.contains(' ')).chain(help).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::finding::lines;

    #[track_caller]
    fn check_files(files: &[(&str, &str)], expect: Expect) {
        let file = |&(path, text): &(&str, &str)| TextFile { path: path.to_owned(), text: text.to_owned() };
        let files: Vec<_> = files.iter().map(file).collect();
        expect.assert_eq(&lines(&check(&files)));
    }

    #[test]
    fn phrase_in_comments_is_reported_only_if_frequent() {
        let rare = format!("/// A reader who waits.\n{}", "// A comment.\n".repeat(3000));
        check_files(&[("server/a/src/lib.rs", &rare)], expect![[""]]);
        let often = rare.replace("A comment", "Nobody reads");
        check_files(
            &[("server/a/src/lib.rs", &often)],
            expect![[r#"
                server/a/src/lib.rs:2: `nobody` in 999.7 of 1,000 comment lines, at most 0.2: say which program, request or reader it is not
            "#]],
        );
    }

    #[test]
    fn phrases_in_documents_messages_and_help_are_reported() {
        check_files(
            &[
                ("docs/a.md", "The index is told.\n\n    nobody in a listing\n"),
                ("server/a/src/lib.rs", "fn a() { fail(\"nobody answered\"); tag(\"nobody\"); }\n"),
                ("server/a/src/tests.rs", "fn a() { fail(\"nobody answered\"); }\n"),
                ("server/cli/src/args.rs", "/// Ask whoever is there\n"),
            ],
            expect![[r#"
                server/cli/src/args.rs:1: `who` in 1000.0 of 1,000 comment lines, at most 0.5: name the client, the caller, the user, the engine
                docs/a.md:1: `is told`: write `is reported`, or say which message is sent
                server/a/src/lib.rs:1: `nobody`: say which program, request or reader it is not
                server/cli/src/args.rs:1: `who`: name the client, the caller, the user, the engine
            "#]],
        );
    }

    #[test]
    fn legitimate_uses_of_checked_phrases_are_allowed() {
        check_files(&[("docs/a.md", "What is it for? A sign stands for a letter.\n")], expect![[""]]);
        check_files(
            &[("docs/a.md", "It sends what is written.\nOf what was asked, half stands there.\n")],
            expect![[r#"
                docs/a.md:2: `stands`: write `is`, or name the place
                docs/a.md:2: `headless what`: name the thing instead of describing it by a clause
            "#]],
        );
    }
}
