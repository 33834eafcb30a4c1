//! Compares recorded truths with the added texts of commits.

use std::collections::BTreeMap;

use cases::{Opportunity, Truth};
use serde::Serialize;

use crate::editor::{ExpectedTexts, ExpectedTruth, ProvenanceDifference};
use crate::typist::STRAY_BLANKS;

/// Maximum number of wrong truths that are kept as examples.
const MAX_EXAMPLES: usize = 20;

/// Results of a simulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SimulationResults {
    /// All languages together.
    pub all: LanguageResults,
    /// By name of the language.
    pub languages: BTreeMap<String, LanguageResults>,
    /// Some truths that differ from the commit, or are attributed to others than those who wrote them.
    pub wrong: Vec<WrongTruth>,
    /// Some opportunities without a truth and without a reason.
    pub silent: Vec<WrongTruth>,
    /// Stored rows at a cursor where nothing was requested.
    pub unknown: usize,
    /// Number of answers by arm and status.
    pub answers: BTreeMap<String, usize>,
    /// About the server.
    pub server: ServerFacts,
}

/// Facts about the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ServerFacts {
    /// Hours of typing.
    pub hours: f64,
    /// Number of times that it was killed.
    pub kills: u32,
    /// Its resources after half an hour and at the end; `None` if it was killed in between, or the system does not report it.
    pub resources: Option<[ServerResources; 2]>,
}

/// The resources of the server at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ServerResources {
    /// Resident memory.
    pub resident_bytes: u64,
    /// Resident memory of a server that starts at this time with the same files: a workspace changes during a day, and its index with it.
    pub new_server_bytes: u64,
    /// Number of threads.
    pub threads: u64,
    /// Number of open files and connections.
    pub open_files: u64,
}

/// Counts of opportunities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LanguageResults {
    /// Opportunities.
    pub opportunities: usize,
    /// Those with a truth.
    pub with_truth: usize,
    /// Truths that are exactly the text of the commit.
    pub right: usize,
    /// Truths that are something else.
    pub wrong: usize,
    /// Truths with the right text, of which a part is attributed to another provenance than the one by which it was written.
    pub wrong_provenance: usize,
    /// Opportunities without a truth, whose end has no reason.
    pub silent: usize,
    /// Opportunities without a truth, by reason.
    pub lost: BTreeMap<&'static str, usize>,
    /// Truths of each stage. Those of an early stage may end where the developer stopped for a while.
    pub stages: BTreeMap<&'static str, StageCounts>,
}

/// Truths of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StageCounts {
    /// Truths.
    pub truths: usize,
    /// Those that are exactly the text of the commit.
    pub right: usize,
}

impl SimulationResults {
    /// Adds the results of another simulation.
    pub fn add(&mut self, other: SimulationResults) {
        self.all.add_all(&other.all);
        for (name, counts) in &other.languages {
            self.languages.entry(name.clone()).or_default().add_all(counts);
        }
        self.wrong.extend(other.wrong);
        self.wrong.truncate(MAX_EXAMPLES);
        self.silent.extend(other.silent);
        self.silent.truncate(MAX_EXAMPLES);
        self.unknown += other.unknown;
        for (answer, count) in other.answers {
            *self.answers.entry(answer).or_default() += count;
        }
        self.server.hours += other.server.hours;
        self.server.kills += other.server.kills;
        self.server.resources = other.server.resources;
    }
}

/// A truth that differs from the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongTruth {
    /// Commit and path.
    pub path: String,
    /// The end of the text before the cursor.
    pub before: String,
    /// The recorded text.
    pub recorded: String,
    /// All text of the region.
    pub region: String,
    /// The text that the commit adds after the cursor.
    pub expected: String,
    /// The last stage.
    pub stage: &'static str,
    /// The parts that are attributed to others than those who wrote them.
    pub provenance: Vec<ProvenanceDifference>,
}

/// Judges all rows of a store.
pub(crate) fn judge(rows: &[Opportunity], texts: &ExpectedTexts, server: ServerFacts) -> SimulationResults {
    let mut results = SimulationResults { server, ..SimulationResults::default() };
    for row in rows {
        let Some(expected) = texts.of(row) else {
            results.unknown += 1;
            continue;
        };
        for answer in &row.answers {
            let name = format!("{} {}", answer.arm, answer.status.name());
            *results.answers.entry(name).or_default() += 1;
        }
        let differences = provenance_differences(row, expected, texts);
        let verdict = Verdict::of(row, expected, &differences);
        for counts in [&mut results.all, results.languages.entry(row.cursor.language.clone()).or_default()] {
            counts.add(row, expected, verdict);
        }
        match verdict {
            Verdict::Wrong | Verdict::WrongProvenance if results.wrong.len() < MAX_EXAMPLES => {
                let wrong = row.truth().map(|truth| example(row, Some(truth), expected));
                results.wrong.extend(wrong.map(|wrong| WrongTruth { provenance: differences, ..wrong }));
            }
            Verdict::Silent if results.silent.len() < MAX_EXAMPLES => {
                results.silent.push(example(row, None, expected));
            }
            _ => {}
        }
    }
    results
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    WrongProvenance,
    Lost,
    Silent,
}

