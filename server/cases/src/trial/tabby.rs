//! The events of a Tabby server: lines of JSON, a completion and then whether it was seen, selected or dismissed, as opportunities without
//! a truth.
//!
//! A completion without a file is left out, because its place in the workspace is unknown. Of several choices, the selected or seen one
//! counts. Tabby records no latency.

use std::collections::HashMap;

use serde::Deserialize;

use super::imported_event::{ImportedEvent, ImportedPlace};
use super::{AcceptedPart, Opportunity, OutcomeKind, timestamp};
use crate::{ParseError, parse_line};

/// A line of the log. Fields that are not used are ignored.
#[derive(Deserialize)]
struct LogLine {
    /// Milliseconds since 1970.
    ts: u64,
    user: Option<String>,
    event: Event,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Completion(Completion),
    View(Reaction),
    Select(Reaction),
    Dismiss(Reaction),
    #[serde(untagged)]
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Completion {
    completion_id: String,
    segments: Option<Segments>,
    #[serde(default)]
    choices: Vec<Choice>,
    user: Option<String>,
}

#[derive(Deserialize)]
struct Segments {
    prefix: String,
    #[serde(default)]
    suffix: Option<String>,
    filepath: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    index: u32,
    text: String,
}

#[derive(Deserialize)]
struct Reaction {
    completion_id: String,
    #[serde(default)]
    choice_index: u32,
    /// `line` if only the first line was accepted.
    kind: Option<String>,
    /// Time that it was visible, in ms.
    elapsed: Option<f64>,
}

/// A completion with the reactions so far.
struct Offer {
    ts: u64,
    user: Option<String>,
    completion: Completion,
    place: ImportedPlace,
    choice: u32,
    /// When it was first seen, in ms since 1970.
    shown_at: Option<u64>,
    visible: Option<f64>,
    outcome: OutcomeKind,
    is_line: bool,
}

/// The opportunities of a log.
#[derive(Debug, PartialEq)]
pub struct TabbyLog {
    /// The completions, in the order of the log.
    pub rows: Vec<Opportunity>,
    /// Completions without code or without a place in this workspace.
    pub left_out: usize,
}

/// Parses the lines of a log.
///
/// # Errors
/// The first line that is no event.
pub fn from_tabby(
    text: &str,
    place_of: impl Fn(&str) -> Option<ImportedPlace>,
) -> Result<TabbyLog, ParseError> {
    let mut offers: Vec<Offer> = Vec::new();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    let mut left_out = 0;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let LogLine { ts, user, event } = parse_line(line, index + 1)?;
        match event {
            Event::Completion(completion) => match offer(ts, user, completion, &place_of) {
                Some(offer) => {
                    by_id.insert(offer.completion.completion_id.clone(), offers.len());
                    offers.push(offer);
                }
                None => left_out += 1,
            },
            Event::View(reaction) => react(&mut offers, &by_id, ts, OutcomeKind::Shown, &reaction),
            Event::Select(reaction) => react(&mut offers, &by_id, ts, OutcomeKind::Accepted, &reaction),
            Event::Dismiss(reaction) => react(&mut offers, &by_id, ts, OutcomeKind::Rejected, &reaction),
            Event::Other(_) => {}
        }
    }
    let number = offers.len();
    let rows: Vec<Opportunity> = offers.into_iter().filter_map(opportunity).collect();
    left_out += number - rows.len();
    Ok(TabbyLog { rows, left_out })
}

fn offer(
    ts: u64,
    user: Option<String>,
    completion: Completion,
    place_of: impl Fn(&str) -> Option<ImportedPlace>,
) -> Option<Offer> {
    let place = place_of(completion.segments.as_ref()?.filepath.as_deref()?)?;
    let user = user.or_else(|| completion.user.clone()).filter(|user| !user.is_empty());
    let choice = completion.choices.first().map_or(0, |choice| choice.index);
    let outcome = OutcomeKind::NotShown;
    Some(Offer {
        ts,
        user,
        completion,
        place,
        choice,
        shown_at: None,
        visible: None,
        outcome,
        is_line: false,
    })
}

/// Notes a reaction. A completion that was selected stays selected: editors dismiss the rest of it afterwards.
fn react(
    offers: &mut [Offer],
    by_id: &HashMap<String, usize>,
    ts: u64,
    outcome: OutcomeKind,
    reaction: &Reaction,
) {
    let known = by_id.get(&reaction.completion_id).and_then(|&index| offers.get_mut(index));
    let Some(offer) = known.filter(|offer| offer.outcome != OutcomeKind::Accepted) else { return };
    if outcome == OutcomeKind::Shown {
        offer.shown_at = offer.shown_at.or(Some(ts));
    }
    if outcome != OutcomeKind::Shown || offer.outcome == OutcomeKind::NotShown {
        offer.outcome = outcome;
    }
    offer.choice = reaction.choice_index;
    offer.visible = reaction.elapsed.or(offer.visible);
    offer.is_line = reaction.kind.as_deref() == Some("line");
}

