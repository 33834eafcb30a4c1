//! The choice between a benchmark's program and its description.

/// Rules to apply where an original's program differs from its description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ScoringRules {
    /// As the paper describes the benchmark.
    #[default]
    Paper,
    /// As the original's program computes it, with its bugs: for comparisons with published numbers. The documentation of each
    /// function that takes rules names the differences.
    Faithful,
}

impl ScoringRules {
    /// Returns the name of the rules in our formats.
    pub fn name(self) -> &'static str {
        match self {
            ScoringRules::Paper => "paper",
            ScoringRules::Faithful => "faithful",
        }
    }

    /// Returns the other rules.
    pub(crate) fn other(self) -> ScoringRules {
        match self {
            ScoringRules::Paper => ScoringRules::Faithful,
            ScoringRules::Faithful => ScoringRules::Paper,
        }
    }
}
