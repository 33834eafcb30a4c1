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
const QUICK: Duration = Duration::from_millis(30);

/// A pause is no longer waited for than this: who types slower than that sees the answer between two keys.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Keys from one question to the next while somebody types without a pause.
const KEYS_PER_QUESTION: u32 = 4;

/// Keys that are further apart say nothing of how fast somebody types.
const THOUGHT: Duration = Duration::from_secs(1);

/// Intervals that a rhythm is made from: a line or so.
const INTERVALS: usize = 16;

/// Fewer intervals than this are no rhythm yet.
const LEAST_INTERVALS: usize = 3;

/// What stands before the cursor, by how likely it is that somebody types on without a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Blanks alone: what comes next is thought about.
    LineStart,
    /// A bracket, a dot, a blank behind a word.
    Sign,
    /// A part of a word, or a whole one.
    Word,
    /// A statement that has ended.
    Statement,
}

impl Stands {
    /// What stands at the end of `before`.
    pub fn at(language: Language, before: &str) -> Stands {
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let code = line.trim_end();
        if code.is_empty() {
            Stands::LineStart
        } else if language.ends_statements().is_some_and(|end| code.ends_with(end)) {
            Stands::Statement
        } else if line.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            Stands::Word
        } else {
            Stands::Sign
        }
    }

    /// How many times the usual interval between keys makes a pause.
    fn factor(self) -> f64 {
        match self {
            Stands::LineStart => 0.0,
            Stands::Sign => 1.25,
            Stands::Word => 1.5,
            Stands::Statement => 2.0,
        }
    }
}

/// What is known when an answer is wanted that nobody has and nobody is writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Situation {
    /// Whether a person asked by key.
    pub(crate) is_invoked: bool,
    /// The pause that the user has set, in the place of all that is decided here.
    pub(crate) set: Option<Duration>,
    /// How long the engine takes for an answer, as far as that is known.
    pub(crate) response: Option<Duration>,
    /// The usual time between two keys, as far as there is one.
    pub(crate) rhythm: Option<Duration>,
    /// Time since the last key, if there was any.
    pub(crate) since_key: Option<Duration>,
    /// Time since the engine was last asked, if it was.
    pub(crate) since_asked: Option<Duration>,
    /// What stands before the cursor.
    pub(crate) stands: Stands,
}

/// How long to wait before the engine is asked, if nothing happens meanwhile; zero for now.
pub(crate) fn wait(situation: &Situation) -> Duration {
    let Situation { is_invoked, set, response, rhythm, since_key, since_asked, stands } = *situation;
    let Some(since_key) = since_key.filter(|_| !is_invoked) else { return Duration::ZERO };
    if let Some(pause) = set {
        return pause.saturating_sub(since_key);
    }
    let is_slow = response.is_some_and(|response| response > QUICK);
    let Some(rhythm) = rhythm.filter(|rhythm| is_slow && *rhythm <= LONGEST_PAUSE) else {
        return Duration::ZERO;
    };
    let pause = rhythm.mul_f64(stands.factor()).min(LONGEST_PAUSE).saturating_sub(since_key);
    let turn = since_asked.map(|since| (rhythm * KEYS_PER_QUESTION).saturating_sub(since));
    turn.map_or(pause, |turn| turn.min(pause))
}

/// How fast somebody types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rhythm {
    /// The newest last.
    intervals: VecDeque<Duration>,
}

impl Rhythm {
    /// Takes note of a key that came so long after the one before it.
    pub(crate) fn press(&mut self, interval: Duration) {
        if interval < THOUGHT {
            self.intervals.push_back(interval);
            let old = self.intervals.len().saturating_sub(INTERVALS);
            self.intervals.drain(..old);
        }
    }

    /// The usual interval: the median, which neither bursts nor pauses move.
    pub(crate) fn usual(&self) -> Option<Duration> {
        let mut intervals: Vec<Duration> = self.intervals.iter().copied().collect();
        intervals.sort_unstable();
        (intervals.len() >= LEAST_INTERVALS).then(|| intervals[intervals.len() / 2])
    }
}

/// How long an engine takes for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response(Option<Duration>);

impl Response {
    /// Takes note of an answer that took so long. Later ones count more.
    pub fn answered(&mut self, took: Duration) {
        self.0 = Some(self.0.map_or(took, |usual| (usual * 3 + took) / 4));
    }

    /// Takes note that there was no answer yet when it was given up after so long.
    pub fn given_up(&mut self, after: Duration) {
        self.0 = Some(self.0.map_or(after, |usual| usual.max(after)));
    }

