//! Sections and keys: the rows of the table.

use std::collections::BTreeMap;

use crate::engine_kind::EngineKind;
use crate::value::Value;
use crate::value_type::ValueType;

/// A section of the configuration.
#[derive(Debug)]
pub struct Section {
    /// Name of the section.
    pub name: &'static str,
    /// One sentence of documentation.
    pub doc: &'static str,
    /// Keys of the section.
    pub keys: &'static [KeySpec],
}

/// A key: one row of the table.
#[derive(Debug)]
pub struct KeySpec {
    /// Name of its section.
    pub section: &'static str,
    /// Name of the key.
    pub name: &'static str,
    /// Type of its values.
    pub takes: ValueType,
    /// Default, as written in a file.
    pub default: Option<&'static str>,
    /// One sentence of documentation.
    pub doc: &'static str,
    /// Trust that a workspace's file needs to set it.
    pub workspace: WorkspaceAccess,
    /// Whether it applies to a kind of engine; always false for keys outside of engines.
    pub is_for: fn(EngineKind) -> bool,
}

/// Whether a workspace's file may set a key before the user trusts the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceAccess {
    /// May be set without trust: it sends nothing off the machine and runs nothing.
    Untrusted,
    /// Requires trust.
    Trusted,
}

impl Section {
    /// Returns the key with this name.
    pub fn key(&self, name: &str) -> Option<&'static KeySpec> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns the names of its keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }
}

/// Each key has exactly one row.
impl PartialEq for KeySpec {
    fn eq(&self, other: &KeySpec) -> bool {
        (self.section, self.name) == (other.section, other.name)
    }
}

impl KeySpec {
    /// Returns the kinds of engines that the key applies to.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = EngineKind> + Clone {
        let is_for = self.is_for;
        EngineKind::ALL.into_iter().filter(move |&kind| is_for(kind))
    }

    /// Returns the environment variable that sets the key; `None` for keys of engines.
    pub fn variable(&self) -> Option<String> {
        let is_engines = self.kinds().next().is_some();
        (!is_engines).then(|| format!("GHOSTBENCH_{}_{}", self.section, self.name).to_uppercase())
    }
}

/// Values by key, for one section or one engine.
pub(crate) type Values = BTreeMap<&'static str, Value>;
