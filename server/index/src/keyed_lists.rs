//! Lists of small items by text, in few allocations: there are as many texts as names in the workspace, most with one item.
//!
//! The texts are in one string, and the items of all lists in one array; a hash map of vectors takes four times as much memory.

use std::io;

use bytemuck::Pod;
use hashbrown::HashTable;
use stored::{PodArray, StoredArray, StoredData};

use crate::key_table::{KeyTable, hash};

/// Lists by their keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyedLists<T> {
    /// All keys, one after the other.
    keys: PodArray<u8>,
    /// By number of the key: its end in `keys`. A workspace is limited to less than 4 GiB.
    ends: PodArray<u32>,
    /// Numbers of the keys by their text.
    table: KeyTable,
    /// By number of the key: start of its items; with one additional entry for the end.
    starts: PodArray<u32>,
    items: PodArray<T>,
}

impl<T> Default for KeyedLists<T> {
    fn default() -> KeyedLists<T> {
        KeyedLists {
            keys: PodArray::default(),
            ends: PodArray::default(),
            table: KeyTable::default(),
            starts: PodArray::default(),
            items: PodArray::default(),
        }
    }
}

impl<T: Pod> KeyedLists<T> {
    /// Returns the list of a key; empty if there is none.
    pub(crate) fn get(&self, key: &str) -> &[T] {
        let (keys, ends, starts) = (&*self.keys, &*self.ends, &*self.starts);
        let is_key = |number: u32| key_at(keys, ends, number as usize) == key.as_bytes();
        let Some(number) = self.table.find(hash(key.as_bytes()), is_key) else { return &[] };
        let range = starts[number as usize] as usize..starts[number as usize + 1] as usize;
        &self.items[range]
    }

    /// Returns all keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let (keys, ends) = (&*self.keys, &*self.ends);
        // Keys are added as texts.
        (0..ends.len()).map(|number| str::from_utf8(key_at(keys, ends, number)).unwrap_or_default())
    }

    /// Returns the number of items in all lists.
    pub(crate) fn items(&self) -> usize {
        self.items.len()
    }

    /// Whether the lists of all keys exist and consist of valid items.
    pub(crate) fn is_sound(&self, is_valid: impl Fn(&T) -> bool) -> bool {
        let (ends, starts) = (&*self.ends, &*self.starts);
        let has_keys = ends.is_sorted() && ends.last().map_or(0, |&end| end as usize) == self.keys.len();
        let has_items =
            starts.is_sorted() && starts.last().map_or(0, |&end| end as usize) == self.items.len();
        let has_starts = starts.len() == ends.len() + 1 || (starts.is_empty() && ends.is_empty());
        has_keys
            && has_items
            && has_starts
            && self.table.is_sound(ends.len())
            && self.items.iter().all(is_valid)
    }
}

impl<T: Pod> StoredData for KeyedLists<T> {
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()> {
        visit(&mut self.keys)?;
        visit(&mut self.ends)?;
        visit(self.table.array())?;
        visit(&mut self.starts)?;
        visit(&mut self.items)
    }
}

/// Builds lists from items in any order of their keys.
#[derive(Debug)]
pub(crate) struct KeyedListsBuilder<T> {
    keys: Vec<u8>,
    ends: Vec<u32>,
    table: HashTable<u32>,
    /// By number of the key: its last item.
    last: Vec<T>,
    /// Items with the numbers of their keys.
    items: Vec<(u32, T)>,
}

impl<T> Default for KeyedListsBuilder<T> {
    fn default() -> KeyedListsBuilder<T> {
        KeyedListsBuilder {
            keys: Vec::new(),
            ends: Vec::new(),
            table: HashTable::default(),
            last: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T: Pod + PartialEq> KeyedListsBuilder<T> {
    /// Appends `item` to the list of `key`, unless it is the last one there.
    pub(crate) fn push(&mut self, key: &str, item: T) {
        let number = self.number(key);
        match self.last.get_mut(number as usize) {
            Some(last) if *last == item => return,
            Some(last) => *last = item,
            None => self.last.push(item),
        }
        self.items.push((number, item));
    }

    /// Returns the number of a key; adds it if it is new.
    fn number(&mut self, key: &str) -> u32 {
        let KeyedListsBuilder { keys, ends, table, .. } = self;
        let is_key = |&number: &u32| key_at(keys, ends, number as usize) == key.as_bytes();
        if let Some(&known) = table.find(hash(key.as_bytes()), is_key) {
            return known;
        }
        let number = ends.len() as u32;
        keys.extend_from_slice(key.as_bytes());
        ends.push(keys.len() as u32);
        table
            .insert_unique(hash(key.as_bytes()), number, |&number| hash(key_at(keys, ends, number as usize)));
        number
    }

    /// Returns the lists.
    pub(crate) fn finish(self) -> KeyedLists<T> {
        let KeyedListsBuilder { mut keys, mut ends, mut items, .. } = self;
        keys.shrink_to_fit();
        ends.shrink_to_fit();
        let table = KeyTable::new((0..ends.len()).map(|number| hash(key_at(&keys, &ends, number))));
        // Stable, so that each list keeps its order.
        items.sort_by_key(|(number, _)| *number);
        let mut starts = vec![0; ends.len() + 1];
        for (number, _) in &items {
            starts[*number as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let items = items.into_iter().map(|(_, item)| item).collect();
        KeyedLists { keys: keys.into(), ends: ends.into(), table, starts: starts.into(), items }
    }
}

fn key_at<'k>(keys: &'k [u8], ends: &[u32], number: usize) -> &'k [u8] {
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &keys[start as usize..ends[number] as usize]
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
            prop_assert!(lists.is_sound(|&item| item < 3) && (pushed.is_empty() || !lists.is_sound(|_| false)));
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
