//! Grams of tokens, and which of them are kept.

use super::code_tokens::CodeToken;

/// Odd, with about as many ones as zeros: the golden ratio's fraction.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hashes of all runs of `length` tokens. Equal for runs that are alike but for literals and the names of variables.
pub(super) fn grams(tokens: &[CodeToken], length: usize) -> Vec<u64> {
    let hash = |gram: &[CodeToken]| {
        let mixed = gram.iter().enumerate().fold(0_u64, |hash, (within, token)| {
            (hash.rotate_left(23) ^ token.code(within)).wrapping_mul(MULTIPLIER)
        });
        mixed ^ (mixed >> 32)
    };
    tokens.windows(length).map(hash).collect()
}

/// The least of every `window` consecutive hashes, of equal ones the last, with its place; the least of all where there are fewer.
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
