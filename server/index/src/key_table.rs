//! A hash table of numbered keys in one array, which can be used in place.
//!
//! The keys are elsewhere: the table holds only their numbers, in open addressing with linear probing. Hashes are the same on every
//! machine and in every version, because tables are saved.

use stored::{PodArray, StoredArray};

/// Slots for each key: a search visits 1.5 slots if the key is there, and 2.5 if it is not.
const SLOTS_PER_KEY: usize = 2;

/// An empty slot.
const EMPTY: u32 = u32::MAX;

/// Numbers by the hashes of their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTable {
    slots: PodArray<u32>,
}

impl KeyTable {
    /// Creates the table of keys with these hashes, numbered in their order.
    pub(crate) fn new(hashes: impl ExactSizeIterator<Item = u64>) -> KeyTable {
        let mut slots = vec![EMPTY; hashes.len() * SLOTS_PER_KEY];
        for (number, hash) in (0..).zip(hashes) {
            let mut slot = slot_of(hash, slots.len());
            while slots[slot] != EMPTY {
                slot = next(slot, slots.len());
            }
            slots[slot] = number;
        }
        KeyTable { slots: slots.into() }
    }

    /// Returns the number of the key with this hash for which `is_key` holds.
    pub(crate) fn find(&self, hash: u64, is_key: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = &*self.slots;
        let mut slot = slot_of(hash, slots.len());
        // Ends also in a table without empty slots.
        for _ in 0..slots.len() {
            match slots[slot] {
                EMPTY => return None,
                number if is_key(number) => return Some(number),
                _ => slot = next(slot, slots.len()),
            }
        }
        None
    }

    /// Returns its array, to store it.
    pub(crate) fn array(&mut self) -> &mut dyn StoredArray {
        &mut self.slots
    }

    /// Whether it holds only numbers below `keys`.
    pub(crate) fn is_sound(&self, keys: usize) -> bool {
        self.slots.iter().all(|&number| number == EMPTY || (number as usize) < keys)
    }
}

fn slot_of(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> u64::BITS) as usize
}

fn next(slot: usize, slots: usize) -> usize {
    if slot + 1 == slots { 0 } else { slot + 1 }
}

/// Returns the hash of a key: eight bytes at a time.
pub(crate) fn hash(key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(FACTOR);
        mixed ^ (mixed >> 32)
    };
    let (words, rest) = key.as_chunks();
    let hash = words.iter().fold(key.len() as u64, |hash, word| step(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    // The upper bits select the slot.
    step(step(hash, rest), 0).wrapping_mul(FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_few_steps() {
        let keys: Vec<String> = (0..10_000).map(|number| format!("name_{number}")).collect();
        let table = KeyTable::new(keys.iter().map(|key| hash(key.as_bytes())));
        let steps = std::cell::Cell::new(0);
        let find = |key: &str| {
            table.find(hash(key.as_bytes()), |number| {
                steps.set(steps.get() + 1);
                keys[number as usize] == key
            })
        };
        for (number, key) in (0..).zip(&keys) {
            assert_eq!(find(key), Some(number));
        }
        assert!(steps.take() < 20_000);
        assert!((0..10_000).all(|number| find(&format!("other_{number}")).is_none()));
        assert!(steps.take() < 20_000);
    }

    #[test]
    fn hashes_never_change() {
        let hashes = ["", "a", "usb_submit_urb", "usb_submit_urb_atomic"].map(|key| hash(key.as_bytes()));
        let expected = "[0, b5d8266c1e032ffc, 475ec1837356b7cd, ba2ebaaffb02e93d]";
        assert_eq!(format!("{hashes:x?}"), expected);
    }

    #[test]
    fn tables_without_keys_or_empty_slots_end_a_search() {
        assert_eq!(KeyTable::default().find(7, |_| true), None);
        let full = KeyTable { slots: vec![0, 0, 0].into() };
        assert_eq!(full.find(7, |_| false), None);
        assert!(full.is_sound(1) && !full.is_sound(0));
    }
}
