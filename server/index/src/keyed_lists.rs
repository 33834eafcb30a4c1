//! Lists of small items by text, in few allocations: there are as many texts as names in the workspace, most with one item.
//!
//! The texts are in one string, and the items of all lists in one array; a hash map of vectors takes four times as much memory.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Lists by their keys.
#[derive(Debug)]
pub(crate) struct KeyedLists<T> {
    keys: KeyTable,
    /// By number of the key: start of its items; with one additional entry for the end.
    starts: Box<[u32]>,
    items: Box<[T]>,
}

impl<T> Default for KeyedLists<T> {
    fn default() -> KeyedLists<T> {
        KeyedLists { keys: KeyTable::default(), starts: Box::default(), items: Box::default() }
    }
}

impl<T> KeyedLists<T> {
    /// Returns the list of a key; empty if there is none.
    pub(crate) fn get(&self, key: &str) -> &[T] {
        let Some(number) = self.keys.find(key) else { return &[] };
        let range = self.starts[number as usize] as usize..self.starts[number as usize + 1] as usize;
        &self.items[range]
    }

    /// Returns all keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        (0..self.keys.ends.len()).map(|number| self.keys.text(number))
    }
}

/// Builds lists from items in any order of their keys.
#[derive(Debug)]
pub(crate) struct KeyedListsBuilder<T> {
    keys: KeyTable,
    /// By number of the key: its last item.
    last: Vec<T>,
    /// Items with the numbers of their keys.
    items: Vec<(u32, T)>,
}

impl<T> Default for KeyedListsBuilder<T> {
    fn default() -> KeyedListsBuilder<T> {
        KeyedListsBuilder { keys: KeyTable::default(), last: Vec::new(), items: Vec::new() }
    }
}

impl<T: Copy + PartialEq> KeyedListsBuilder<T> {
    /// Appends `item` to the list of `key`, unless it is the last one there.
    pub(crate) fn push(&mut self, key: &str, item: T) {
        let number = self.keys.number(key);
        match self.last.get_mut(number as usize) {
            Some(last) if *last == item => return,
            Some(last) => *last = item,
            None => self.last.push(item),
        }
        self.items.push((number, item));
    }

    /// Returns the lists.
    pub(crate) fn finish(self) -> KeyedLists<T> {
        let KeyedListsBuilder { mut keys, mut items, .. } = self;
        keys.shrink();
        // Stable, so that each list keeps its order.
        items.sort_by_key(|(number, _)| *number);
        let mut starts = vec![0; keys.ends.len() + 1];
        for (number, _) in &items {
            starts[*number as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let items = items.into_iter().map(|(_, item)| item).collect();
        KeyedLists { keys, starts: starts.into(), items }
    }
}

/// Distinct texts, numbered in the order of their addition.
#[derive(Debug, Default)]
struct KeyTable {
    /// All texts, one after the other.
    text: String,
    /// By number: end of the text. A workspace is limited to less than 4 GiB.
    ends: Vec<u32>,
    /// Numbers by their text.
    table: HashTable<u32>,
}

impl KeyTable {
    fn find(&self, key: &str) -> Option<u32> {
        self.table.find(hash(key), |&number| self.text(number as usize) == key).copied()
    }

    /// Returns the number of a text; adds it if it is new.
    fn number(&mut self, key: &str) -> u32 {
        if let Some(known) = self.find(key) {
            return known;
        }
        let number = self.ends.len() as u32;
        self.text.push_str(key);
        self.ends.push(self.text.len() as u32);
        let KeyTable { text, ends, table } = self;
        table.insert_unique(hash(key), number, |&number| hash(text_at(text, ends, number as usize)));
        number
    }

    fn text(&self, number: usize) -> &str {
        text_at(&self.text, &self.ends, number)
    }

    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        let KeyTable { text, ends, table } = self;
        table.shrink_to_fit(|&number| hash(text_at(text, ends, number as usize)));
    }
}

fn text_at<'t>(text: &'t str, ends: &[u32], number: usize) -> &'t str {
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start as usize..ends[number] as usize]
}

fn hash(text: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_equal_those_of_a_map(pushed in prop::collection::vec(("[abß]{0,2}", 0_u32..3), 0..60)) {
            let mut expected = BTreeMap::<&str, Vec<u32>>::new();
            let mut builder = KeyedListsBuilder::default();
            for (key, item) in &pushed {
                builder.push(key, *item);
                let list = expected.entry(key).or_default();
                if list.last() != Some(item) {
                    list.push(*item);
                }
            }
            let lists = builder.finish();
            for (key, list) in &expected {
                prop_assert_eq!(lists.get(key), &list[..]);
            }
            prop_assert!(lists.get("absent").is_empty());
            let mut keys: Vec<&str> = lists.keys().collect();
            keys.sort_unstable();
            prop_assert_eq!(keys, expected.into_keys().collect::<Vec<_>>());
        }
    }

    #[test]
    fn default_lists_are_empty() {
        assert!(KeyedLists::<u32>::default().get("").is_empty());
    }
}