impl Verdict {
    fn of(row: &Opportunity, expected: &ExpectedTruth, differences: &[ProvenanceDifference]) -> Verdict {
        let Some(truth) = row.truth() else {
            return if row.lost.is_some() { Verdict::Lost } else { Verdict::Silent };
        };
        match expected {
            _ if row.lost.is_some() && is_unformatted(row, truth, expected) => Verdict::Lost,
            _ if !is_right(row, truth, expected) => Verdict::Wrong,
            _ if !differences.is_empty() => Verdict::WrongProvenance,
            ExpectedTruth::Text { .. } | ExpectedTruth::Mistake => Verdict::Right,
        }
    }
}

fn is_right(row: &Opportunity, truth: &Truth, expected: &ExpectedTruth) -> bool {
    match expected {
        ExpectedTruth::Mistake => truth.text.is_empty(),
        ExpectedTruth::Text { text, .. } => {
            truth.deleted_before.is_empty() && is_beginning(&row.cursor.prefix, &truth.text, text)
        }
    }
}

/// Whether a truth of an early stage has blanks that a formatter removed when the opportunity was not followed any more: the server was
/// killed in between.
fn is_unformatted(row: &Opportunity, truth: &Truth, expected: &ExpectedTruth) -> bool {
    let without = |line| str::strip_suffix(line, STRAY_BLANKS).unwrap_or(line);
    let text = truth.text.split('\n').map(without).collect::<Vec<_>>().join("\n");
    let formatted = Truth { text, ..truth.clone() };
    formatted.text != truth.text && is_right(row, &formatted, expected)
}

/// Whether a truth is the beginning of the added text, and ends where code ends: at the end of a line, of the header of a block, before a
/// comment, or before nothing but brackets and separators. It is empty only if nothing was added on the line.
fn is_beginning(prefix: &str, truth: &str, added: &str) -> bool {
    let Some(rest) = added.strip_prefix(truth) else { return false };
    let line = rest.split('\n').next().unwrap_or_default().trim();
    let is_comment = ["#", "//", "/*"].iter().any(|mark| line.starts_with(mark));
    let ends = is_comment || line.chars().all(|character| ")]}>;,:{".contains(character));
    // Before a block, the truth is the whole block; inside its header, it is the rest of the header.
    let is_inside_line = !last_line(prefix, "").trim().is_empty();
    ends || is_body(truth, line)
        || is_inside_line && !truth.trim().is_empty() && ends_header(&last_line(prefix, truth))
}

/// Returns the last line of a text in two parts.
fn last_line(first: &str, second: &str) -> String {
    let joined = [first.rsplit('\n').next().unwrap_or_default(), second].concat();
    joined.rsplit('\n').next().unwrap_or_default().to_owned()
}

/// Whether a truth is the body of a block, or the rest of one, whose closing brace follows on the same line: ` { a` or `a` before
/// ` } else { b }`.
fn is_body(truth: &str, rest: &str) -> bool {
    let body = truth.trim();
    rest.starts_with('}') && !body.is_empty() && is_balanced(body.strip_prefix('{').unwrap_or(body))
}

/// Whether all brackets of a text are opened and closed in it.
fn is_balanced(text: &str) -> bool {
    let mut open = Vec::new();
    let closes_last = text.chars().all(|character| match character {
        '(' | '[' | '{' => {
            open.push(character);
            true
        }
        ')' => open.pop() == Some('('),
        ']' => open.pop() == Some('['),
        '}' => open.pop() == Some('{'),
        _ => true,
    });
    closes_last && open.is_empty()
}

/// Whether the header of a block needs no brackets around its condition: `if a.b`, `for x in y`, as in Rust and Go.
fn is_bare_header(header: &str) -> bool {
    ["if", "for", "while", "match", "switch"].iter().any(|keyword| {
        header.match_indices(keyword).any(|(at, _)| {
            let condition = &header[at + keyword.len()..];
            last_word(&header[..at + keyword.len()]) == *keyword
                && condition.starts_with(' ')
                && !condition.contains('{')
                && is_balanced(condition)
        })
    })
}

/// Whether a line ends with the header of a block, whose body may follow on the same line: `if (a)`, `int size() {`.
fn ends_header(line: &str) -> bool {
    let line = line.trim_end();
    match line.strip_suffix('{').map(str::trim_end) {
        Some(header) => {
            let is_keyword = ["else", "try", "do"].iter().any(|word| header.ends_with(word));
            header.ends_with(')') || is_keyword || is_bare_header(header)
        }
        None => condition_start(line).is_some_and(|start| {
            ["if", "for", "while", "switch", "catch"].contains(&last_word(&line[..start]))
        }),
    }
}

