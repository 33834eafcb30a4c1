//! Zed's examples of edit predictions as cases.
//!
//! The code is the excerpt around the cursor, or the whole file where it was captured. An example with several accepted patches is a case
//! if one of them is an insertion at the cursor.

use cases::{Case, ZedExample};
use syntax::Language;

use super::UnusableItem;
use super::insertion::{NO_INSERTION, inserted, task_before};
use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::{BenchmarkItem, check_path};

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
    let example = ZedExample::parse(text, name)
        .map_err(|problem| UnusableItem::Broken(problem.line, problem.message))?;
    example.check().map_err(|reason| UnusableItem::Broken(example.cursor_line, reason))?;
    Ok(example)
}

/// Returns the case of an example.
///
/// # Errors
///
/// The cursor is missing, or no expected edit is an insertion there.
pub fn zed_case(example: &ZedExample) -> Result<Case, UnusableItem> {
    let (text, cursor) =
        example.cursor().map_err(|problem| UnusableItem::Broken(problem.line, problem.message))?;
    let broken = |reason: &str| UnusableItem::Broken(1, reason.to_owned());
    let language = Language::from_path(&example.cursor_path);
    let language = language.ok_or_else(|| broken("the file is in no supported language"))?;
    let mut truths = example.expected_patches.iter().filter_map(|patch| insertion(patch, &text, cursor));
    let truth = truths.next().ok_or(UnusableItem::LeftOut(NO_INSERTION))?;
    let (prefix, suffix) = text.split_at(cursor);
    let case = imported_case(CaseParts {
        benchmark: "zed",
        id: &example.name,
        repository: Some(&example.repository_url).filter(|url| !url.is_empty()).map(String::as_str),
        task: task_before(suffix),
        language,
        block_kind: None,
        path: &example.cursor_path,
        prefix,
        suffix,
        truth: &truth,
        context: Vec::new(),
    });
    let mut case = case.ok_or_else(|| broken("the code is too long"))?;
    case.origin.commit = Some(example.revision.clone()).filter(|revision| !revision.is_empty());
    Ok(case)
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

/// Beginnings of the lines before the first hunk of a diff.
const HEADERS: [&str; 4] = ["--- ", "+++ ", "diff ", "index "];

/// Returns the hunk of a diff with one.
fn only_hunk(patch: &str) -> Option<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    for line in patch.lines() {
        if line.starts_with("@@") {
            hunks.push(Hunk::default());
            continue;
        }
        if hunks.is_empty() {
            if HEADERS.iter().any(|header| line.starts_with(header)) {
                continue;
            }
            // Some diffs have no line `@@`.
            hunks.push(Hunk::default());
        }
        // Lines that begin otherwise are marks of the cursor and notes about line ends.
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
        zed_example(&[EXAMPLE, &blocks].concat(), "name").and_then(|example| zed_case(&example))
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
        let bare = "--- a/x\n+++ b/x\n a\n b\n+x\n c\n";
        assert_eq!(insertion(bare, text, 4).as_deref(), Some("x\n"));
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
    fn rows_have_the_same_parts() {
        let row = r#"{"name":"n","repository_url":"u","revision":"r","cursor_path":"a.go","cursor_position":"","edit_history":"",
            "expected_patches":["@@ -1 +1 @@\n-a\n+ab\n"],"captured_prompt_input":{"cursor_file_content":"a","cursor_offset":1,"cursor_row":0}}"#;
        let rows = crate::further_sources::read_rows::<ZedExample>(&row.replace('\n', ""));
        let case = zed_case(rows[0].as_ref().expect("a row")).expect("a case");
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
