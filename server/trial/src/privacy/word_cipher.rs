//! Renames words: equal words get equal names and different words different ones, in all rows of a machine, and a name has the length
//! and the shape of its word. Letters become letters of the same case, digits become digits, everything else stays.
//!
//! A Feistel network over the characters of a word, with a secret key: for words of ASCII characters it is a permutation of all words
//! of the same shape. Characters of other scripts are replaced by ones of the same size in UTF-8 and UTF-16; there, different words may
//! get the same name, with a probability of one in thousands for the shortest.

use blake3::Hasher;

/// Rounds of the network; four are enough to mix both halves, and words are short.
const ROUNDS: u8 = 8;

/// A renaming with a secret key.
#[derive(Clone)]
pub(super) struct WordCipher {
    key: [u8; 32],
}

/// A character that is replaced: its position among its kind, and the number of its kind.
#[derive(Clone, Copy)]
struct Symbol {
    value: u32,
    radix: u32,
    first: u32,
}

impl Symbol {
    fn of(character: char) -> Option<Symbol> {
        let (first, radix) = match character {
            'a'..='z' => ('a' as u32, 26),
            'A'..='Z' => ('A' as u32, 26),
            '0'..='9' => ('0' as u32, 10),
            _ => return None,
        };
        Some(Symbol { value: character as u32 - first, radix, first })
    }

    /// The first digit of a number, which must not become a zero.
    fn leading_digit(character: char) -> Option<Symbol> {
        let is_digit = ('1'..='9').contains(&character);
        is_digit.then(|| Symbol { value: character as u32 - '1' as u32, radix: 9, first: '1' as u32 })
    }

    /// A digit of a number to another base, in the case in which it is written.
    fn digit_of_base(character: char, base: u32) -> Option<Symbol> {
        let (first, radix) = match character {
            '0'..='9' => ('0' as u32, base.min(10)),
            'a'..='f' if base == 16 => ('a' as u32, 6),
            'A'..='F' if base == 16 => ('A' as u32, 6),
            _ => return None,
        };
        let value = character as u32 - first;
        (value < radix).then_some(Symbol { value, radix, first })
    }

    fn character(self) -> char {
        char::from_u32(self.first + self.value).expect("a letter or digit")
    }
}

impl WordCipher {
    /// Creates the renaming with this key.
    pub(super) fn new(key: [u8; 32]) -> WordCipher {
        WordCipher { key }
    }

    /// Returns the name of a word, which is no word for which `is_taken`.
    pub(super) fn rename(&self, word: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let mut name = self.rename_once(word);
        // Walking on keeps different names different. A word whose shape has taken words only comes back to itself.
        while is_taken(&name) && name != word {
            name = self.rename_once(&name);
        }
        name
    }

    fn rename_once(&self, word: &str) -> String {
        let others = if word.is_ascii() { Vec::new() } else { self.other_scripts(word) };
        let mut others = others.into_iter();
        let symbols: Vec<Option<Symbol>> = word.chars().map(Symbol::of).collect();
        self.replace(word, symbols, |character| {
            if character.is_ascii() { character } else { others.next().unwrap_or(character) }
        })
    }

    /// Returns another number of the same notation and length.
    pub(super) fn rename_number(&self, number: &str) -> String {
        let base = match number.as_bytes() {
            [b'0', b'x' | b'X', ..] => Some(16),
            [b'0', b'o' | b'O', ..] => Some(8),
            [b'0', b'b' | b'B', ..] => Some(2),
            _ => None,
        };
        let mut is_in_digits = true;
        let symbols = number.char_indices().map(|(at, character)| {
            let symbol = match base {
                Some(_) if at < 2 => return None,
                Some(base) => Symbol::digit_of_base(character, base),
                None if at == 0 => Symbol::leading_digit(character),
                None => Symbol::of(character).filter(|symbol| symbol.radix == 10),
            };
            // A type or an exponent ends the digits.
            is_in_digits &= symbol.is_some() || !character.is_alphabetic();
            symbol.filter(|_| is_in_digits)
        });
        let symbols = symbols.collect();
        self.replace(number, symbols, |character| character)
    }

    fn replace(
        &self,
        word: &str,
        symbols: Vec<Option<Symbol>>,
        mut other: impl FnMut(char) -> char,
    ) -> String {
        let shape: Vec<u8> =
            symbols.iter().map(|symbol| symbol.map_or(0, |symbol| symbol.radix as u8)).collect();
        let mut mixed: Vec<Symbol> = symbols.iter().copied().flatten().collect();
        self.mix(&shape, &mut mixed);
        let mut mixed = mixed.into_iter();
        let replaced = word.chars().zip(&symbols).map(|(character, symbol)| match symbol {
            Some(_) => mixed.next().map_or(character, Symbol::character),
            None => other(character),
        });
        replaced.collect()
    }

