//! Decides when to request a completion while the user types. Pure: times come in, a time goes out.
//!
//! An answer that arrives after the next key is useful only if it begins with that key. A slow engine is therefore requested at a
//! pause, or every few keys during continuous typing: a correct answer can be typed through. A fast engine is requested immediately,
//! and so is every engine on explicit invocation.
//!
//! Time counts from the last key, so the editor's own delay (VS Code 50 ms, Neovim 200 ms) is not waited for twice.

use std::collections::VecDeque;
use std::time::Duration;

use syntax::Language;

/// Engines faster than this answer before a pause could be detected. The built-in engine is always requested immediately.
const INSTANT_RESPONSE: Duration = Duration::from_millis(30);

/// Longest pause to wait for. At slower typing the answer is visible between two keys.
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// Keys between two requests during typing without a pause.
const KEYS_PER_REQUEST: u32 = 4;

/// Longer intervals between keys are ignored: they say nothing about the typing speed.
const MAX_KEY_INTERVAL: Duration = Duration::from_secs(1);

/// Number of intervals that the rhythm is computed from: about a line.
const MAX_INTERVALS: usize = 16;

/// Minimum number of intervals for a rhythm.
const MIN_INTERVALS: usize = 3;

/// The text before the cursor, classified by how likely the user is to type on without thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorContext {
    /// Blanks only: the user is thinking.
    LineStart,
    /// A bracket, a dot, a blank after a word.
    Sign,
    /// A part of a word or a whole one.
    Word,
    /// A complete statement.
    Statement,
}

impl CursorContext {
    /// Classifies the end of `before`.
    pub fn at(language: Language, before: &str) -> CursorContext {
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let code = line.trim_end();
        if code.is_empty() {
            CursorContext::LineStart
        } else if language.statement_terminator().is_some_and(|end| code.ends_with(end)) {
            CursorContext::Statement
        } else if line.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            CursorContext::Word
        } else {
            CursorContext::Sign
        }
    }

    /// Length of a pause, as a multiple of the usual interval between keys.
    fn pause_factor(self) -> f64 {
        match self {
            CursorContext::LineStart => 0.0,
            CursorContext::Sign => 1.25,
            CursorContext::Word => 1.5,
            CursorContext::Statement => 2.0,
        }
    }
}

/// Input of the decision when no answer is known or in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebounceInput {
    /// Whether the completion was invoked explicitly.
    pub(crate) is_invoked: bool,
    /// The user's debounce setting; replaces the computed pause.
    pub(crate) configured: Option<Duration>,
    /// The engine's usual latency, if known.
    pub(crate) response: Option<Duration>,
    /// The usual interval between two keys, if known.
    pub(crate) key_interval: Option<Duration>,
    /// Time since the last key, if there was any.
    pub(crate) since_key: Option<Duration>,
    /// Time since the last request to the engine, if any.
    pub(crate) since_request: Option<Duration>,
    /// The class of the text before the cursor.
    pub(crate) cursor_context: CursorContext,
}

/// Returns how long to wait before the request if nothing happens until then; zero means now.
pub(crate) fn delay(situation: &DebounceInput) -> Duration {
    let DebounceInput {
        is_invoked,
        configured: set,
        response,
        key_interval: rhythm,
        since_key,
        since_request: since_asked,
        cursor_context: stands,
    } = *situation;
    let Some(since_key) = since_key.filter(|_| !is_invoked) else { return Duration::ZERO };
    if let Some(pause) = set {
        return pause.saturating_sub(since_key);
    }
    let is_slow = response.is_some_and(|response| response > INSTANT_RESPONSE);
    let Some(rhythm) = rhythm.filter(|rhythm| is_slow && *rhythm <= MAX_PAUSE) else {
        return Duration::ZERO;
    };
    let pause = rhythm.mul_f64(stands.pause_factor()).min(MAX_PAUSE).saturating_sub(since_key);
    let turn = since_asked.map(|since| (rhythm * KEYS_PER_REQUEST).saturating_sub(since));
    turn.map_or(pause, |turn| turn.min(pause))
}

/// The typing speed.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypingSpeed {
    /// Intervals between keys, oldest first.
    intervals: VecDeque<Duration>,
}

impl TypingSpeed {
    /// Records the interval between a key and the one before it.
    pub(crate) fn record_interval(&mut self, interval: Duration) {
        if interval < MAX_KEY_INTERVAL {
            self.intervals.push_back(interval);
            let old = self.intervals.len().saturating_sub(MAX_INTERVALS);
            self.intervals.drain(..old);
        }
    }

    /// Returns the median interval, which neither bursts nor pauses move.
    pub(crate) fn median(&self) -> Option<Duration> {
        let mut intervals: Vec<Duration> = self.intervals.iter().copied().collect();
        intervals.sort_unstable();
        (intervals.len() >= MIN_INTERVALS).then(|| intervals[intervals.len() / 2])
    }
}

/// An engine's latency, as a moving average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseTime(Option<Duration>);

impl ResponseTime {
    /// Records the latency of an answer. Later ones weigh more.
    pub fn record_answer(&mut self, took: Duration) {
        self.0 = Some(self.0.map_or(took, |usual| (usual * 3 + took) / 4));
    }

