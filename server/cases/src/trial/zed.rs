//! Zed's examples of edit predictions: a Markdown file for each, as an opportunity without a truth.
//!
//! A file begins with a front matter (`repository_url`, `revision`). Code blocks under second-level headings have the contents. The one under
//! "Cursor Position" is named by the path of the file and contains the code around the cursor, with a mark: `<|user_cursor|>` at the
//! cursor, or a line with `[CURSOR_POSITION]` below it, whose `^` is at the column of the cursor, or whose `<` says that the cursor is at the
//! column of its first character.
//!
//! The code of the block is the whole document of the opportunity, because the rest is in another repository. Expected patches are not read: they
//! are several, and edit other places than the cursor.

use super::imported_event::{ImportedPlace, cursor_between};
use super::{Opportunity, Trigger};
use crate::ParseError;

/// Name of the tool.
const TOOL: &str = "zed";
/// Heading of the section with the cursor.
const CURSOR_HEADING: &str = "cursor position";
/// Mark at the cursor.
const INLINE_MARK: &str = "<|user_cursor|>";
/// Mark in a line of its own.
const LINE_MARK: &str = "[CURSOR_POSITION]";
/// Fence of the front matter.
const FRONT_MATTER: &str = "+++";
/// Fewest characters of the fence of a code block.
const FENCE: usize = 3;

/// A code block of the file.
struct CodeBlock<'a> {
    /// The rest of the line that opens it.
    info: &'a str,
    /// 1-based number of that line.
    line: usize,
    lines: Vec<&'a str>,
}

/// Parses an example. `opened_at` is the time of the import, RFC 3339 in UTC: examples have none. `None` for a file without a place in this
/// workspace.
///
/// # Errors
/// The cursor is missing.
pub fn from_zed(
    text: &str,
    opened_at: &str,
    place_of: impl Fn(&str) -> Option<ImportedPlace>,
) -> Result<Option<Opportunity>, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let block = cursor_block(text)?;
    let Some(place) = place_of(block.info) else { return Ok(None) };
    let (prefix, suffix) = split_at_cursor(&block)?;
    let id = blake3::hash([TOOL, block.info, &prefix, &suffix].join("\n").as_bytes());
    Ok(Some(Opportunity {
        developer: TOOL.to_owned(),
        session: TOOL.to_owned(),
        opened_at: opened_at.to_owned(),
        commit: revision(text),
        ..Opportunity::new(
            id.to_hex()[..32].to_owned(),
            Trigger::Automatic,
            cursor_between(place, &prefix, &suffix),
        )
    }))
}

/// Returns the revision in the front matter.
fn revision(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.trim_end() == FRONT_MATTER)?;
    let lines = lines.take_while(|line| line.trim_end() != FRONT_MATTER);
    let revision = lines.filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "revision")?;
    let revision = revision.1.trim().trim_matches('"');
    (!revision.is_empty()).then(|| revision.to_owned())
}

/// Returns the last code block of the section with the cursor.
fn cursor_block(text: &str) -> Result<CodeBlock<'_>, ParseError> {
    let mut is_in_section = false;
    let mut found = None;
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            is_in_section = title.trim().eq_ignore_ascii_case(CURSOR_HEADING);
        }
        let Some((fence, info)) = opening_fence(line) else { continue };
        let closes = |line: &str| {
            line.trim().starts_with(fence) && line.trim().trim_start_matches(&fence[..1]).is_empty()
        };
        let block = lines.by_ref().map(|(_, line)| line).take_while(|line| !closes(line)).collect();
        if is_in_section {
            found = Some(CodeBlock { info, line: index + 1, lines: block });
        }
    }
    found.filter(|block| !block.info.is_empty()).ok_or_else(|| {
        let remedy = "is not an example of Zed: a code block below `## Cursor Position`, named by the path of its file, is missing";
        problem(1, remedy)
    })
}

/// Returns the fence that opens a code block, and the text behind it.
fn opening_fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= FENCE).then(|| (&line[..length], line[length..].trim()))
}

