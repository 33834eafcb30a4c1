//! Zed's examples of edit predictions: Markdown files, or rows of JSON Lines with the same parts.
//!
//! A Markdown file begins with a front matter (`repository_url`, `revision`) and a title. Code blocks under second-level headings have the
//! contents. The one under "Cursor Position" is named by the path of the file and contains the code around the cursor, with a mark:
//! `<|user_cursor|>` at the cursor, or a line with `[CURSOR_POSITION]` below it, whose `^` is at the column of the cursor, or whose `<`
//! says that the cursor is at the column of its first character, or at the end of a shorter line.
//!
//! Responsible for the parts of an example and the place of its cursor. It never applies a patch: a case of the expected edit is made by
//! the benchmarks, and a trial reads the place only.

use serde::{Deserialize, Serialize};

use crate::ParseError;

/// Heading of the section with the code around the cursor.
const CURSOR_HEADING: &str = "Cursor Position";
/// Heading of the sections with the edits that count as right.
const PATCH_HEADING: &str = "Expected Patch";
/// Mark at the cursor.
const INLINE_MARK: &str = "<|user_cursor|>";
/// Mark in a line below the cursor.
const LINE_MARK: &str = "[CURSOR_POSITION]";
/// Fewest characters of the fence of a code block.
const MIN_FENCE: usize = 3;

/// An example.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct ZedExample {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Where the repository comes from.
    #[serde(default)]
    pub repository_url: String,
    /// Commit of the repository.
    #[serde(default)]
    pub revision: String,
    /// The file.
    pub cursor_path: String,
    /// Code around the cursor, with its mark.
    pub cursor_position: String,
    /// The edits that count as right, as diffs.
    #[serde(default)]
    pub expected_patches: Vec<String>,
    /// The file, where it was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_prompt_input: Option<CapturedFile>,
    /// 1-based line of the Markdown that opens the block with the cursor; 0 in rows of JSON Lines.
    #[serde(skip)]
    pub cursor_line: usize,
}

/// The captured file of an example.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct CapturedFile {
    /// Its text.
    pub cursor_file_content: String,
    /// The cursor, in bytes.
    pub cursor_offset: usize,
}

impl ZedExample {
    /// Reads the Markdown of an example; `name` is its name if it has no title.
    ///
    /// # Errors
    ///
    /// The code block with the cursor is missing, or names no file.
    pub fn parse(text: &str, name: &str) -> Result<ZedExample, ParseError> {
        let mut example = ZedExample { name: name.to_owned(), ..ZedExample::default() };
        let mut section = "";
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            if let Some(title) = line.strip_prefix("# ") {
                title.trim().clone_into(&mut example.name);
            } else if let Some(title) = line.strip_prefix("## ") {
                section = title.trim();
            } else if let Some((fence, info)) = opening_fence(line) {
                let code = lines.by_ref().map(|(_, line)| line).take_while(|line| !closes(line, fence));
                let code = code.flat_map(|line| [line, "\n"]).collect();
                if section.eq_ignore_ascii_case(CURSOR_HEADING) {
                    info.clone_into(&mut example.cursor_path);
                    (example.cursor_position, example.cursor_line) = (code, index + 1);
                } else if section.eq_ignore_ascii_case(PATCH_HEADING) {
                    example.expected_patches.push(code);
                }
            } else if section.is_empty() {
                example.read_front_matter(line);
            }
        }
        if example.cursor_path.is_empty() {
            return Err(problem(
                example.cursor_line.max(1),
                "is not an example of Zed: a code block below `## Cursor Position`, named by the path of its file, is missing",
            ));
        }
        Ok(example)
    }

    /// Reads a line such as `revision = "1f3c9e0"`.
    fn read_front_matter(&mut self, line: &str) {
        let Some((name, value)) = line.split_once('=') else { return };
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        match name.trim() {
            "repository_url" => self.repository_url = value,
            "revision" => self.revision = value,
            _ => {}
        }
    }

    /// Returns the code without its mark, and the cursor in bytes.
    ///
    /// # Errors
    ///
    /// The cursor is not marked, or outside of the code.
    pub fn cursor(&self) -> Result<(String, usize), ParseError> {
        if let Some(file) = &self.captured_prompt_input {
            let text = &file.cursor_file_content;
            return match text.is_char_boundary(file.cursor_offset) {
                true => Ok((text.clone(), file.cursor_offset)),
                false => Err(problem(1, "has a cursor outside of the captured file")),
            };
        }
        let text = &self.cursor_position;
        if let Some((before, after)) = text.split_once(INLINE_MARK) {
            return Ok(([before, after].concat(), before.len()));
        }
        let Some(mark) = text.find(LINE_MARK) else {
            let message = "has no cursor in this block: mark it with `<|user_cursor|>`";
            return Err(problem(self.cursor_line.max(1), message));
        };
        let start = text[..mark].rfind('\n').map_or(0, |end| end + 1);
        let end = text[mark..].find('\n').map_or(text.len(), |end| mark + end + 1);
        let number = self.cursor_line + 1 + text[..start].lines().count();
        let above = text[..start].strip_suffix('\n').unwrap_or_default();
        let line = above.rfind('\n').map_or(0, |end| end + 1);
        let column = column_of(&text[start..mark], above.len() - line)
            .ok_or_else(|| problem(number, "has a mark without `^` or `<` before it"))?;
        let cursor = line + column;
        match start > 0 && cursor < start && text.is_char_boundary(cursor) {
            true => Ok(([&text[..start], &text[end..]].concat(), cursor)),
            false => Err(problem(number, "has a mark that is not below a character of a line")),
        }
    }
}

