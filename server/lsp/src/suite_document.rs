//! Documents that show a case of a suite: its code with a mark at the hole, and its right answer beside those of the engines.
//!
//! The documents exist only in the editor. Their URIs contain the id of the case and a name, never a path: the text of a case decides
//! nothing but what is shown.

use std::fmt::Write as _;
use std::ops::Range;

use cases::{Case, CaseId};
use syntax::Language;
use tower_lsp_server::gen_lsp_types::Uri;
use url::Url;

use crate::ext::{CaseSummary, SUITE_SCHEME};

/// The text at the place of the hole.
const HOLE: &str = "⟪hole⟫";

/// Name of the document with the answers. No file of a case has it, because Markdown is no supported language.
const ANSWERS: &str = "answers.md";

/// Maximum bytes that are shown on each side of the hole. Real files are smaller; editors are slow with larger ones.
const MAX_SIDE_BYTES: usize = 4 << 20;

/// Maximum characters of a document's name.
const MAX_NAME: usize = 100;

/// One of the documents of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuiteDocument {
    /// The code.
    Code,
    /// The right answer, and those of the engines.
    Answers,
}

/// The code of a case with its hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaseText {
    /// The text.
    pub(crate) text: String,
    /// Range of the mark in it, in bytes.
    pub(crate) hole: Range<usize>,
}

/// Returns the URI of a document of a case.
pub(crate) fn uri(case: &Case, document: SuiteDocument) -> Uri {
    let name = match document {
        SuiteDocument::Code => code_name(case),
        SuiteDocument::Answers => ANSWERS.to_owned(),
    };
    let mut url = Url::parse(&format!("{SUITE_SCHEME}:///")).expect("the scheme is valid");
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push(&case.id).push(&name);
    }
    Uri(format!("{SUITE_SCHEME}:{}", url.path()))
}

/// Returns the id of the case and the document of a URI, however the editor writes it.
pub(crate) fn parse_uri(uri: &Uri) -> Option<(CaseId, SuiteDocument)> {
    let url = Url::parse(&uri.0).ok().filter(|url| url.scheme() == SUITE_SCHEME)?;
    let mut segments = url.path_segments()?;
    let id = segments.next()?.to_owned();
    let document = if segments.next()? == ANSWERS { SuiteDocument::Answers } else { SuiteDocument::Code };
    segments.next().is_none().then_some((id, document))
}

/// Returns the name of the file of a case; the editor takes the language from it.
fn code_name(case: &Case) -> String {
    let name = case.path.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_usable = !matches!(name, "" | "." | "..") && name != ANSWERS;
    let is_code = case.task.has_cursor() && is_usable;
    if is_code { name.chars().take(MAX_NAME).collect() } else { "question.md".to_owned() }
}

/// Returns the code of a case; of a task without a cursor its question, with the mark at the end.
pub(crate) fn case_text(case: &Case) -> CaseText {
    let language = Language::from_name(&case.language);
    let prompts = language.and_then(|language| benchmarks::function_prompts(case, language));
    let (before, after) = match &prompts {
        Some(prompts) => (prompts.chat.as_str(), ""),
        None => (case.prefix.as_str(), case.suffix.as_str()),
    };
    let (before, after) = (end_of(before), start_of(after));
    let hole = before.len()..before.len() + HOLE.len();
    CaseText { text: [before, HOLE, after].concat(), hole }
}

/// Returns the last lines of a text, within the limit.
pub(crate) fn end_of(text: &str) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_SIDE_BYTES));
    let line = text[start..].find('\n').filter(|_| start > 0).map_or(0, |end| end + 1);
    &text[start + line..]
}

/// Returns the first bytes of a text, within the limit.
pub(crate) fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_SIDE_BYTES)]
}

/// Returns the right answer of a case and those of the engines, as Markdown. `title` describes the case.
pub(crate) fn answers_text(case: &Case, summary: &CaseSummary, title: &str) -> String {
    let mut text = format!("# {title}\n\n{}\n\n## Right answer\n\n", case.path.replace('\n', " "));
    push_code(&mut text, &case.language, start_of(&case.truth));
    if summary.results.is_empty() {
        text.push_str("\nNot replayed yet.\n");
    }
    for result in &summary.results {
        let _ = write!(text, "\n## {}\n\n", crate::case_title::result(result));
        match (&result.text, &result.reason) {
            (Some(answer), _) if !answer.is_empty() => {
                push_code(&mut text, &case.language, start_of(answer));
            }
            (_, Some(reason)) => {
                let _ = writeln!(text, "{reason}");
            }
            _ => text.push_str("No text.\n"),
        }
    }
    text
}

/// Adds a code block, whose fence is longer than any in the code.
fn push_code(text: &mut String, language: &str, code: &str) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if code.ends_with('\n') { "" } else { "\n" };
    let _ = writeln!(text, "{fence}{language}\n{code}{end}{fence}");
}

#[cfg(test)]
mod tests {
    use cases::{Origin, OriginKind, SchemaVersion, Tags, Task};

    use super::*;

    fn case(path: &str, prefix: &str, suffix: &str) -> Case {
        let mut case = Case {
            schema: SchemaVersion::CURRENT,
            id: String::new(),
            hole: String::new(),
            task: Task::IN_FILE,
            language: "python".to_owned(),
            block_kind: None,
            path: path.to_owned(),
            byte_range: 0..1,
            line: 0,
            character: 0,
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
            truth: "x```y".to_owned(),
            context: Vec::new(),
            function: None,
            tests: None,
            origin: Origin::new(OriginKind::Imported, ""),
            tags: Tags::new(),
        };
        case.id = case.compute_id();
        case
    }

    #[test]
    fn uris_are_read_as_written_and_as_editors_normalize_them() {
        for path in
            ["a.py", "shop/größe %2e.py", "..", "a/..", "../../etc/passwd", "", "a\\b.py", "x/answers.md"]
        {
            let case = case(path, "", "");
            for document in [SuiteDocument::Code, SuiteDocument::Answers] {
                let uri = uri(&case, document);
                assert!(!uri.0.contains("..") && !uri.0.contains("etc/"), "{uri:?}");
                assert_eq!(parse_uri(&uri), Some((case.id.clone(), document)), "{uri:?}");
                let with_authority = Uri(uri.0.replace(":/", ":///"));
                assert_eq!(parse_uri(&with_authority), Some((case.id.clone(), document)));
            }
        }
        for wrong in
            ["file:///a.py", "ghostbench-suite:", "ghostbench-suite:/a", "ghostbench-suite:/a/b/c", "x"]
        {
            assert_eq!(parse_uri(&Uri(wrong.to_owned())), None, "{wrong}");
        }
    }

    #[test]
    fn the_hole_is_marked_between_prefix_and_suffix() {
        let CaseText { text, hole } = case_text(&case("a.py", "é = ", "\n"));
        assert_eq!((text.as_str(), &text[hole]), ("é = ⟪hole⟫\n", HOLE));
    }

    #[test]
    fn huge_texts_are_cut_far_from_the_hole() {
        let line = "é".repeat(50) + "\n";
        let long = line.repeat(MAX_SIDE_BYTES / line.len() + 100);
        let CaseText { text, hole } = case_text(&case("a.py", &long, &long));
        assert!(text.len() <= 2 * MAX_SIDE_BYTES + HOLE.len());
        assert!(text.starts_with(&line) && text[hole].eq(HOLE));
    }

    #[test]
    fn code_cannot_end_its_block() {
        let mut text = String::new();
        push_code(&mut text, "c", "a\n````\nb");
        assert_eq!(text, "`````c\na\n````\nb\n`````\n");
    }
}