    /// Records that there was no answer yet when the request was given up after this time.
    pub fn record_timeout(&mut self, after: Duration) {
        self.0 = Some(self.0.map_or(after, |usual| usual.max(after)));
    }

    /// Returns the usual latency; `None` before the first record.
    pub fn estimate(self) -> Option<Duration> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The user types a word, a key every 120 ms; an engine with a latency of 200 ms was just requested.
    const TYPING: DebounceInput = DebounceInput {
        is_invoked: false,
        configured: None,
        response: Some(ms(200)),
        key_interval: Some(ms(120)),
        since_key: Some(ms(50)),
        since_request: Some(ms(50)),
        cursor_context: CursorContext::Word,
    };

    #[test]
    fn slow_engine_is_requested_after_a_pause() {
        for (what, situation, expected) in [
            ("in a word", TYPING, 130),
            ("behind a sign", DebounceInput { cursor_context: CursorContext::Sign, ..TYPING }, 100),
            ("behind a statement", DebounceInput { cursor_context: CursorContext::Statement, ..TYPING }, 190),
            ("on a fresh line", DebounceInput { cursor_context: CursorContext::LineStart, ..TYPING }, 0),
            ("after the pause", DebounceInput { since_key: Some(ms(180)), ..TYPING }, 0),
            ("the editor has waited", DebounceInput { since_key: Some(ms(200)), ..TYPING }, 0),
            ("no key was pressed", DebounceInput { since_key: None, ..TYPING }, 0),
            ("the longest pause", DebounceInput { key_interval: Some(ms(240)), ..TYPING }, 200),
            ("slow typing", DebounceInput { key_interval: Some(ms(260)), ..TYPING }, 0),
            ("unknown typing", DebounceInput { key_interval: None, ..TYPING }, 0),
        ] {
            assert_eq!(delay(&situation), ms(expected), "{what}");
        }
    }

    #[test]
    fn continuous_typing_sends_a_request_every_few_keys() {
        for (since_asked, expected) in [(Some(400), 80), (Some(479), 1), (Some(480), 0), (None, 130)] {
            let situation = DebounceInput { since_request: since_asked.map(ms), ..TYPING };
            assert_eq!(delay(&situation), ms(expected), "{since_asked:?}");
        }
    }

    #[test]
    fn fast_or_unknown_engine_and_invocation_are_not_delayed() {
        for situation in [
            DebounceInput { response: Some(ms(5)), ..TYPING },
            DebounceInput { response: None, ..TYPING },
            DebounceInput { is_invoked: true, ..TYPING },
            DebounceInput { is_invoked: true, configured: Some(ms(400)), ..TYPING },
        ] {
            assert_eq!(delay(&situation), Duration::ZERO, "{situation:?}");
        }
    }

    #[test]
    fn configured_pause_counts_from_last_key_for_every_engine() {
        for (set, expected) in [(0, 0), (40, 0), (400, 350)] {
            for response in [None, Some(ms(5)), Some(ms(200))] {
                let situation = DebounceInput { configured: Some(ms(set)), response, ..TYPING };
                assert_eq!(delay(&situation), ms(expected), "{situation:?}");
            }
        }
    }

    #[test]
    fn key_interval_is_the_median_without_thinking_pauses() {
        let mut rhythm = TypingSpeed::default();
        for interval in [100, 5000, 120] {
            rhythm.record_interval(ms(interval));
        }
        assert_eq!(rhythm.median(), None);
        rhythm.record_interval(ms(700));
        assert_eq!(rhythm.median(), Some(ms(120)));
        (0..MAX_INTERVALS).for_each(|_| rhythm.record_interval(ms(90)));
        assert_eq!(rhythm.median(), Some(ms(90)));
    }

    #[test]
    fn timeouts_are_lower_bounds_of_the_response_time() {
        let mut response = ResponseTime::default();
        response.record_timeout(ms(80));
        assert_eq!(response.estimate(), Some(ms(80)));
        response.record_answer(ms(200));
        assert_eq!(response.estimate(), Some(ms(110)));
        response.record_timeout(ms(50));
        assert_eq!(response.estimate(), Some(ms(110)));
        response.record_timeout(ms(150));
        assert_eq!(response.estimate(), Some(ms(150)));
    }

    #[test]
    fn cursor_context_is_read_from_the_current_line() {
        for (language, before, stands) in [
            (Language::Python, "", CursorContext::LineStart),
            (Language::Python, "x = 1\n    ", CursorContext::LineStart),
            (Language::Python, "total", CursorContext::Word),
            (Language::Python, "x = größ", CursorContext::Word),
            (Language::Python, "x = ", CursorContext::Sign),
            (Language::Python, "f(", CursorContext::Sign),
            (Language::Java, "int x = 1;", CursorContext::Statement),
            (Language::Java, "int x = 1; ", CursorContext::Statement),
            (Language::Python, "x = 1;", CursorContext::Sign),
        ] {
            assert_eq!(CursorContext::at(language, before), stands, "{before:?}");
        }
    }
}
