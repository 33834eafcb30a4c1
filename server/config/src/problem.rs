//! What is wrong with a configuration, said once and so that it can be mended.

use std::fmt;

use crate::place::Place;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A file was not trusted; what it sets beyond the harmless is left out, as it should be.
    Untrusted,
    /// Something means nothing, or cannot work as it is.
    Warning,
    /// A value cannot be used, or a file cannot be read.
    Error,
}

/// Something wrong, where it is and what helps. Never quotes what may be a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What is wrong, and the remedy.
    pub message: String,
}

/// What a person is told once, however often it is found again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause(String);

impl Problem {
    pub(crate) fn error(place: Place, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Error, place, message: message.into() }
    }

    pub(crate) fn warning(place: Place, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, place, message: message.into() }
    }

    /// What it is about, wherever an edit moves it in its file.
    pub fn cause(&self) -> Cause {
        Cause(format!("{}: {}", self.place.without_position(), self.message))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}
