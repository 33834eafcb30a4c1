//! What history says is right at a cursor, and how each part of a file was written.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use cases::{Opportunity, Provenance, Truth};
use serde::Serialize;

use crate::scratch::FAST;

/// The right text at the cursor of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedTruth {
    /// This text, of which the commit added everything.
    Text {
        /// The text.
        text: String,
        /// Its offset in the file after the commit.
        at: usize,
    },
    /// The text before the cursor is a mistake, so that no completion is right.
    Mistake,
}

/// A part of a truth that is attributed to another provenance than the one by which it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProvenanceDifference {
    /// The part.
    pub text: String,
    /// The recorded provenance; `None` if there is none, or if the accepted text of the shown engine is attributed to another one.
    pub recorded: Option<Provenance>,
    /// How it was written; `None` if it was there before.
    pub written: Option<Provenance>,
    /// Its end in the truth.
    #[serde(skip)]
    end: usize,
}

/// The expected texts, by path and hash of the text before the cursor.
#[derive(Debug, Default)]
pub(crate) struct ExpectedTexts {
    texts: HashMap<(String, u64), ExpectedTruth>,
    /// How each byte of the files after the commits was written last, by path; `None` for text that was there before.
    provenance: HashMap<String, Vec<Option<Provenance>>>,
    /// First path of renamed files.
    first_paths: HashMap<String, String>,
}

impl ExpectedTexts {
    /// Returns the right text at the cursor of an opportunity.
    pub(crate) fn of(&self, row: &Opportunity) -> Option<&ExpectedTruth> {
        let path = self.first_path(&row.cursor.path).to_owned();
        self.texts.get(&(path, hash(&row.cursor.prefix)))
    }

    /// Returns the parts of a truth, whose text was expected at offset `at` of the file, that are attributed to another provenance than
    /// the one by which they were written. Blanks are left out: they may be those of a formatter or of the editor.
    pub(crate) fn provenance_differences(
        &self,
        row: &Opportunity,
        truth: &Truth,
        at: usize,
    ) -> Vec<ProvenanceDifference> {
        let Some(written) = self.provenance.get(self.first_path(&row.cursor.path)) else { return Vec::new() };
        let mut differences: Vec<ProvenanceDifference> = Vec::new();
        for (byte, character) in truth.text.char_indices().filter(|(_, it)| !it.is_whitespace()) {
            let how = written.get(at + byte).copied().flatten();
            let recorded = recorded_at(truth, byte);
            if how == recorded {
                continue;
            }
            let end = byte + character.len_utf8();
            match differences.last_mut() {
                Some(last) if last.end == byte && (last.recorded, last.written) == (recorded, how) => {
                    last.text.push(character);
                    last.end = end;
                }
                _ => differences.push(ProvenanceDifference {
                    text: character.into(),
                    recorded,
                    written: how,
                    end,
                }),
            }
        }
        differences
    }

    /// Notes how a part of a file was written.
    pub(super) fn note(&mut self, path: &str, range: Range<usize>, provenance: Provenance) {
        let bytes = self.provenance.entry(self.first_path(path).to_owned()).or_default();
        bytes.resize(bytes.len().max(range.end), None);
        bytes[range].fill(Some(provenance));
    }

    /// Notes the right text at the cursor after `prefix`.
    pub(super) fn expect(&mut self, path: &str, prefix: &str, expected: ExpectedTruth) {
        self.texts.insert((self.first_path(path).to_owned(), hash(prefix)), expected);
    }

    /// Notes that a file has another path from now on.
    pub(super) fn rename(&mut self, path: &str, renamed: &str) {
        self.first_paths.insert(renamed.to_owned(), self.first_path(path).to_owned());
    }

    fn first_path<'a>(&'a self, path: &'a str) -> &'a str {
        self.first_paths.get(path).map_or(path, String::as_str)
    }
}

/// Returns the provenance that is recorded for a byte of a truth. Only the shown engine has text that can be accepted.
fn recorded_at(truth: &Truth, byte: usize) -> Option<Provenance> {
    let span = truth.provenance.iter().find(|span| span.range.contains(&byte))?;
    let is_of_shown = span.provenance != Provenance::Accepted || span.arm.as_deref() == Some(FAST);
    is_of_shown.then_some(span.provenance)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use cases::{OpportunityCursor, ProvenanceSpan, Trigger, TruthStage};

    use super::*;

    /// Returns the differences for a truth whose bytes 0 to 2 were typed and 2 to 4 accepted.
    fn differences(spans: &[(Range<usize>, Provenance, Option<&str>)]) -> Vec<String> {
        let mut texts = ExpectedTexts::default();
        texts.note("a.py", 10..12, Provenance::Typed);
        texts.note("a.py", 12..14, Provenance::Accepted);
        let cursor = OpportunityCursor::at_start("python", "a.py");
        let row = Opportunity::new(String::new(), Trigger::Automatic, cursor);
        let span = |(range, provenance, arm): &(Range<usize>, Provenance, Option<&str>)| ProvenanceSpan {
            range: range.clone(),
            provenance: *provenance,
            arm: arm.map(str::to_owned),
        };
        let truth = Truth {
            stage: TruthStage::Save,
            at: 0.0,
            text: "a =1".to_owned(),
            region: "a =1".to_owned(),
            deleted: String::new(),
            deleted_before: String::new(),
            provenance: spans.iter().map(span).collect(),
            reversals: 0,
            distance: None,
        };
        let found = texts.provenance_differences(&row, &truth, 10);
        found.into_iter().map(|difference| difference.text).collect()
    }

    #[test]
    fn each_byte_has_the_provenance_by_which_it_was_written() {
        use Provenance::{Accepted, External, Pasted, Typed};
        let fast = Some(FAST);
        assert_eq!(differences(&[(0..2, Typed, None), (2..4, Accepted, fast)]), [""; 0]);
        assert_eq!(differences(&[(0..4, Typed, None)]), ["=1"]);
        assert_eq!(differences(&[(0..4, Accepted, fast)]), ["a"]);
        assert_eq!(
            differences(&[(0..1, Typed, None), (1..2, External, None), (2..4, Accepted, fast)]),
            [""; 0]
        );
        assert_eq!(differences(&[(0..3, Typed, None), (3..4, Accepted, fast)]), ["="]);
        assert_eq!(differences(&[(0..2, Pasted, None), (2..4, Accepted, fast)]), ["a"]);
        assert_eq!(differences(&[(0..2, Typed, None), (2..4, Accepted, Some("rival"))]), ["=1"]);
        assert_eq!(differences(&[(0..2, Typed, None)]), ["=1"], "nothing is recorded");
    }
}