/// Returns the fence that opens a code block, and the text behind it.
fn opening_fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= MIN_FENCE).then(|| (&line[..length], line[length..].trim()))
}

/// Whether a line closes a code block.
fn closes(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.starts_with(fence) && line.trim_start_matches(&fence[..1]).is_empty()
}

/// Returns the column of the cursor in bytes, from the line below it up to its mark. The line has this many bytes.
fn column_of(before_mark: &str, length: usize) -> Option<usize> {
    match (before_mark.find('^'), before_mark.contains('<')) {
        (Some(column), _) => Some(column),
        (None, true) => {
            let column = before_mark.find(|character: char| !character.is_whitespace());
            column.map(|column| column.min(length))
        }
        (None, false) => None,
    }
}

fn problem(line: usize, message: &str) -> ParseError {
    ParseError { line, column: 1, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(cursor: &str) -> String {
        format!(
            "+++\nrepository_url = \"https://host/shop\"\nrevision = \"2fec0b2\"\n+++\n\n# Name\n\n## Edit History\n\n```diff\n--- a/x.py\n+## Cursor Position\n```\n\n## Cursor Position\n\n{cursor}\n\n## Expected Patch\n\n```diff\n-a\n+b\n#  ^[CURSOR_POSITION]\n```\n"
        )
    }

    #[test]
    fn parts_are_read_from_markdown() {
        let read =
            ZedExample::parse(&example("```shop/x.py\na<|user_cursor|>\n```"), "file").expect("an example");
        assert_eq!((&*read.name, &*read.repository_url), ("Name", "https://host/shop"));
        assert_eq!((&*read.revision, &*read.cursor_path), ("2fec0b2", "shop/x.py"));
        assert_eq!(read.expected_patches, ["-a\n+b\n#  ^[CURSOR_POSITION]\n"]);
        let untitled =
            ZedExample::parse("## Cursor Position\n\n```a.py\nx\n```\n", "file").expect("an example");
        assert_eq!((&*untitled.name, untitled.cursor_line), ("file", 3));
    }

    #[track_caller]
    fn check(cursor: &str, marked: &str) {
        let read = ZedExample::parse(&example(cursor), "").expect("an example");
        let (text, cursor) = read.cursor().expect("a cursor");
        assert_eq!(format!("{}|{}", &text[..cursor], &text[cursor..]), marked);
    }

    #[test]
    fn the_cursor_is_marked_in_three_ways() {
        let with = |lines: &str| format!("```shop/x.py\n{lines}\n```");
        check(&with("a = 1\nb = <|user_cursor|>2"), "a = 1\nb = |2\n");
        check(&with("a = 1\nb = 22\n#    ^[CURSOR_POSITION]\nc"), "a = 1\nb = 2|2\nc\n");
        check(&with("    b\n  # <[CURSOR_POSITION]"), "  |  b\n");
        check(&with("abc\n <---[CURSOR_POSITION]"), "a|bc\n");
        check(&with("\t/\n   // <[CURSOR_POSITION]\nc"), "\t/|\nc\n");
        check(&with("a\n\n^[CURSOR_POSITION]\nb"), "a\n|\nb\n");
        check("~~~~ shop/x.py\n```\nx\n^[CURSOR_POSITION]\n~~~~", "```\n|x\n");
    }

    #[test]
    fn files_without_a_cursor_are_refused_with_their_line() {
        #[track_caller]
        fn check_refused(text: &str, line: usize, words: &str) {
            let error =
                ZedExample::parse(text, "").and_then(|read| read.cursor()).expect_err("it is refused");
            assert!(error.line == line && error.message.contains(words), "{error}");
        }
        check_refused("", 1, "`## Cursor Position`");
        check_refused("# A file\n\n```a.py\n<|user_cursor|>\n```\n", 1, "`## Cursor Position`");
        check_refused(&example("```\n<|user_cursor|>\n```"), 17, "named by the path");
        check_refused(&example("```a.py\nx\n```"), 17, "no cursor");
        check_refused(&example("```a.py\nx\n# [CURSOR_POSITION]\n```"), 19, "without `^`");
        check_refused(&example("```a.py\nx\n#    ^[CURSOR_POSITION]\n```"), 19, "not below a character");
        check_refused(&example("```a.py\né\n ^[CURSOR_POSITION]\n```"), 19, "not below a character");
        check_refused(&example("```a.py\n^[CURSOR_POSITION]\n```"), 18, "not below a character");
    }

    #[test]
    fn the_cursor_of_a_captured_file_is_an_offset() {
        let row = |offset: usize| {
            let row = format!(
                r#"{{"cursor_path":"a.go","cursor_position":"","captured_prompt_input":{{"cursor_file_content":"é","cursor_offset":{offset}}}}}"#
            );
            serde_json::from_str::<ZedExample>(&row).expect("a row").cursor()
        };
        assert_eq!(row(2), Ok(("é".to_owned(), 2)));
        assert!(row(1).is_err() && row(3).is_err());
    }
}
