//! When an engine is asked while somebody types. Pure: times come in, a time goes out.
//!
//! An answer that is not there before the next key comes is of use only if that key was part of it. So a slow engine is asked when a
//! pause has begun, or else now and then while somebody types on and on: an answer that is right is typed along. A fast one is asked at
//! once, and so is every engine that a person asks by key.
//!
//! Time counts from the last key, so what an editor waited by itself (VS Code 50 ms, Neovim 200 ms) is not waited again.

use std::collections::VecDeque;
use std::time::Duration;

use syntax::Language;

/// Faster answers are there before anybody could have made out a pause; the embedded engine is asked at once in any case.
const INSTANT_RESPONSE: Duration = Duration::from_millis(30);

/// A pause is no longer waited for than this: who types slower than that sees the answer between two keys.
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// Keys from one question to the next while somebody types without a pause.
const KEYS_PER_REQUEST: u32 = 4;

/// Keys that are further apart say nothing of how fast somebody types.
const MAX_KEY_INTERVAL: Duration = Duration::from_secs(1);

/// Intervals that a rhythm is made from: a line or so.
const MAX_INTERVALS: usize = 16;

/// Fewer intervals than this are no rhythm yet.
const MIN_INTERVALS: usize = 3;

/// What stands before the cursor, by how likely it is that somebody types on without a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorContext {
    /// Blanks alone: what comes next is thought about.
    LineStart,
    /// A bracket, a dot, a blank behind a word.
    Sign,
    /// A part of a word, or a whole one.
    Word,
    /// A statement that has ended.
    Statement,
}

impl CursorContext {
    /// What stands at the end of `gate_before`.
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

    /// How many times the usual interval between keys makes a pause.
    fn pause_factor(self) -> f64 {
        match self {
            CursorContext::LineStart => 0.0,
            CursorContext::Sign => 1.25,
            CursorContext::Word => 1.5,
            CursorContext::Statement => 2.0,
        }
    }
}

/// What is known when an answer is wanted that nobody has and nobody is writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebounceInput {
    /// Whether a person asked by key.
    pub(crate) is_invoked: bool,
    /// The pause that the user has set, in the place of all that is decided here.
    pub(crate) configured: Option<Duration>,
    /// How long the engine takes for an answer, as far as that is known.
    pub(crate) response: Option<Duration>,
    /// The usual time between two keys, as far as there is one.
    pub(crate) key_interval: Option<Duration>,
    /// Time since the last key, if there was any.
    pub(crate) since_key: Option<Duration>,
    /// Time since the engine was last asked, if it was.
    pub(crate) since_request: Option<Duration>,
    /// What stands before the cursor.
    pub(crate) cursor_context: CursorContext,
}

/// How long to wait before the engine is asked, if nothing happens meanwhile; zero for now.
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

/// How fast somebody types.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypingSpeed {
    /// The newest last.
    intervals: VecDeque<Duration>,
}

impl TypingSpeed {
    /// Takes note of a key that came so long after the one before it.
    pub(crate) fn record_interval(&mut self, interval: Duration) {
        if interval < MAX_KEY_INTERVAL {
            self.intervals.push_back(interval);
            let old = self.intervals.len().saturating_sub(MAX_INTERVALS);
            self.intervals.drain(..old);
        }
    }

    /// The usual interval: the median, which neither bursts nor pauses move.
    pub(crate) fn median(&self) -> Option<Duration> {
        let mut intervals: Vec<Duration> = self.intervals.iter().copied().collect();
        intervals.sort_unstable();
        (intervals.len() >= MIN_INTERVALS).then(|| intervals[intervals.len() / 2])
    }
}

/// How long an engine takes for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseTime(Option<Duration>);

impl ResponseTime {
    /// Takes note of an answer that took so long. Later ones count more.
    pub fn record_answer(&mut self, took: Duration) {
        self.0 = Some(self.0.map_or(took, |usual| (usual * 3 + took) / 4));
    }

    /// Takes note that there was no answer yet when it was given up after so long.
    pub fn record_timeout(&mut self, after: Duration) {
        self.0 = Some(self.0.map_or(after, |usual| usual.max(after)));
    }

    /// The usual time; `None` before anything is known.
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

    /// Somebody typing a word, a key every 120 ms, for whom an engine of 200 ms was asked just now.
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
    fn a_slow_engine_is_asked_at_a_pause() {
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
    fn who_types_on_and_on_is_answered_every_few_keys() {
        for (since_asked, expected) in [(Some(400), 80), (Some(479), 1), (Some(480), 0), (None, 130)] {
            let situation = DebounceInput { since_request: since_asked.map(ms), ..TYPING };
            assert_eq!(delay(&situation), ms(expected), "{since_asked:?}");
        }
    }

    #[test]
    fn a_fast_engine_an_unknown_one_and_who_asks_by_key_never_wait() {
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
    fn a_pause_that_is_set_holds_for_every_engine_and_counts_from_the_key() {
        for (set, expected) in [(0, 0), (40, 0), (400, 350)] {
            for response in [None, Some(ms(5)), Some(ms(200))] {
                let situation = DebounceInput { configured: Some(ms(set)), response, ..TYPING };
                assert_eq!(delay(&situation), ms(expected), "{situation:?}");
            }
        }
    }

    #[test]
    fn a_rhythm_is_the_median_of_the_last_keys_and_no_thought() {
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
    fn an_engine_takes_what_it_took_lately_and_at_least_as_long_as_it_was_waited_for() {
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
    fn what_stands_before_the_cursor_is_seen_in_its_line() {
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