/// Returns the offset of the bracket that the last character of a line closes.
fn condition_start(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, character) in line.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' if depth == 1 => return Some(offset),
            '(' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.rfind(|character: char| !character.is_alphanumeric() && character != '_');
    &text[start.map_or(0, |start| start + 1)..]
}

/// Returns the parts of a right truth that are attributed to others than those who wrote them.
fn provenance_differences(
    row: &Opportunity,
    expected: &ExpectedTruth,
    texts: &ExpectedTexts,
) -> Vec<ProvenanceDifference> {
    let ExpectedTruth::Text { at, .. } = expected else { return Vec::new() };
    let right = row.truth().filter(|truth| is_right(row, truth, expected));
    right.map(|truth| texts.provenance_differences(row, truth, *at)).unwrap_or_default()
}

impl LanguageResults {
    fn add_all(&mut self, other: &LanguageResults) {
        self.opportunities += other.opportunities;
        self.with_truth += other.with_truth;
        self.right += other.right;
        self.wrong += other.wrong;
        self.wrong_provenance += other.wrong_provenance;
        self.silent += other.silent;
        for (reason, count) in &other.lost {
            *self.lost.entry(reason).or_default() += count;
        }
        for (stage, counts) in &other.stages {
            let all = self.stages.entry(stage).or_default();
            all.truths += counts.truths;
            all.right += counts.right;
        }
    }

    fn add(&mut self, row: &Opportunity, expected: &ExpectedTruth, verdict: Verdict) {
        self.opportunities += 1;
        self.with_truth += usize::from(row.truth().is_some());
        for truth in &row.truths {
            let stage = self.stages.entry(truth.stage.name()).or_default();
            stage.truths += 1;
            stage.right += usize::from(is_right(row, truth, expected));
        }
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Wrong => self.wrong += 1,
            Verdict::WrongProvenance => self.wrong_provenance += 1,
            Verdict::Silent => self.silent += 1,
            Verdict::Lost => {
                if let Some(reason) = row.lost {
                    *self.lost.entry(reason.name()).or_default() += 1;
                }
            }
        }
    }
}

fn example(row: &Opportunity, truth: Option<&Truth>, expected: &ExpectedTruth) -> WrongTruth {
    let prefix = &row.cursor.prefix;
    let start = prefix.char_indices().rev().nth(40).map_or(0, |(start, _)| start);
    WrongTruth {
        path: row.cursor.path.clone(),
        before: prefix[start..].to_owned(),
        recorded: truth.map(|truth| truth.text.clone()).unwrap_or_default(),
        region: truth.map(|truth| truth.region.clone()).unwrap_or_default(),
        expected: match expected {
            ExpectedTruth::Text { text, .. } => text.clone(),
            ExpectedTruth::Mistake => String::new(),
        },
        stage: truth.map_or("", |truth| truth.stage.name()),
        provenance: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_end_where_code_ends() {
        let ends = |prefix, truth, rest: &str| is_beginning(prefix, truth, &[truth, rest].concat());
        assert!(ends("x = ", "a + 1", "\ny = 2"));
        assert!(ends("x = f(", "a", ");"));
        assert!(ends("x = ", "a", "  # why"));
        assert!(ends("    i", "f (error)", " *error = FAILED;"));
        assert!(ends("    } else if (a", " && (b))", " return;"));
        assert!(ends("    static ", "void clear() {", " get().clear(); }"));
        assert!(ends("} el", "se {", " b(); }"));
        assert!(ends("    rules: if c", "ontexts.faithful {", " Faithful } else { Paper },"));
        assert!(ends("    if a.is_empty()", " { trust", " } else { probability }"));
        assert!(ends("    if a.is_empty() {", " trust", " } else { probability }"));
        assert!(ends("    if a { list.pu", "sh(b)", " } else { other.push(b) }"));
        assert!(!ends("    if a { list.pu", "sh(b", ") } else { other.push(b) }"));
        assert!(!ends("    if a.is_empty() {", "", " trust } else { probability }"));
        assert!(!ends("    if a.is_empty()", " { f(", " } else { probability }"));
        assert!(!ends("    let size = S", "ize {", " width }"));
        assert!(!ends("    let notif = S", "ize {", " width }"));
        assert!(!ends("x = ", "a", " + 1"));
        assert!(!ends("x = g", "(a)", " + 1"));
        assert!(!ends("if (a && f", "(b)", " && c) return;"));
        assert!(!ends("x = ", "{", " a: 1 }"));
        assert!(!ends("f(", "{", " a: 1 })"));
        assert!(!ends("if (a)", "", " return;"));
        assert!(!ends("x", "a)", " + 1"));
        assert!(!ends("    ", "if (error)", " return;"));
    }
}
