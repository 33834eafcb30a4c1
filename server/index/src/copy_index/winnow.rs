//! Computes and selects grams of tokens.

use super::code_tokens::CodeToken;

/// An odd number with about as many ones as zeros: the fraction of the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the hashes of all runs of `length` tokens. They are equal for runs that differ only in literals and the names of
/// variables.
pub(super) fn grams(tokens: &[CodeToken], length: usize) -> Vec<u64> {
    let hash = |gram: &[CodeToken]| {
        let mixed = gram.iter().enumerate().fold(0_u64, |hash, (within, token)| {
            (hash.rotate_left(23) ^ token.code(within)).wrapping_mul(MULTIPLIER)
        });
        mixed ^ (mixed >> 32)
    };
    tokens.windows(length).map(hash).collect()
}

/// Returns the smallest of every `window` consecutive hashes, the last of equal ones, with its position; the smallest of all
/// hashes if there are fewer.
pub(super) fn winnow(hashes: &[u64], window: usize) -> Vec<(u64, u32)> {
    let mut kept: Vec<(u64, u32)> = Vec::new();
    let mut least: Option<usize> = None;
    let size = window.min(hashes.len());
    for end in size..=hashes.len() {
        if size == 0 {
            break;
        }
        let start = end - size;
        let place = match least {
            Some(last) if start <= last && hashes[last] < hashes[end - 1] => last,
            Some(last) if start <= last => {
                debug_assert!(hashes[end - 1] <= hashes[last]);
                end - 1
            }
            _ => (start..end).rev().min_by_key(|&place| hashes[place]).unwrap_or(start),
        };
        if least != Some(place) {
            kept.push((hashes[place], place as u32));
        }
        least = Some(place);
    }
    kept
}
