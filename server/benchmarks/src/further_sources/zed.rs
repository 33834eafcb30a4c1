//! Examples of Zed's edit predictions: Markdown files, or rows of JSON Lines with the same parts.
//!
//! The code is the excerpt around the cursor, or the whole file where it was captured. An example with several accepted patches is a case
//! if one of them is an insertion at the cursor.

use cases::Case;
use serde::{Deserialize, Serialize};
use syntax::Language;

use super::UnusableItem;
use super::insertion::{NO_INSERTION, inserted, task_before};
use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::{BenchmarkItem, check_path};

/// Marks a line whose `^` or `<` points at the cursor in the line above.
const CURSOR_LINE: &str = "[CURSOR_POSITION]";

/// Marks the cursor in its line.
const CURSOR: &str = "<|user_cursor|>";

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
}

/// The captured file of an example.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct CapturedFile {
    /// Its text.
    pub cursor_file_content: String,
    /// The cursor, in bytes.
    pub cursor_offset: usize,
}

impl BenchmarkItem for ZedExample {
    // Names repeat.
    const HAS_UNIQUE_ID: bool = false;

    fn id(&self) -> &str {
        &self.name
    }

    fn check(&self) -> Result<(), String> {
        check_path(&self.cursor_path)?;
        match Language::from_path(&self.cursor_path) {
            Some(_) => Ok(()),
            None => Err(format!("the file {:?} is in no supported language", self.cursor_path)),
        }
    }
}

/// Reads the Markdown of an example; `name` is its name if it has none.
///
/// # Errors
///
/// The code with the cursor is missing, or its file is not usable.
pub fn zed_example(text: &str, name: &str) -> Result<ZedExample, UnusableItem> {
    let mut example = ZedExample { name: name.to_owned(), ..ZedExample::default() };
    let mut section = "";
    let mut cursor_line = 1;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(title) = line.strip_prefix("# ") {
            title.trim().clone_into(&mut example.name);
        } else if let Some(title) = line.strip_prefix("## ") {
            section = title.trim();
        } else if let Some((fence, info)) = opening_fence(line) {
            let mut block = String::new();
            for (_, line) in lines.by_ref().take_while(|(_, line)| !is_closing(line, fence)) {
                block.push_str(line);
                block.push('\n');
            }
            if section.eq_ignore_ascii_case("Cursor Position") {
                info.clone_into(&mut example.cursor_path);
                example.cursor_position = block;
                cursor_line = number + 1;
            } else if section.eq_ignore_ascii_case("Expected Patch") {
                example.expected_patches.push(block);
            }
        } else if section.is_empty() {
            read_front_matter(line, &mut example);
        }
    }
    let broken = |reason| UnusableItem::Broken(cursor_line, reason);
    if example.cursor_position.is_empty() {
        return Err(broken("there is no code block below `## Cursor Position`".to_owned()));
    }
    example.check().map_err(broken)?;
    Ok(example)
}

/// Reads a line such as `revision = "1f3c9e0"`.
fn read_front_matter(line: &str, example: &mut ZedExample) {
    let Some((name, value)) = line.split_once('=') else { return };
    let value = value.trim().trim_matches(['"', '\'']).to_owned();
    match name.trim() {
        "repository_url" => example.repository_url = value,
        "revision" => example.revision = value,
        _ => {}
    }
}

/// Returns the number of backticks that open a block, and the words behind them.
fn opening_fence(line: &str) -> Option<(usize, &str)> {
    let info = line.trim_start_matches('`');
    let fence = line.len() - info.len();
    (fence >= 3 && !info.contains('`')).then_some((fence, info.trim()))
}

fn is_closing(line: &str, fence: usize) -> bool {
    let line = line.trim_end();
    line.len() >= fence && line.bytes().all(|byte| byte == b'`')
}

impl ZedExample {
    /// Returns the case.
    ///
    /// # Errors
    ///
    /// The cursor is missing, or no expected edit is an insertion there.
    pub fn case(&self) -> Result<Case, UnusableItem> {
        let broken = |reason: &str| UnusableItem::Broken(1, reason.to_owned());
        let (text, cursor) = self.cursor().map_err(broken)?;
        let language = Language::from_path(&self.cursor_path);
        let language = language.ok_or_else(|| broken("the file is in no supported language"))?;
        let mut truths = self.expected_patches.iter().filter_map(|patch| insertion(patch, &text, cursor));
        let truth = truths.next().ok_or(UnusableItem::LeftOut(NO_INSERTION))?;
        let (prefix, suffix) = text.split_at(cursor);
        let case = imported_case(CaseParts {
            benchmark: "zed",
            id: &self.name,
            repository: Some(&self.repository_url).filter(|url| !url.is_empty()).map(String::as_str),
            task: task_before(suffix),
            language,
            block_kind: None,
            path: &self.cursor_path,
            prefix,
            suffix,
            truth: &truth,
            context: Vec::new(),
        });
        let mut case = case.ok_or_else(|| broken("the code is too long"))?;
        case.origin.commit = Some(self.revision.clone()).filter(|revision| !revision.is_empty());
        Ok(case)
    }

