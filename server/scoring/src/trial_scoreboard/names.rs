//! Numbers for the names of a log: arms, files, developers, sessions.

use std::collections::HashMap;

/// Number of names up to which comparing them is faster than hashing: arms, fingerprints, languages.
const FEW_NAMES: usize = 8;

/// Names in the order of their first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    /// The number that was returned last.
    last: u32,
}

impl Names {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        // Rows mostly repeat the name of the row before: the same file, the same session.
        if self.names.get(self.last as usize).is_some_and(|last| last == name) {
            return self.last;
        }
        let known = match self.names.len() {
            0..=FEW_NAMES => {
                (0..).zip(&self.names).find(|(_, known)| *known == name).map(|(number, _)| number)
            }
            _ => self.numbers.get(name).copied(),
        };
        self.last = known.unwrap_or_else(|| self.add(name));
        self.last
    }

    fn add(&mut self, name: &str) -> u32 {
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    /// Returns the numbers of the names of `other`, in their order.
    pub(super) fn numbers_of(&mut self, other: &Names) -> Vec<u32> {
        other.names.iter().map(|name| self.number(name)).collect()
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}
