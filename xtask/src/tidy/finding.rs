//! What a check has to say.

use std::fmt;

/// One violation with its place and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File or folder, relative to the repository root.
    path: String,
    /// 1-based line.
    line: Option<usize>,
    /// What is wrong and what to do about it.
    message: String,
    /// Whether it is only said and does not fail the check.
    pub(crate) is_warning: bool,
}

impl Finding {
    /// A finding about a whole file or folder.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line: None, message: message.into(), is_warning: false }
    }

    /// The same finding at a 1-based line.
    pub(crate) fn at(self, line: usize) -> Finding {
        Finding { line: Some(line), ..self }
    }

    /// The same finding, only said.
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

/// The findings as lines, for the snapshots of the checks' tests.
#[cfg(test)]
pub(crate) fn lines(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
