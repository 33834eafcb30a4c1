//! The format version in every row.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A format version, written as `"major.minor"`. Readers accept every minor version of their major version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaVersion {
    /// Incremented if an old reader would misinterpret a row.
    pub major: u32,
    /// Incremented for a new field that old readers can ignore, or a new word that they report as unknown.
    pub minor: u32,
}

impl SchemaVersion {
    /// The version written by this build.
    pub const CURRENT: SchemaVersion = SchemaVersion { major: 1, minor: 8 };

    /// Whether this build can read rows of this version.
    pub fn is_readable(self) -> bool {
        self.major == SchemaVersion::CURRENT.major
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for SchemaVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<SchemaVersion, String> {
        let parts =
            text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parts
            .ok_or_else(|| format!("invalid schema version `{text}`; expected a version such as `1.0`"))?;
        Ok(SchemaVersion { major, minor })
    }
}

impl Serialize for SchemaVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SchemaVersion, D::Error> {
        let schema: SchemaVersion = String::deserialize(deserializer)?.parse().map_err(de::Error::custom)?;
        if schema.is_readable() {
            return Ok(schema);
        }
        Err(de::Error::custom(format_args!(
            "unsupported schema {schema}: this version of ghostbench reads schema {}; install a newer version",
            SchemaVersion::CURRENT
        )))
    }
}