/// Returns the code before and after the cursor.
fn split_at_cursor(block: &CodeBlock<'_>) -> Result<(String, String), ParseError> {
    let code = block.lines.join("\n");
    if let Some((before, after)) = code.split_once(INLINE_MARK) {
        return Ok((before.to_owned(), after.to_owned()));
    }
    let mark = block.lines.iter().position(|line| line.contains(LINE_MARK));
    let Some((index, mark)) = mark.and_then(|index| Some((index, block.lines.get(index)?))) else {
        return Err(problem(block.line, "has no cursor in this block: mark it with `<|user_cursor|>`"));
    };
    let number = block.line + 1 + index;
    let marked = index.checked_sub(1).and_then(|above| block.lines.get(above));
    let column = column_of(mark).ok_or_else(|| problem(number, "has a mark without `^` or `<` before it"))?;
    let split = marked.and_then(|line| Some((line.get(..column)?, line.get(column..)?)));
    let (before, after) =
        split.ok_or_else(|| problem(number, "has a mark that is not below a character of a line"))?;
    let (above, below) = (&block.lines[..index - 1], &block.lines[index + 1..]);
    let prefix = above.iter().copied().chain([before]).collect::<Vec<_>>().join("\n");
    let suffix = [after].into_iter().chain(below.iter().copied()).collect::<Vec<_>>().join("\n");
    Ok((prefix, suffix))
}

/// Returns the column of the cursor, in bytes of the line above.
fn column_of(mark: &str) -> Option<usize> {
    let before = mark.split(LINE_MARK).next()?;
    match (before.find('^'), before.contains('<')) {
        (Some(column), _) => Some(column),
        (None, true) => before.find(|character: char| !character.is_whitespace()),
        (None, false) => None,
    }
}

fn problem(line: usize, message: &str) -> ParseError {
    ParseError { line, column: 1, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn example(cursor: &str) -> String {
        format!(
            "+++\nrepository_url = \"https://host/shop\"\nrevision = \"2fec0b2\"\n+++\n\n# Name\n\n## Edit History\n\n```diff\n--- a/x.py\n+## Cursor Position\n```\n\n## Cursor Position\n\n{cursor}\n\n## Expected Patch\n\n```diff\n-a\n+b\n#  ^[CURSOR_POSITION]\n```\n"
        )
    }

    fn place(path: &str) -> Option<ImportedPlace> {
        path.ends_with(".py").then(|| ImportedPlace { path: path.to_owned(), language: "python".to_owned() })
    }

    #[track_caller]
    fn check(cursor: &str, prefix: &str, suffix: &str) {
        let row = from_zed(&example(cursor), NOW, place).expect("an example").expect("a place");
        assert_eq!((&*row.cursor.prefix, &*row.cursor.suffix), (prefix, suffix));
        assert_eq!((&*row.cursor.path, row.cursor.offset), ("shop/x.py", prefix.len()));
    }

    #[test]
    fn the_cursor_is_marked_in_three_ways() {
        let with = |lines: &str| format!("```shop/x.py\n{lines}\n```");
        check(&with("a = 1\nb = <|user_cursor|>2\n"), "a = 1\nb = ", "2\n");
        check(&with("a = 1\nb = 22\n#    ^[CURSOR_POSITION]\nc"), "a = 1\nb = 2", "2\nc");
        check(&with("    b\n  # <[CURSOR_POSITION]"), "  ", "  b");
        check("~~~~ shop/x.py\n```\nx\n^[CURSOR_POSITION]\n~~~~", "```\n", "x");
    }

    #[test]
    fn an_example_is_an_opportunity_without_truth_and_answers() {
        let text = example("```shop/x.py\né<|user_cursor|>\n```");
        let row = from_zed(&text, NOW, place).expect("an example").expect("a place");
        assert_eq!((row.truths.len(), row.answers.len(), row.commit.as_deref()), (0, 0, Some("2fec0b2")));
        assert_eq!((row.opened_at.as_str(), row.cursor.character, &*row.cursor.language), (NOW, 1, "python"));
        let later = from_zed(&text, "2026-02-02T03:04:05Z", place).expect("an example").expect("a place");
        assert_eq!(later.id, row.id, "a second import replaces the row");
        assert_eq!(from_zed(&text.replace("x.py", "x.txt"), NOW, place), Ok(None));
    }

    #[test]
    fn files_without_a_cursor_are_refused_with_their_line() {
        #[track_caller]
        fn check_refused(text: &str, line: usize, words: &str) {
            let error = from_zed(text, NOW, place).expect_err("it is refused");
            assert!(error.line == line && error.message.contains(words), "{error}");
        }
        check_refused("", 1, "`## Cursor Position`");
        check_refused("# A file\n\n```a.py\n<|user_cursor|>\n```\n", 1, "`## Cursor Position`");
        check_refused(&example("```\n<|user_cursor|>\n```"), 1, "named by the path");
        check_refused(&example("```a.py\nx\n```"), 17, "no cursor");
        check_refused(&example("```a.py\nx\n# [CURSOR_POSITION]\n```"), 19, "without `^`");
        check_refused(&example("```a.py\nx\n#    ^[CURSOR_POSITION]\n```"), 19, "not below a character");
        check_refused(&example("```a.py\n^[CURSOR_POSITION]\n```"), 18, "not below a character");
    }
}
