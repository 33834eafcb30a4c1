//! Zed's examples of edit predictions as opportunities without a truth.
//!
//! The code of the example is the whole document of the opportunity, because the rest is in another repository. Expected patches are not
//! read: they are several, and edit other places than the cursor.

use super::imported_event::{ImportedPlace, cursor_between};
use super::{Opportunity, Trigger};
use crate::{ParseError, ZedExample};

/// Name of the tool.
const TOOL: &str = "zed";

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
    let example = ZedExample::parse(text, "")?;
    let Some(place) = place_of(&example.cursor_path) else { return Ok(None) };
    let (text, cursor) = example.cursor()?;
    let (prefix, suffix) = text.split_at(cursor);
    let id = blake3::hash([TOOL, &example.cursor_path, prefix, suffix].join("\n").as_bytes());
    Ok(Some(Opportunity {
        developer: TOOL.to_owned(),
        session: TOOL.to_owned(),
        opened_at: opened_at.to_owned(),
        commit: Some(example.revision).filter(|revision| !revision.is_empty()),
        ..Opportunity::new(
            id.to_hex()[..32].to_owned(),
            Trigger::Automatic,
            cursor_between(place, prefix, suffix),
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";
    const EXAMPLE: &str =
        "+++\nrevision = \"2fec0b2\"\n+++\n\n## Cursor Position\n\n```shop/x.py\né<|user_cursor|>\n```\n";

    fn place(path: &str) -> Option<ImportedPlace> {
        path.ends_with(".py").then(|| ImportedPlace { path: path.to_owned(), language: "python".to_owned() })
    }

    #[test]
    fn an_example_is_an_opportunity_without_truth_and_answers() {
        let row = from_zed(EXAMPLE, NOW, place).expect("an example").expect("a place");
        assert_eq!((row.truths.len(), row.answers.len(), row.commit.as_deref()), (0, 0, Some("2fec0b2")));
        assert_eq!((row.opened_at.as_str(), row.cursor.character, &*row.cursor.language), (NOW, 1, "python"));
        assert_eq!((&*row.cursor.prefix, &*row.cursor.suffix, &*row.cursor.path), ("é", "\n", "shop/x.py"));
        let later = from_zed(EXAMPLE, "2026-02-02T03:04:05Z", place).expect("an example").expect("a place");
        assert_eq!(later.id, row.id, "a second import replaces the row");
        assert_eq!(from_zed(&EXAMPLE.replace("x.py", "x.txt"), NOW, place), Ok(None));
        assert!(from_zed("", NOW, place).is_err());
    }
}
