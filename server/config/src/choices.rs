//! Settings that are chosen from a list: parsed once, when the settings are read, and typed from there on.

use std::fmt;
use std::str::FromStr;

/// A way to choose code from elsewhere in the workspace for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Nothing.
    None,
    /// CrossCodeEval's retriever.
    Bm25Chunks,
    /// Functions like the one around the cursor.
    Functions,
    /// Definitions of the names in reach.
    Symbols,
    /// Code that was edited or looked at lately.
    Recent,
    /// Definitions, usages and windows.
    Hybrid,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 6] = [
        Strategy::None,
        Strategy::Bm25Chunks,
        Strategy::Functions,
        Strategy::Symbols,
        Strategy::Recent,
        Strategy::Hybrid,
    ];

    /// All names, in the order of [`Strategy::ALL`].
    pub(crate) const NAMES: [&str; 6] = {
        let [a, b, c, d, e, f] = Strategy::ALL;
        [a.name(), b.name(), c.name(), d.name(), e.name(), f.name()]
    };

    /// The name in files, in the settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::None => "none",
            Strategy::Bm25Chunks => "bm25-chunks",
            Strategy::Functions => "functions",
            Strategy::Symbols => "symbols",
            Strategy::Recent => "recent",
            Strategy::Hybrid => "hybrid",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(word: &str) -> Result<Strategy, String> {
        let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == word);
        found.ok_or_else(|| format!("unknown strategy `{word}`; known are {}", Strategy::NAMES.join(", ")))
    }
}

/// What the editor may record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// Everything, code included.
    Full,
    /// Code with renamed identifiers and literals.
    Structure,
    /// Numbers only.
    Metrics,
    /// Nothing.
    Off,
}

impl Privacy {
    /// All levels.
    pub const ALL: [Privacy; 4] = [Privacy::Full, Privacy::Structure, Privacy::Metrics, Privacy::Off];

    /// All names, in the order of [`Privacy::ALL`].
    pub(crate) const NAMES: [&str; 4] = {
        let [a, b, c, d] = Privacy::ALL;
        [a.name(), b.name(), c.name(), d.name()]
    };

    /// The name in the settings.
    pub const fn name(self) -> &'static str {
        match self {
            Privacy::Full => "full",
            Privacy::Structure => "structure",
            Privacy::Metrics => "metrics",
            Privacy::Off => "off",
        }
    }

    /// Returns the level of this name.
    pub(crate) fn from_name(name: &str) -> Option<Privacy> {
        Privacy::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A method of the built-in engine. All but [`Method::Hybrid`] exist for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Writes nothing.
    Empty,
    /// Copies the text that follows the place whose surroundings share the most tokens.
    NearestLine,
    /// Takes the majority after the longest match, token by token.
    LongestMatch,
    /// Counts and votes with substitution, each with an equal say, and weighs nothing else.
    Mixed,
    /// The engine: chooses among the proposals of a fitted ranking of tokens and of the plainer methods.
    Hybrid,
}

impl Method {
    /// The methods that the settings offer.
    pub const OFFERED: [Method; 4] =
        [Method::Hybrid, Method::LongestMatch, Method::NearestLine, Method::Empty];

    /// The names of the methods that the settings offer.
    pub(crate) const OFFERED_NAMES: [&str; 4] = {
        let [a, b, c, d] = Method::OFFERED;
        [a.name(), b.name(), c.name(), d.name()]
    };

    /// The name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Empty => "empty",
            Method::NearestLine => "nearest-line",
            Method::LongestMatch => "longest-match",
            Method::Mixed => "mixed",
            Method::Hybrid => "hybrid",
        }
    }

    /// Returns the offered method of this name.
    pub(crate) fn offered(name: &str) -> Option<Method> {
        Method::OFFERED.into_iter().find(|method| method.name() == name)
    }
}
