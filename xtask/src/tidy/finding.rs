//! Findings of the checks.

use std::fmt;

/// A violation with its position and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File or folder, relative to the repository root.
    path: String,
    /// 1-based line.
    line: Option<usize>,
    /// The problem and its remedy.
    message: String,
    /// Whether it is only printed and doesn't fail the check.
    pub(crate) is_warning: bool,
}

impl Finding {
    /// Creates a finding for a whole file or folder.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line: None, message: message.into(), is_warning: false }
    }

    /// Returns the same finding at a 1-based line.
    pub(crate) fn at(self, line: usize) -> Finding {
        Finding { line: Some(line), ..self }
    }

    /// Returns the same finding as a warning.
    pub(crate) fn warning(self) -> Finding {
        Finding { is_warning: true, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        let severity = if self.is_warning { "warning: " } else { "" };
        write!(f, ": {severity}{}", self.message)
    }
}

/// Renders the findings as lines, for the snapshots in the checks' tests.
#[cfg(test)]
pub(crate) fn lines(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
