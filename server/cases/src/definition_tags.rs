//! Where the name that a `cross_file` case asks for is defined: the tag `definition_tags`.

use std::fmt;

use crate::Case;

/// Name of the tag that holds the name a `cross_file` case asks for.
pub const ENTITY_TAG: &str = "entity";
/// Name of the tag that holds the places of its definitions.
pub const DEFINED_TAG: &str = "defined";
/// Name of the tag that says, by `yes` or `no`, whether the language's own rules lead to the definitions.
pub const RESOLVED_TAG: &str = "resolved";
/// Name of the tag that names the engine whose right answers were selected against.
pub const JUDGE_TAG: &str = "judge";

/// Name of the tag that says what an empty truth follows.
pub const FOLLOWS_TAG: &str = "follows";
/// Value of [`FOLLOWS_TAG`]: a statement after which nothing is reached, such as `return`, `raise` or `break`.
pub const AFTER_JUMP: &str = "jump";

/// A place where a name is defined. Written as `path:line`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionLocation {
    /// File, relative to the workspace root.
    pub path: String,
    /// Line of the name, 0-based.
    pub line: u32,
}

impl Case {
    /// Whether nothing is to be written behind a statement after which nothing is reached.
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
    /// The places as one tag, with a space between them.
    pub fn to_tag(places: &[DefinitionLocation]) -> String {
        places.iter().map(DefinitionLocation::to_string).collect::<Vec<_>>().join(" ")
    }

    /// The places that a tag names. A path may hold spaces: only behind a line's number does a place end. What is no place is left out.
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
    /// Whether the language's own rules lead from the name that a `cross_file` case asks for to its definition. Others, whose name was
    /// found by itself, are reported apart.
    pub fn is_resolved(&self) -> bool {
        self.tags.get(RESOLVED_TAG).is_none_or(|resolved| resolved != "no")
    }

    /// Where the name stands that a `cross_file` case asks for, if the language's rules lead there; what is merely called the same is
    /// nowhere to be hit.
    pub fn resolved_definitions(&self) -> Option<Vec<DefinitionLocation>> {
        let is_resolved = self.tags.get(RESOLVED_TAG).is_some_and(|resolved| resolved == "yes");
        Some(DefinitionLocation::from_tag(self.tags.get(DEFINED_TAG).filter(|_| is_resolved)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written() {
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
