//! Finds a described function in code: retrieval by the words of the description, without a model.
//!
//! Names and comments of a function are split into words, and functions are ranked by BM25. That is the control arm of tasks that ask
//! language models to find a function: it shows how far the words alone lead.

use std::collections::HashMap;

use syntax::Language;

/// BM25: how fast repeats of a word lose weight. The usual value.
const SATURATION: f64 = 1.2;
/// BM25: how much long functions are held back. The usual value.
const LENGTH_SHARE: f64 = 0.75;

/// Letters of a word that count: `parses`, `parser` and `parsing` are one word.
const STEM: usize = 5;

/// Returns the whole lines of the function whose words are the most similar to the description; `None` if no function shares a word
/// with it. Of equal ones the first.
pub fn find_function<'c>(language: Language, code: &'c str, description: &str) -> Option<&'c str> {
    let tree = syntax::parse(language, code);
    let documents: Vec<&str> = tree
        .declared_functions()
        .map(|function| whole_lines(code, function.range.start, function.range.end))
        .collect();
    let counts: Vec<HashMap<String, usize>> =
        documents.iter().map(|document| word_counts(document)).collect();
    let lengths: Vec<usize> = counts.iter().map(|counts| counts.values().sum()).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64;
    let mut query: Vec<String> = word_counts(description).into_keys().collect();
    // Sums of floating-point numbers depend on their order.
    query.sort_unstable();
    let weights: Vec<f64> = query.iter().map(|word| rarity(&counts, word)).collect();
    let mut best: Option<(f64, &str)> = None;
    for ((document, counts), length) in documents.iter().zip(&counts).zip(lengths) {
        let length_factor = 1.0 - LENGTH_SHARE + LENGTH_SHARE * length as f64 / mean.max(1.0);
        let gain = |(word, weight): (&String, &f64)| {
            let count = counts.get(word).copied().unwrap_or(0) as f64;
            weight * count * (SATURATION + 1.0) / (count + SATURATION * length_factor)
        };
        let score: f64 = query.iter().zip(&weights).map(gain).sum();
        if score > best.map_or(0.0, |(score, _)| score) {
            best = Some((score, document));
        }
    }
    best.map(|(_, document)| document)
}

/// Returns the weight of a word: the fewer functions contain it, the higher.
fn rarity(counts: &[HashMap<String, usize>], word: &str) -> f64 {
    let with = counts.iter().filter(|counts| counts.contains_key(word)).count() as f64;
    ((counts.len() as f64 - with + 0.5) / (with + 0.5) + 1.0).ln()
}

fn whole_lines(code: &str, start: usize, end: usize) -> &str {
    let first = code[..start].rfind('\n').map_or(0, |feed| feed + 1);
    let last = code[end..].find('\n').map_or(code.len(), |feed| end + feed);
    &code[first..last]
}

/// Returns the words of a text, which may be code: names are split at changes of case, digits and signs.
fn word_counts(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for part in text.split(|c: char| !c.is_alphabetic()) {
        for word in case_parts(part) {
            let stem: String = word.chars().take(STEM).flat_map(char::to_lowercase).collect();
            if stem.chars().count() > 1 && !COMMON.contains(&stem.as_str()) {
                *counts.entry(stem).or_default() += 1;
            }
        }
    }
    counts
}

/// Beginnings of words that descriptions have without telling what a function does.
const COMMON: [&str; 28] = [
    "an", "and", "are", "as", "at", "be", "by", "for", "from", "funct", "if", "in", "input", "into", "is",
    "it", "of", "on", "or", "outpu", "proce", "purpo", "that", "the", "this", "to", "which", "with",
];

/// Splits `parseHTTPHeader` into `parse`, `HTTP` and `Header`.
fn case_parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    for (index, pair) in letters.windows(2).enumerate() {
        let ((_, one), (at, next)) = (pair[0], pair[1]);
        let is_last_capital = one.is_uppercase()
            && next.is_uppercase()
            && letters.get(index + 2).is_some_and(|(_, after)| after.is_lowercase());
        if !one.is_uppercase() && next.is_uppercase() || is_last_capital {
            parts.push(&word[start..at]);
            start = at;
        }
    }
    parts.push(&word[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_and_comments_lead_to_the_function() {
        let code = "def parse_header(text):\n    return text.split(':')\n\nclass A:\n    def writeFile(self, path):\n        open(path).write('')\n\ndef other():\n    pass\n";
        let find = |description| find_function(Language::Python, code, description);
        assert_eq!(
            find("Splits a line into parts of its header."),
            Some("def parse_header(text):\n    return text.split(':')")
        );
        assert_eq!(
            find("It is writing to a file."),
            Some("    def writeFile(self, path):\n        open(path).write('')")
        );
        assert_eq!(find("Nothing similar"), None);
        assert_eq!(find_function(Language::Python, "", "anything"), None);
    }

    #[test]
    fn names_are_split_by_case() {
        assert_eq!(case_parts("parseHTTPHeader"), ["parse", "HTTP", "Header"]);
        assert_eq!(case_parts(""), [""]);
    }
}