    /// Returns the code without its mark, and the cursor in bytes.
    fn cursor(&self) -> Result<(String, usize), &'static str> {
        if let Some(file) = &self.captured_prompt_input {
            let text = &file.cursor_file_content;
            return match text.is_char_boundary(file.cursor_offset) {
                true => Ok((text.clone(), file.cursor_offset)),
                false => Err("the cursor is outside of the captured file"),
            };
        }
        let text = &self.cursor_position;
        if let Some((before, after)) = text.split_once(CURSOR) {
            return Ok(([before, after].concat(), before.len()));
        }
        let mark = text.find(CURSOR_LINE).ok_or("the code has no mark of the cursor")?;
        let start = text[..mark].rfind('\n').map_or(0, |end| end + 1);
        let end = text[mark..].find('\n').map_or(text.len(), |end| mark + end + 1);
        let line = &text[start..mark];
        let column = match (line.find('^'), line.contains('<')) {
            (Some(column), _) => column,
            (None, true) => line.len() - line.trim_start().len(),
            (None, false) => return Err("the mark of the cursor has neither ^ nor <"),
        };
        let above = text[..start].trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
        let cursor = above + column;
        let is_in_line = start > 0 && cursor < start && text.is_char_boundary(cursor);
        match is_in_line {
            true => Ok(([&text[..start], &text[end..]].concat(), cursor)),
            false => Err("the mark of the cursor is not below its line"),
        }
    }
}

