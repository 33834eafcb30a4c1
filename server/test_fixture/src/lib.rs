//! Fixtures of tests: several files in one text, a cursor in a text, the rows of golden files, and a count of
//! allocated bytes, a server of PostgreSQL. Used in tests only.
//!
//! ```text
//! //- /shop/cart.py
//! def total(items):
//!     return $0
//! //- /shop/items.py
//! class Item: ...
//! ```
//!
//! There is one notation for all crates. It knows neither languages nor formats: the caller turns paths and texts into its own types.

mod counting_allocator;
mod golden;
#[cfg(unix)]
mod postgres;

pub use counting_allocator::CountingAllocator;
pub use golden::golden_rows;
#[cfg(unix)]
pub use postgres::PostgresServer;

/// Begins the line before a section of a fixture; the section's name follows.
const SECTION: &str = "//- ";

/// Marks the cursor.
pub const CURSOR: &str = "$0";

/// Splits a fixture into its sections, as names and texts, in their order. Each begins with a line `//- NAME`.
///
/// # Panics
///
/// If there is text before the first section, or a name without a line end.
#[track_caller]
pub fn sections(fixture: &str) -> Vec<(&str, &str)> {
    let mut parts = fixture.split(SECTION);
    let before = parts.next().unwrap_or_default();
    assert!(before.trim().is_empty(), "a fixture begins with `{SECTION}NAME`, not with {before:?}");
    parts
        .map(|part| part.split_once('\n').expect("the name of a section has its own line"))
        .map(|(name, text)| (name.trim_end(), text))
        .collect()
}

/// Splits a fixture into files, as paths relative to its root and texts, in their order. Each begins with a line `//- /PATH`.
///
/// # Panics
///
/// Like [`sections`], or if a path does not begin with `/`.
#[track_caller]
pub fn files(fixture: &str) -> Vec<(&str, &str)> {
    let mut files = sections(fixture);
    for (path, _) in &mut files {
        *path = path.strip_prefix('/').expect("the path of a file begins with `/`");
    }
    files
}

/// Returns the text before and after the cursor, `$0`.
///
/// # Panics
///
/// If there is no cursor.
#[track_caller]
pub fn split_at_cursor(fixture: &str) -> (&str, &str) {
    fixture.split_once(CURSOR).expect("a fixture has a cursor `$0`")
}

/// Returns the text without the cursor, `$0`, and the cursor's offset in bytes.
///
/// # Panics
///
/// If there is no cursor.
#[track_caller]
pub fn take_cursor(fixture: &str) -> (String, usize) {
    let (before, after) = split_at_cursor(fixture);
    ([before, after].concat(), before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_sections_are_parsed_in_order() {
        assert_eq!(files("\n//- /b/c.py\nx = 1\n\n//- /a.py\n"), [("b/c.py", "x = 1\n\n"), ("a.py", "")]);
        assert_eq!(sections("//- user\r\nx = 1"), [("user", "x = 1")]);
        assert!(sections("").is_empty());
    }

    #[test]
    #[should_panic(expected = "a fixture begins with")]
    fn text_before_the_first_section_is_refused() {
        sections("x = 1\n//- /a.py\n");
    }

    #[test]
    #[should_panic(expected = "begins with `/`")]
    fn file_path_without_leading_slash_is_refused() {
        files("//- a.py\n");
    }

    #[test]
    fn cursor_marker_is_removed() {
        assert_eq!(take_cursor("é = $0\n"), ("é = \n".to_owned(), "é = ".len()));
        assert_eq!(split_at_cursor("a$0b"), ("a", "b"));
    }

    #[test]
    #[should_panic(expected = "a fixture has a cursor")]
    fn a_missing_cursor_is_refused() {
        take_cursor("x\n");
    }
}