fn opportunity(offer: Offer) -> Option<Opportunity> {
    let opened_at = timestamp::from_ms(offer.ts)?;
    let segments = offer.completion.segments.as_ref()?;
    let chosen = offer.completion.choices.iter().find(|choice| choice.index == offer.choice);
    let text = chosen.map_or("", |choice| choice.text.as_str());
    let accepted = match (offer.outcome, offer.is_line) {
        (OutcomeKind::Accepted, true) => text.lines().next().unwrap_or_default(),
        (OutcomeKind::Accepted, false) => text,
        _ => "",
    };
    let event = ImportedEvent {
        tool: "tabby",
        id: &offer.completion.completion_id,
        opened_at,
        developer: offer.user.as_deref().unwrap_or("tabby"),
        place: offer.place,
        prefix: &segments.prefix,
        suffix: segments.suffix.as_deref().unwrap_or_default(),
        provider: None,
        model: None,
        completion: text,
        total_ms: 0.0,
        cached: false,
        outcome: offer.outcome,
        accepted_chars: accepted.chars().count(),
    };
    let mut row = event.into_opportunity();
    row.outcome.shown_at = offer.shown_at.map(|at| at.saturating_sub(offer.ts) as f64);
    row.outcome.visible = offer.visible;
    row.outcome.item = (row.outcome.kind != OutcomeKind::NotShown).then_some(offer.choice);
    if offer.outcome == OutcomeKind::Accepted {
        row.outcome.parts = vec![if offer.is_line { AcceptedPart::Line } else { AcceptedPart::Full }];
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exposure;

    const COMPLETION: &str = r#"{"user":"ann","ts":1767323045678,"event":{"completion":{"completion_id":"c1","language":"python","prompt":"<fim>","segments":{"prefix":"def f():\n    ","suffix":"\n","filepath":"a.py","git_url":"g"},"choices":[{"index":0,"text":"return 1"},{"index":1,"text":"x = 1\n    return x"}],"user_agent":"vim"}}}"#;

    fn log(text: &str) -> TabbyLog {
        let place = |path: &str| Some(ImportedPlace { path: path.to_owned(), language: "python".to_owned() });
        from_tabby(text, place).expect("a log")
    }

    #[test]
    fn the_selected_choice_is_the_answer_and_stays_accepted() {
        let select = r#"{"ts":1767323046678,"event":{"select":{"completion_id":"c1","choice_index":1,"kind":"line","view_id":"v","elapsed":900}}}"#;
        let view = r#"{"ts":1767323045778,"event":{"view":{"completion_id":"c1","choice_index":1}}}"#;
        let dismiss = r#"{"ts":1767323046700,"event":{"dismiss":{"completion_id":"c1","choice_index":1}}}"#;
        let rows = log(&[COMPLETION, view, select, dismiss].join("\n")).rows;
        let row = &rows[0];
        assert_eq!((row.answers[0].text.as_str(), row.developer.as_str()), ("x = 1\n    return x", "ann"));
        assert_eq!((row.outcome.kind, row.outcome.accepted_chars), (OutcomeKind::Accepted, 5));
        assert_eq!((row.outcome.shown_at, row.outcome.visible), (Some(100.0), Some(900.0)));
        assert_eq!(
            (row.outcome.parts.as_slice(), row.outcome.item),
            ([AcceptedPart::Line].as_slice(), Some(1))
        );
        assert_eq!((row.exposure, row.cursor.line, row.cursor.character), (Exposure::Accepted, 1, 4));
        assert_eq!(row.opened_at, "2026-01-02T03:04:05.678Z");
    }

    #[test]
    fn a_completion_without_reaction_was_not_shown() {
        let other = r#"{"ts":1,"event":{"chat_completion":{"completion_id":"x"}}}"#;
        let unknown = r#"{"ts":1,"event":{"select":{"completion_id":"nobody's","choice_index":9}}}"#;
        let log = log(&[other, "", COMPLETION, unknown].join("\n"));
        assert_eq!((log.rows.len(), log.left_out), (1, 0));
        assert_eq!((log.rows[0].outcome.kind, log.rows[0].exposure), (OutcomeKind::NotShown, Exposure::None));
    }

    #[test]
    fn completions_without_a_file_are_counted_and_broken_lines_are_named() {
        assert_eq!(log(&COMPLETION.replace(r#","filepath":"a.py""#, "")).left_out, 1);
        let error = from_tabby(&format!("{COMPLETION}\n{{\"ts\":1}}"), |_| None).expect_err("no event");
        assert_eq!(error.line, 2);
    }
}