/// The changed lines of a diff, and those around them.
#[derive(Default)]
struct Hunk<'a> {
    /// Lines as they were, with whether they are unchanged.
    old: Vec<(&'a str, bool)>,
    /// Lines as they become, with whether they are unchanged.
    new: Vec<(&'a str, bool)>,
}

/// Returns the text that a diff inserts at the cursor; `None` for any other edit, or one that does not fit the text.
fn insertion(patch: &str, text: &str, cursor: usize) -> Option<String> {
    let hunk = only_hunk(patch)?;
    let unchanged =
        |lines: &[(&str, bool)]| lines.iter().take_while(|(_, is_unchanged)| *is_unchanged).count();
    let before = unchanged(&hunk.old).min(unchanged(&hunk.new));
    let last =
        |lines: &[(&str, bool)]| lines.iter().rev().take_while(|(_, is_unchanged)| *is_unchanged).count();
    let after = last(&hunk.old).min(last(&hunk.new)).min(hunk.old.len() - before);
    // The code may be an excerpt that has fewer of the unchanged lines.
    (0..=before).flat_map(|top| (0..=after).map(move |bottom| (top, bottom))).find_map(|(top, bottom)| {
        let part = |lines: &[(&str, bool)]| -> String {
            let lines = lines.get(top..lines.len() - bottom).unwrap_or_default();
            lines.iter().flat_map(|(line, _)| [line, "\n"]).collect()
        };
        let (old, new) = (part(&hunk.old), part(&hunk.new));
        inserted_at(&old, &new, text, cursor).filter(|truth| !truth.is_empty())
    })
}

/// Returns the text inserted at the cursor where `old` is in the text around the cursor.
fn inserted_at(old: &str, new: &str, text: &str, cursor: usize) -> Option<String> {
    if old.is_empty() {
        return None;
    }
    let whole = [text, if text.ends_with('\n') { "" } else { "\n" }].concat();
    let starts = whole.match_indices(old).map(|(start, _)| start);
    let mut around = starts.filter(|start| (*start..=start + old.len()).contains(&cursor));
    around.find_map(|start| inserted(old, new, cursor - start)).map(str::to_owned)
}

/// Returns the hunk of a diff with one.
fn only_hunk(patch: &str) -> Option<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    for line in patch.lines() {
        if line.starts_with("@@") {
            hunks.push(Hunk::default());
            continue;
        }
        // Lines that begin otherwise are headers, marks of the cursor and notes about line ends.
        let Some(hunk) = hunks.last_mut() else { continue };
        match line.split_at_checked(1) {
            Some(("-", line)) => hunk.old.push((line, false)),
            Some(("+", line)) => hunk.new.push((line, false)),
            Some((" ", line)) => {
                hunk.old.push((line, true));
                hunk.new.push((line, true));
            }
            None => {
                hunk.old.push(("", true));
                hunk.new.push(("", true));
            }
            Some(_) => {}
        }
    }
    let only = hunks.pop()?;
    hunks.is_empty().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "+++\nrepository_url = \"https://host.example/shop.git\"\nrevision = \"1f3c9e0\"\n+++\n\n\
        # Sum of prices\n\n## Edit History\n\n```diff\n--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-a\n+b\n```\n\n\
        ## Cursor Position\n\n```src/shop.py\ndef total(prices):\n    return \n#          ^[CURSOR_POSITION]\n\n\ndef other():\n```\n\n\
        ## Expected Patch\n\n";

    fn with_patches(patches: &[&str]) -> Result<Case, UnusableItem> {
        let blocks: String = patches.iter().map(|patch| format!("```diff\n{patch}```\n\n")).collect();
        zed_example(&[EXAMPLE, &blocks].concat(), "name").and_then(|example| example.case())
    }

    #[test]
    fn an_insertion_at_the_cursor_is_a_case() {
        let patch = "--- a/src/shop.py\n+++ b/src/shop.py\n@@ -3,4 +3,4 @@\n # a line that the excerpt lacks\n def total(prices):\n-    return \n+    return sum(prices)\n \n \n";
        let case = with_patches(&[patch]).expect("a case");
        assert_eq!(
            (case.prefix.as_str(), case.truth.as_str()),
            ("def total(prices):\n    return ", "sum(prices)")
        );
        assert_eq!((case.suffix.as_str(), case.path.as_str()), ("\n\n\ndef other():\n", "src/shop.py"));
        assert_eq!(case.origin.commit.as_deref(), Some("1f3c9e0"));
        assert_eq!(case.origin.benchmark_id.as_deref(), Some("Sum of prices"));
        assert_eq!(case.task.variant(), Some("mid_statement"));
    }

    #[test]
    fn new_lines_after_the_cursor_are_an_insertion() {
        let text = "a\nb\nc\n";
        let patch = "@@ -1,3 +1,4 @@\n a\n b\n+x\n c\n";
        assert_eq!(insertion(patch, text, 3).as_deref(), Some("\nx"));
        assert_eq!(insertion(patch, text, 4).as_deref(), Some("x\n"));
        assert_eq!(insertion(patch, text, 2), None);
        assert_eq!(insertion(patch, "no such lines\n", 2), None);
    }

    #[test]
    fn the_first_fitting_patch_counts_and_other_edits_are_left_out() {
        let other = "@@ -1,2 +1,2 @@\n-def total(prices):\n+def total(values):\n     return \n";
        let fitting = "@@ -1,2 +1,2 @@\n def total(prices):\n-    return \n+    return 0\n";
        assert_eq!(with_patches(&[other, fitting]).expect("a case").truth, "0");
        let two = format!("{fitting}@@ -9 +9 @@\n-x\n+y\n");
        for patches in [&[other][..], &[&two], &[], &["no diff\n"]] {
            assert_eq!(with_patches(patches), Err(UnusableItem::LeftOut(NO_INSERTION)));
        }
    }

    #[test]
    fn cursors_are_found_by_each_mark() {
        let cursor = |code: &str| {
            let example = ZedExample { cursor_position: code.to_owned(), ..ZedExample::default() };
            example.cursor().map(|(text, cursor)| format!("{}|{}", &text[..cursor], &text[cursor..]))
        };
        assert_eq!(cursor("a<|user_cursor|>b\n").as_deref(), Ok("a|b\n"));
        assert_eq!(cursor("x\nabc\n  ^[CURSOR_POSITION]\nd\n").as_deref(), Ok("x\nab|c\nd\n"));
        assert_eq!(cursor("abc\n <---[CURSOR_POSITION]\n").as_deref(), Ok("a|bc\n"));
        for code in ["abc\n", "^[CURSOR_POSITION]\n", "é\n ^[CURSOR_POSITION]\n", "abc\n [CURSOR_POSITION]\n"]
        {
            assert!(cursor(code).is_err(), "{code}");
        }
    }

    #[test]
    fn rows_have_the_same_parts() {
        let row = r#"{"name":"n","repository_url":"u","revision":"r","cursor_path":"a.go","cursor_position":"","edit_history":"",
            "expected_patches":["@@ -1 +1 @@\n-a\n+ab\n"],"captured_prompt_input":{"cursor_file_content":"a","cursor_offset":1,"cursor_row":0}}"#;
        let rows = crate::further_sources::read_rows::<ZedExample>(&row.replace('\n', ""));
        let case = rows[0].as_ref().expect("a row").case().expect("a case");
        assert_eq!((case.prefix.as_str(), case.truth.as_str(), case.suffix.as_str()), ("a", "b", ""));
        let outside = row.replace("a.go", "/a.go").replace('\n', "");
        assert!(crate::further_sources::read_rows::<ZedExample>(&outside)[0].is_err());
    }

    #[test]
    fn examples_without_their_parts_are_broken() {
        for text in [
            "",
            "# name\n",
            "## Cursor Position\n\n```../a.py\nx\n```\n",
            "## Cursor Position\n\n```a.txt\nx\n```\n",
        ] {
            assert!(matches!(zed_example(text, "name"), Err(UnusableItem::Broken(_, _))), "{text}");
        }
    }
}
