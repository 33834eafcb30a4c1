//! Problems of a configuration, each reported once and with a remedy.

use std::fmt;

use crate::setting_location::SettingLocation;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A file is not trusted; its settings that require trust are ignored as intended.
    Untrusted,
    /// A setting has no effect or cannot work.
    Warning,
    /// A value is invalid or a file cannot be read.
    Error,
}

/// A problem with its place and remedy. Never quotes a value that may be a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Severity.
    pub severity: Severity,
    /// Place of the problem.
    pub location: SettingLocation,
    /// Description and remedy.
    pub message: String,
}

/// Identity of a problem, so that it is reported only once even if it is found repeatedly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProblemKey(String);

impl Problem {
    pub(crate) fn error(place: SettingLocation, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Error, location: place, message: message.into() }
    }

    pub(crate) fn warning(place: SettingLocation, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, location: place, message: message.into() }
    }

    /// Returns the cause, which does not change when an edit moves the problem within its file.
    pub fn key(&self) -> ProblemKey {
        ProblemKey(format!("{}: {}", self.location.without_position(), self.message))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}
