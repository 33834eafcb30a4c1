//! The choice between a benchmark's program and its description.

/// Rules to apply where an original's program differs from its description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// As the paper describes the benchmark.
    #[default]
    Paper,
    /// As the original's program computes it, with its bugs: for comparisons with published numbers. The documentation of each
    /// function that takes rules names the differences.
    Faithful,
}

impl Rules {
    /// Returns the name of the rules in our formats.
    pub fn name(self) -> &'static str {
        match self {
            Rules::Paper => "paper",
            Rules::Faithful => "faithful",
        }
    }

    /// Returns the other rules.
    pub(crate) fn other(self) -> Rules {
        match self {
            Rules::Paper => Rules::Faithful,
            Rules::Faithful => Rules::Paper,
        }
    }
}