    /// Permutes the values of all symbols of one shape.
    fn mix(&self, shape: &[u8], symbols: &mut [Symbol]) {
        let half = symbols.len() / 2;
        for round in 0..ROUNDS {
            let (left, right) = symbols.split_at_mut(half);
            let (changed, read) = if round % 2 == 0 { (right, left) } else { (left, right) };
            let mut hasher = Hasher::new_keyed(&self.key);
            hasher.update(&[round]).update(&(shape.len() as u64).to_le_bytes()).update(shape);
            for symbol in read.iter() {
                hasher.update(&symbol.value.to_le_bytes());
            }
            let mut stream = hasher.finalize_xof();
            for symbol in changed {
                let mut bytes = [0; 4];
                stream.fill(&mut bytes);
                symbol.value = (symbol.value + u32::from_le_bytes(bytes) % symbol.radix) % symbol.radix;
            }
        }
    }

    /// Returns a replacement for each character of the word that is not ASCII.
    fn other_scripts(&self, word: &str) -> Vec<char> {
        let mut hasher = Hasher::new_keyed(&self.key);
        let mut stream = hasher.update(b"other scripts").update(word.as_bytes()).finalize_xof();
        let characters = word.chars().filter(|character| !character.is_ascii());
        characters
            .map(|character| {
                let mut bytes = [0; 4];
                stream.fill(&mut bytes);
                // Cyrillic, Chinese and old Chinese letters: each block takes one size.
                let (first, count) = match character.len_utf8() {
                    2 => (0x0430, 32),
                    3 => (0x4e00, 20_000),
                    _ => (0x2_0000, 40_000),
                };
                char::from_u32(first + u32::from_le_bytes(bytes) % count).unwrap_or(character)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn cipher() -> WordCipher {
        WordCipher::new([7; 32])
    }

    #[test]
    fn all_words_of_a_shape_get_different_names_of_that_shape() {
        let words: Vec<String> = (b'a'..=b'z')
            .flat_map(|a| (b'A'..=b'Z').map(move |b| format!("{}_{}", char::from(a), char::from(b))))
            .collect();
        let names: BTreeSet<String> = words.iter().map(|word| cipher().rename_once(word)).collect();
        assert_eq!(names, words.iter().cloned().collect());
        let letters: BTreeSet<String> =
            (b'a'..=b'z').map(|a| cipher().rename_once(&char::from(a).to_string())).collect();
        assert_eq!(letters.len(), 26);
    }

    #[test]
    fn taken_names_are_avoided_and_the_names_stay_different() {
        let taken = ["if", "in", "is", "or", "do", "go"];
        let is_taken = |word: &str| taken.contains(&word);
        let words: Vec<String> = (b'a'..=b'z')
            .flat_map(|a| (b'a'..=b'z').map(move |b| format!("{}{}", char::from(a), char::from(b))))
            .filter(|word| !is_taken(word))
            .collect();
        let names: BTreeSet<String> = words.iter().map(|word| cipher().rename(word, is_taken)).collect();
        assert_eq!(names, words.into_iter().collect());
    }

    #[test]
    fn names_have_the_sizes_of_their_words() {
        for word in ["größe", "名前", "𠀀x9", "__init__", "$el", "HttpServer2"] {
            let name = cipher().rename_once(word);
            let sizes = |text: &str| (text.len(), text.encode_utf16().count(), text.chars().count());
            assert_eq!(sizes(&name), sizes(word), "{word} {name}");
            assert_ne!(name, word);
        }
    }

    #[test]
    fn numbers_keep_their_notation() {
        for (number, pattern) in [
            ("10", "[1-9][0-9]"),
            ("0", "0"),
            ("1_000.5e10f32", "[1-9]_...\\..e10f32"),
            ("0x1Fu8", "0x..u8"),
            ("0b10L", "0b[01][01]L"),
            ("0o17", "0o[0-7][0-7]"),
            ("007", "0.."),
        ] {
            let name = cipher().rename_number(number);
            assert_eq!(name.len(), number.len());
            let fits = pattern_fits(pattern, &name);
            assert!(fits, "{number} {name}");
        }
    }

    /// Matches the few patterns above: `.`, classes of two ends, and characters.
    fn pattern_fits(pattern: &str, text: &str) -> bool {
        let mut pattern = pattern.chars();
        let mut text = text.chars();
        while let Some(expected) = pattern.next() {
            let Some(found) = text.next() else { return false };
            let fits = match expected {
                '.' => true,
                '\\' => pattern.next() == Some(found),
                '[' => {
                    let class: Vec<char> = pattern.by_ref().take_while(|&c| c != ']').collect();
                    match class[..] {
                        [from, '-', to] => (from..=to).contains(&found),
                        _ => class.contains(&found),
                    }
                }
                expected => expected == found,
            };
            if !fits {
                return false;
            }
        }
        text.next().is_none()
    }
}
