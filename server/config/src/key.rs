//! What a row of the table is made of.

use std::collections::BTreeMap;

use crate::kind::Kind;
use crate::types::Type;
use crate::value::Value;

/// A section of the configuration.
#[derive(Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in a sentence.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// One key: a row of the table.
#[derive(Debug)]
pub struct Key {
    /// The section that it belongs to.
    pub section: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Type,
    /// What holds where nobody sets it, as a file would say it.
    pub default: Option<&'static str>,
    /// What it means, in a sentence.
    pub doc: &'static str,
    /// Who may set it in a workspace.
    pub workspace: Workspace,
    /// Whether it means something to a kind of engine; never for keys that are no engine's.
    pub is_for: fn(Kind) -> bool,
}

/// Whether a workspace's file may set a key before somebody trusts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// It may: nothing leaves the machine and nothing runs by it.
    Untrusted,
    /// It may not.
    Trusted,
}

impl Section {
    /// The key that is called so.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of its keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }
}

/// A key has one row.
impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        (self.section, self.name) == (other.section, other.name)
    }
}

impl Key {
    /// The kinds of engines that it means something to.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> + Clone {
        let is_for = self.is_for;
        Kind::ALL.into_iter().filter(move |&kind| is_for(kind))
    }

    /// The environment variable that sets it; none for keys of engines.
    pub fn variable(&self) -> Option<String> {
        let is_engines = self.kinds().next().is_some();
        let name = || format!("GHOSTBENCH_{}_{}", self.section, self.name).to_uppercase();
        (!is_engines).then(name)
    }
}

/// Values by the names of their keys, for one section or one engine.
pub(crate) type Values = BTreeMap<&'static str, Value>;
