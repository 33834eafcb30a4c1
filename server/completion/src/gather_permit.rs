//! Limits the work on context: one request of a document at a time, and a bounded part of its text.

use std::borrow::Cow;
use std::sync::Arc;

use index::CancelFlag;
use syntax::{Language, SyntaxCache};
use tokio::sync::Semaphore;

use crate::run_blocking::run_blocking;

/// Maximum length in bytes of the text parsed and searched with, before and after the cursor: thousands of lines. A parse of unmatched
/// brackets takes some hundred times its text in memory, which this bounds to some tens of megabytes.
const MAX_BEFORE: usize = 96 << 10;
const MAX_AFTER: usize = 32 << 10;
/// Length in bytes of a larger file's beginning that is searched for imports: longer than the longest licences. Counts towards
/// [`MAX_BEFORE`].
const MAX_HEAD: usize = 32 << 10;

/// Permit for gathering context: one request of a document at a time; cheap to clone.
#[derive(Clone, Debug)]
pub struct GatherPermit(Arc<Semaphore>);

impl Default for GatherPermit {
    fn default() -> GatherPermit {
        GatherPermit(Arc::new(Semaphore::new(1)))
    }
}

impl GatherPermit {
    /// Runs `work` by [`run_blocking`] after the previous request's work has ended. `None` if it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        turn: Option<GatherPermit>,
        work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
    ) -> Option<T> {
        let permit = match turn {
            Some(GatherPermit(turn)) => Some(turn.acquire_owned().await.ok()?),
            None => None,
        };
        let working = run_blocking(move |cancel| {
            // Held until the work ends, even if its request no longer waits for it.
            let _permit = permit;
            work(cancel)
        });
        working.await.ok()
    }
}

/// Returns the text around a cursor that is parsed and searched with, in whole lines unless they are too long. For a large file: the
/// lines near the cursor, and the file's beginning up to its last import.
pub(crate) fn nearby_text<'a>(
    syntax: &SyntaxCache,
    language: Language,
    prefix: &'a str,
    suffix: &'a str,
) -> (Cow<'a, str>, &'a str) {
    let end = suffix.floor_char_boundary(MAX_AFTER);
    let after = &suffix[..end];
    let after =
        if end == suffix.len() { after } else { after.rsplit_once('\n').map_or(after, |(lines, _)| lines) };
    if prefix.len() <= MAX_BEFORE {
        return (prefix.into(), after);
    }
    let head = imports(syntax, language, prefix);
    let start = prefix.ceil_char_boundary(prefix.len() - (MAX_BEFORE - head.len()));
    let before = &prefix[start..];
    let before = before.split_once('\n').map_or(before, |(_, lines)| lines);
    (if head.is_empty() { before.into() } else { [head, before].concat().into() }, after)
}

/// Returns the file's beginning up to the definition after its last import, in whole lines. Empty if the head of the file has no
/// imports.
fn imports<'a>(syntax: &SyntaxCache, language: Language, text: &'a str) -> &'a str {
    let head = &text[..text.floor_char_boundary(MAX_HEAD)];
    let head = head.rfind('\n').map_or("", |end| &head[..=end]);
    let outline = syntax.outline_of_head(language, head);
    let lines: Vec<usize> =
        std::iter::once(0).chain(head.match_indices('\n').map(|(end, _)| end + 1)).collect();
    let ranges = || outline.definitions.iter().map(|definition| &definition.range);
    let is_outer =
        |at: &usize| !ranges().any(|range| (range.start as usize) < *at && *at < range.end as usize);
    let imports = outline.imports.iter().filter_map(|import| lines.get(import.line as usize..));
    let Some(last) =
        imports.filter(|lines| lines.first().is_some_and(is_outer)).min_by_key(|lines| lines.len())
    else {
        return "";
    };
    let behind = last.get(1).copied().unwrap_or(head.len());
    let next = ranges().map(|range| range.start as usize).filter(|start| *start >= behind).min();
    &head[..next.and_then(|at| lines.iter().rev().find(|line| **line <= at).copied()).unwrap_or(head.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_text_is_limited_to_lines_near_the_cursor() {
        let lines = "x = [1]\n".repeat(100_000);
        let near = |before, after| nearby_text(&SyntaxCache::default(), Language::Python, before, after);
        let (before, after) = near(&lines, &lines);
        assert!(before.len() <= MAX_BEFORE && after.len() <= MAX_AFTER);
        assert!(before.starts_with("x = ") && after.ends_with("[1]"));
        let (before, after) = near("é[", "]é");
        assert_eq!((&*before, after), ("é[", "]é"));
        let brackets = "é[".repeat(1 << 20);
        let (before, after) = near(&brackets, &brackets);
        assert!(before.len() <= MAX_BEFORE && after.len() <= MAX_AFTER && !before.is_empty());
    }

    #[test]
    fn imports_of_a_large_file_are_kept() {
        let licence = |comment: &str| format!("{comment} All rights are reserved.\n").repeat(200);
        for (language, head, definition) in [
            (
                Language::Python,
                "import os\nfrom shop import (\n    Cart,\n    Item,\n)\n\n",
                "def f():\n    pass\n",
            ),
            (Language::Go, "package shop\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n", "func f() {\n}\n"),
            (Language::Rust, "use std::{\n    fs,\n    io,\n};\n", "fn f() {\n}\n"),
            (Language::TypeScript, "import {\n  a,\n  b,\n} from './c';\n\n", "function f() {\n}\n"),
            (Language::Java, "package shop;\n\nimport java.util.List;\n\n", "class A {\n}\n"),
            (Language::C, "#include <stdio.h>\n#include \"shop.h\"\n\n", "int f(void) {\n}\n"),
        ] {
            let comment = if language == Language::Python { "#" } else { "//" };
            let head = licence(comment) + head;
            let text = head.clone() + &definition.repeat(20_000);
            let (before, _) = nearby_text(&SyntaxCache::default(), language, &text, "");
            assert!(before.len() <= MAX_BEFORE, "{language:?}");
            let rest =
                before.strip_prefix(&*head).unwrap_or_else(|| panic!("{language:?}: {}", &before[..9_000]));
            assert!(text.ends_with(rest) && rest.len() > MAX_BEFORE / 2, "{language:?}");
        }
        let text = "x = 1\n".repeat(100_000);
        let (before, _) = nearby_text(&SyntaxCache::default(), Language::Python, &text, "");
        assert!(text.ends_with(&*before), "without imports the end alone");
    }
}
