//! The names in a text, and how often the whole lines before a cursor mention them.
//!
//! While somebody types, the lines before the cursor's line stay, so the names in them are read once and continued with the lines that follow.
//! Nothing is parsed here: every word that looks like a name is one, in comments and strings, too.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::language::Language;
use crate::lexer::is_reserved;

/// Returns everything in `text` that looks like an identifier or keyword, in order.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut end = 0;
    std::iter::from_fn(move || {
        loop {
            let start = run_end(text, end, false);
            end = run_end(text, start, true);
            let word = &text[start..end];
            if word.is_empty() || is_identifier(word) {
                return (!word.is_empty()).then_some(word);
            }
        }
    })
}

/// Returns the end of the run of characters from `from` that are all word characters, or all not.
fn run_end(text: &str, from: usize, in_words: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let (is_in_word, length) = match byte {
            0..0x80 => (IN_WORDS[usize::from(byte)], 1),
            _ => text[at..].chars().next().map_or((false, 1), |c| (c.is_alphanumeric(), c.len_utf8())),
        };
        if is_in_word != in_words {
            break;
        }
        at += length;
    }
    at
}

/// By code: whether an ASCII character is a word character.
const IN_WORDS: [bool; 128] = {
    let mut table = [false; 128];
    let mut code = 0;
    while code < table.len() {
        let byte = code as u8;
        table[code] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
        code += 1;
    }
    table
};

/// Neither a number nor a run of `_` and `$`.
fn is_identifier(word: &str) -> bool {
    !word.starts_with(char::is_numeric) && word.contains(char::is_alphanumeric)
}

/// Mentions of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameMentions {
    /// Line of the last one, 0-based.
    pub last_line: usize,
    /// Number of mentions.
    pub count: u32,
}

/// The names that whole lines mention outside of imports, without the language's reserved words.
#[derive(Clone, Debug, PartialEq)]
pub struct NamesOfLines {
    language: Language,
    /// The lines of imports.
    imports: Vec<Range<usize>>,
    /// The lines, with their ends.
    text: String,
    /// Number of lines.
    lines: usize,
    mentions: FxHashMap<Box<str>, NameMentions>,
}

impl NamesOfLines {
    /// Returns the names of the whole lines of `text`. `imports` are its lines of imports.
    pub fn new(language: Language, text: &str, imports: Vec<Range<usize>>) -> NamesOfLines {
        let mentions = FxHashMap::default();
        let mut names = NamesOfLines { language, imports, text: String::new(), lines: 0, mentions };
        names.add_lines(whole_lines(text));
        names
    }

    /// Whether [`continue_to`](NamesOfLines::continue_to) leads to the names of `text`.
    pub(crate) fn is_continued_by(&self, language: Language, text: &str, imports: &[Range<usize>]) -> bool {
        self.language == language && self.imports == imports && text.starts_with(&self.text)
    }

    /// Whether all whole lines of `text`, which begins with these lines, are there.
    pub(crate) fn is_complete(&self, text: &str) -> bool {
        self.text.len() == whole_lines(text).len()
    }

    /// Adds the other whole lines of `text`, which begins with these lines.
    pub(crate) fn continue_to(&mut self, text: &str) {
        self.add_lines(&whole_lines(text)[self.text.len()..]);
    }

    fn add_lines(&mut self, lines: &str) {
        let mut found: FxHashMap<&str, NameMentions> = FxHashMap::default();
        for line in lines.split_inclusive('\n') {
            if !self.imports.iter().any(|range| range.contains(&self.lines)) {
                for name in names(line) {
                    let mentions = found.entry(name).or_default();
                    *mentions = NameMentions { last_line: self.lines, count: mentions.count + 1 };
                }
            }
            self.lines += 1;
        }
        self.text.push_str(lines);
        for (name, new) in found.into_iter().filter(|(name, _)| !is_reserved(self.language, name)) {
            match self.mentions.get_mut(name) {
                Some(known) => *known = NameMentions { count: known.count + new.count, ..new },
                None => drop(self.mentions.insert(name.into(), new)),
            }
        }
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Returns the mentions of a name, if there are any.
    pub fn get(&self, name: &str) -> Option<NameMentions> {
        self.mentions.get(name).copied()
    }

    /// Returns all names, in any order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.mentions.keys().map(|name| &**name)
    }
}

fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::SyntaxCache;

    #[test]
    fn names_look_like_identifiers() {
        let found: Vec<&str> =
            names("if total_1 == 0x1F: # größe of $x\n    f'{_} 12abc {name}'\n").collect();
        assert_eq!(found, ["if", "total_1", "größe", "of", "$x", "f", "name"]);
    }

    #[test]
    fn names_of_lines_are_counted_outside_of_imports() {
        let text = "import a\nb = a + a\nif b:\n    c\nimport d\nc";
        let names = NamesOfLines::new(Language::Python, text, vec![0..1, 4..5]);
        let mut known: Vec<_> = names.names().map(|name| (name, names.get(name))).collect();
        known.sort_unstable_by_key(|(name, _)| *name);
        let mentions = |last_line, count| Some(NameMentions { last_line, count });
        assert_eq!(known, [("a", mentions(1, 2)), ("b", mentions(2, 2)), ("c", mentions(3, 1))]);
        assert_eq!((names.lines(), names.get("d"), names.get("if")), (5, None, None));
    }

    #[test]
    fn continued_names_are_those_of_the_whole_text() {
        let cache = SyntaxCache::default();
        let lines = ["import x", "x = y", "def f(y):", "", "    return größe(x, y)", "import y", "z = x"];
        let text: String = (0..10).flat_map(|_| lines).map(|line| format!("{line}\n")).collect();
        let (mut kept, mut shared) = (Vec::new(), 0);
        for round in 0..3 {
            for length in (0..=text.len()).filter(|length| text.is_char_boundary(*length)) {
                // The second round types something else, and the third one has other imports.
                let text = if round == 1 { text.replace("größe", "size") } else { text.clone() };
                let before = &text[..text.floor_char_boundary(length)];
                let imports: Vec<Range<usize>> = if round == 2 { vec![0..1, 5..6] } else { Vec::new() };
                let names = cache.names_before(Language::Python, before, &imports);
                assert_eq!(*names, NamesOfLines::new(Language::Python, before, imports), "{before}");
                shared += kept.last().map_or(0, |last| usize::from(Arc::ptr_eq(last, &names)));
                // Some requests still hold theirs when the next one comes.
                kept.push(names);
                kept.truncate(length % 3);
            }
        }
        assert!(shared > 100, "only {shared} were kept");
    }
}