    /// The usual time; `None` before anything is known.
    pub fn usual(self) -> Option<Duration> {
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
    const TYPING: Situation = Situation {
        is_invoked: false,
        set: None,
        response: Some(ms(200)),
        rhythm: Some(ms(120)),
        since_key: Some(ms(50)),
        since_asked: Some(ms(50)),
        stands: Stands::Word,
    };

    #[test]
    fn a_slow_engine_is_asked_at_a_pause() {
        for (what, situation, expected) in [
            ("in a word", TYPING, 130),
            ("behind a sign", Situation { stands: Stands::Sign, ..TYPING }, 100),
            ("behind a statement", Situation { stands: Stands::Statement, ..TYPING }, 190),
            ("on a fresh line", Situation { stands: Stands::LineStart, ..TYPING }, 0),
            ("after the pause", Situation { since_key: Some(ms(180)), ..TYPING }, 0),
            ("the editor has waited", Situation { since_key: Some(ms(200)), ..TYPING }, 0),
            ("no key was pressed", Situation { since_key: None, ..TYPING }, 0),
            ("the longest pause", Situation { rhythm: Some(ms(240)), ..TYPING }, 200),
            ("slow typing", Situation { rhythm: Some(ms(260)), ..TYPING }, 0),
            ("unknown typing", Situation { rhythm: None, ..TYPING }, 0),
        ] {
            assert_eq!(wait(&situation), ms(expected), "{what}");
        }
    }

    #[test]
    fn who_types_on_and_on_is_answered_every_few_keys() {
        for (since_asked, expected) in [(Some(400), 80), (Some(479), 1), (Some(480), 0), (None, 130)] {
            let situation = Situation { since_asked: since_asked.map(ms), ..TYPING };
            assert_eq!(wait(&situation), ms(expected), "{since_asked:?}");
        }
    }

    #[test]
    fn a_fast_engine_an_unknown_one_and_who_asks_by_key_never_wait() {
        for situation in [
            Situation { response: Some(ms(5)), ..TYPING },
            Situation { response: None, ..TYPING },
            Situation { is_invoked: true, ..TYPING },
            Situation { is_invoked: true, set: Some(ms(400)), ..TYPING },
        ] {
            assert_eq!(wait(&situation), Duration::ZERO, "{situation:?}");
        }
    }

    #[test]
    fn a_pause_that_is_set_holds_for_every_engine_and_counts_from_the_key() {
        for (set, expected) in [(0, 0), (40, 0), (400, 350)] {
            for response in [None, Some(ms(5)), Some(ms(200))] {
                let situation = Situation { set: Some(ms(set)), response, ..TYPING };
                assert_eq!(wait(&situation), ms(expected), "{situation:?}");
            }
        }
    }

    #[test]
    fn a_rhythm_is_the_median_of_the_last_keys_and_no_thought() {
        let mut rhythm = Rhythm::default();
        for interval in [100, 5000, 120] {
            rhythm.press(ms(interval));
        }
        assert_eq!(rhythm.usual(), None);
        rhythm.press(ms(700));
        assert_eq!(rhythm.usual(), Some(ms(120)));
        (0..INTERVALS).for_each(|_| rhythm.press(ms(90)));
        assert_eq!(rhythm.usual(), Some(ms(90)));
    }

    #[test]
    fn an_engine_takes_what_it_took_lately_and_at_least_as_long_as_it_was_waited_for() {
        let mut response = Response::default();
        response.given_up(ms(80));
        assert_eq!(response.usual(), Some(ms(80)));
        response.answered(ms(200));
        assert_eq!(response.usual(), Some(ms(110)));
        response.given_up(ms(50));
        assert_eq!(response.usual(), Some(ms(110)));
        response.given_up(ms(150));
        assert_eq!(response.usual(), Some(ms(150)));
    }

    #[test]
    fn what_stands_before_the_cursor_is_seen_in_its_line() {
        for (language, before, stands) in [
            (Language::Python, "", Stands::LineStart),
            (Language::Python, "x = 1\n    ", Stands::LineStart),
            (Language::Python, "total", Stands::Word),
            (Language::Python, "x = größ", Stands::Word),
            (Language::Python, "x = ", Stands::Sign),
            (Language::Python, "f(", Stands::Sign),
            (Language::Java, "int x = 1;", Stands::Statement),
            (Language::Java, "int x = 1; ", Stands::Statement),
            (Language::Python, "x = 1;", Stands::Sign),
        ] {
            assert_eq!(Stands::at(language, before), stands, "{before:?}");
        }
    }
}
