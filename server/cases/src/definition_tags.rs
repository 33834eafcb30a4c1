//! Where the target name of a `cross_file` case is defined: the tag `defined`.

use std::fmt;

use crate::Case;

/// Tag with the target name of a `cross_file` case.
pub const ENTITY_TAG: &str = "entity";
/// Tag with the locations of its definitions.
pub const DEFINED_TAG: &str = "defined";
/// Tag that is `yes` if the language's own rules lead to the definitions, else `no`.
pub const RESOLVED_TAG: &str = "resolved";
/// Tag with the name of the judge: the engine whose correctly answered cases were excluded.
pub const JUDGE_TAG: &str = "judge";

/// Tag that describes the statement before an empty truth.
pub const FOLLOWS_TAG: &str = "follows";
/// Value of [`FOLLOWS_TAG`]: a statement after which no code is reachable, such as `return`, `raise` or `break`.
pub const AFTER_JUMP: &str = "jump";

/// Location of a definition. Written as `path:line`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionLocation {
    /// File, relative to the workspace root.
    pub path: String,
    /// Line of the name, 0-based.
    pub line: u32,
}

impl Case {
    /// Whether the truth is empty because the previous statement makes further code unreachable.
    pub fn follows_jump(&self) -> bool {
        self.tags.get(FOLLOWS_TAG).is_some_and(|follows| follows == AFTER_JUMP)
    }
}

impl fmt::Display for DefinitionLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}

impl DefinitionLocation {
    /// Formats locations as one tag, separated by spaces.
    pub fn to_tag(places: &[DefinitionLocation]) -> String {
        places.iter().map(DefinitionLocation::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Parses the locations in a tag. Paths may contain spaces: only a line number ends a location. Invalid locations are
    /// skipped.
    pub fn from_tag(tag: &str) -> Vec<DefinitionLocation> {
        let mut places = Vec::new();
        let mut path = String::new();
        for word in tag.split(' ') {
            if !path.is_empty() {
                path.push(' ');
            }
            let place = word.rsplit_once(':').and_then(|(end, line)| Some((end, line.parse().ok()?)));
            let Some((end, line)) = place else {
                path.push_str(word);
                continue;
            };
            places.push(DefinitionLocation { path: std::mem::take(&mut path) + end, line });
        }
        places
    }
}

impl Case {
    /// Whether the language's own rules lead from the target name of a `cross_file` case to its definition. Cases whose
    /// definition was found by name alone are reported separately.
    pub fn is_resolved(&self) -> bool {
        self.tags.get(RESOLVED_TAG).is_none_or(|resolved| resolved != "no")
    }

    /// Returns the definitions of the target name of a `cross_file` case if the language's rules lead to them; `None` if they
    /// were found by name alone, because retrieval cannot be scored against those.
    pub fn resolved_definitions(&self) -> Option<Vec<DefinitionLocation>> {
        let is_resolved = self.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == "yes");
        Some(DefinitionLocation::from_tag(self.tags.get(DEFINED_TAG).filter(|_| is_resolved)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_locations_round_trip() {
        let place = |path: &str, line| DefinitionLocation { path: path.to_owned(), line };
        for places in [
            vec![],
            vec![place("a/b.py", 0)],
            vec![place("my files/b c.py", 7), place("C:/d.py", 12), place("e", u32::MAX)],
        ] {
            assert_eq!(DefinitionLocation::from_tag(&DefinitionLocation::to_tag(&places)), places);
        }
        assert_eq!(DefinitionLocation::from_tag("a.py b.py:x"), []);
    }
}
