//! Scores of retrieved code that need no engine: whether it contains identifiers and code that the truth needs and the file
//! lacks.
//!
//! - **New identifiers**: identifiers of the truth that the file does not contain before the cursor. Recall is the share of them
//!   in the context, as a micro average: a case with many of them weighs more.
//! - **Copy similarity**: similarity to the truth of the best text that can be copied. The candidates follow the positions whose
//!   preceding tokens agree longest with the text before the cursor; the most similar one counts.

use std::collections::HashSet;
use std::ops::Range;

use cases::{Metric, MetricValue, Metrics};

use crate::cceval;
use crate::counts::Counts;
use crate::score::ScoringInput;
use crate::similarity::Similarity;
use text::python;

/// Upper limit of the agreeing tokens before the cursor.
const AGREEING_TOKENS: usize = 24;
/// Bytes before the cursor that are compared.
const AGREEING_BYTES: usize = 600;
/// Positions with the longest agreement that are tried.
const PLACES: usize = 60;
/// Bytes of the file before the cursor that can be copied from.
const FILE_BYTES: usize = 15_000;

/// Scores of a context for one completion request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrievalScore {
    /// New identifiers of the truth that the context holds, of all new ones.
    pub new_identifiers: Counts,
    /// The same without identifiers that occur after the cursor.
    pub new_beyond_suffix: Counts,
    /// Similarity of the best copy from the context, from 0 to 1.
    pub copy: f64,
    /// The same if copies from the file before the cursor count too.
    pub copy_with_file: f64,
}

impl RetrievalScore {
    /// Returns the metrics that apply. `shows_definition`: whether the context contains a definition of the truth's name, if one
    /// is known.
    pub fn metrics(&self, shows_definition: Option<bool>) -> Metrics {
        let recall = |Counts { num, den }: Counts| (den > 0.0).then_some(MetricValue::Ratio { num, den });
        let flag = |holds: bool| MetricValue::Value(f64::from(u8::from(holds)));
        let metrics = [
            (Metric::NewIdentifiers, recall(self.new_identifiers)),
            (Metric::NewBeyondSuffix, recall(self.new_beyond_suffix)),
            (Metric::AnyNew, self.has_any_new().map(flag)),
            (Metric::DefinitionHit, shows_definition.map(flag)),
            (Metric::Copy, Some(MetricValue::Value(self.copy_with_file))),
        ];
        metrics.into_iter().filter_map(|(metric, value)| Some((metric, value?))).collect()
    }

    /// Whether the context contains a new identifier; `None` if the truth has none.
    pub fn has_any_new(&self) -> Option<bool> {
        (self.new_identifiers.den > 0.0).then_some(self.new_identifiers.num > 0.0)
    }
}

/// Scores `context`, the retrieved texts, best first.
pub fn score_retrieval(question: &ScoringInput<'_>, context: &[&str]) -> RetrievalScore {
    let context = context.join("\n");
    let known: HashSet<&str> = names(question.prefix).collect();
    let following: HashSet<&str> = names(question.suffix).collect();
    let held: HashSet<&str> = names(&context).collect();
    let wanted: HashSet<String> =
        cceval::identifiers(question.language, question.truth).into_iter().collect();
    let new: Vec<&str> = wanted.iter().map(String::as_str).filter(|name| !known.contains(name)).collect();
    let beyond: Vec<&str> = new.iter().copied().filter(|name| !following.contains(name)).collect();
    let share = |names: &[&str]| Counts {
        num: names.iter().filter(|name| held.contains(*name)).count() as f64,
        den: names.len() as f64,
    };
    let (new_identifiers, new_beyond_suffix) = (share(&new), share(&beyond));
    let (context, file) =
        (TokenizedText::new(&context), TokenizedText::new(last_bytes(question.prefix, FILE_BYTES)));
    let copy = copy_similarity(question, &[&context]);
    let copy_with_file = copy_similarity(question, &[&file, &context]);
    RetrievalScore { new_identifiers, new_beyond_suffix, copy, copy_with_file }
}

/// Returns all names in a text, including keywords and words in strings.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !python::is_word(c))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// A text with the positions of its tokens.
struct TokenizedText<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
}

impl<'a> TokenizedText<'a> {
    /// Splits the text into words and single punctuation characters.
    fn new(text: &'a str) -> TokenizedText<'a> {
        let mut tokens: Vec<Range<usize>> = Vec::new();
        let mut in_word = false;
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let is_word = python::is_word(c);
            match tokens.last_mut() {
                Some(word) if is_word && in_word => word.end = end,
                _ if python::is_space(c) => {}
                _ => tokens.push(at..end),
            }
            in_word = is_word;
        }
        TokenizedText { text, tokens }
    }

    fn token(&self, number: usize) -> &'a str {
        &self.text[self.tokens[number].clone()]
    }

    /// Returns the number of tokens, up to and including this one, that equal the last ones of `before`.
    fn matching_suffix_length(&self, number: usize, before: &[&str]) -> usize {
        let here = (0..=number).rev().map(|number| self.token(number));
        here.zip(before.iter().rev()).take_while(|(here, there)| here == *there).count()
    }

    /// Returns the text of the `length` tokens after this one, which must not be the last.
    fn following_text(&self, number: usize, length: usize) -> &'a str {
        let last = self.tokens.len().min(number + length + 1) - 1;
        &self.text[self.tokens[number + 1].start..self.tokens[last].end]
    }
}

/// Returns the similarity to the truth of the best copy from `sources`.
fn copy_similarity(question: &ScoringInput<'_>, sources: &[&TokenizedText<'_>]) -> f64 {
    let near = last_bytes(question.prefix, AGREEING_BYTES);
    let before = TokenizedText::new(near);
    let first = before.tokens.len().saturating_sub(AGREEING_TOKENS);
    let before: Vec<&str> = (first..before.tokens.len()).map(|number| before.token(number)).collect();
    let truth = python::strip(question.truth);
    let length = TokenizedText::new(truth).tokens.len().max(1);
    let copies = best_positions(sources, &before).into_iter().take(PLACES);
    copies
        .map(|(source, number)| Similarity::Indel.ratio(source.following_text(number, length), truth))
        .fold(0.0, f64::max)
}

/// Returns the tokens, none the last of its source, at which the longest agreement with `before` ends.
fn best_positions<'s, 'a>(
    sources: &[&'s TokenizedText<'a>],
    before: &[&str],
) -> Vec<(&'s TokenizedText<'a>, usize)> {
    let mut longest = 1;
    let mut places = Vec::new();
    for &source in sources {
        for number in 0..source.tokens.len().saturating_sub(1) {
            let agreement = source.matching_suffix_length(number, before);
            if agreement > longest {
                longest = agreement;
                places.clear();
            }
            if agreement == longest {
                places.push((source, number));
            }
        }
    }
    places
}

/// Returns the last `bytes` bytes of a text, or slightly fewer.
fn last_bytes(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::*;

    fn measure(prefix: &str, truth: &str, suffix: &str, context: &[&str]) -> RetrievalScore {
        score_retrieval(&ScoringInput { language: Language::Python, prefix, suffix, truth }, context)
    }

    #[test]
    fn only_identifiers_absent_from_the_file_are_new() {
        let found = measure(
            "import store\nx = ",
            "store.load(path, limit, 'word') if x else y",
            "limit",
            &["def load(path):"],
        );
        // `load`, `path`, `limit` and `y`; `limit` occurs after the cursor.
        assert_eq!(found.new_identifiers, Counts { num: 2.0, den: 4.0 });
        assert_eq!(found.new_beyond_suffix, Counts { num: 2.0, den: 3.0 });
        assert_eq!(found.has_any_new(), Some(true));
        assert_eq!(measure("a b", "a(b)", "", &[]).has_any_new(), None);
        assert_eq!(measure("a", "a(b)", "", &["c"]).has_any_new(), Some(false));
    }

    #[test]
    fn inapplicable_metrics_are_left_out() {
        let names = |worth: RetrievalScore, shown| worth.metrics(shown).into_keys().collect::<Vec<_>>();
        let nothing_new = measure("a b", "a(b)", "", &[]);
        assert_eq!(names(nothing_new, None), [Metric::Copy]);
        assert_eq!(names(nothing_new, Some(false)), [Metric::Copy, Metric::DefinitionHit]);
        let known_below = measure("a", "a(b)", "b", &["b"]);
        assert_eq!(names(known_below, None), [Metric::AnyNew, Metric::Copy, Metric::NewIdentifiers]);
        assert_eq!(
            known_below.metrics(None)[&Metric::NewIdentifiers],
            MetricValue::Ratio { num: 1.0, den: 1.0 }
        );
        let shown = measure("a", "a(b)", "", &[]).metrics(Some(true));
        assert_eq!(
            [Metric::DefinitionHit, Metric::AnyNew].map(|metric| shown[&metric]),
            [1.0, 0.0].map(MetricValue::Value)
        );
    }

    #[test]
    fn new_identifiers_are_counted_once_as_whole_words() {
        let found = measure("", "load + load + loader", "", &["reload()", "loader"]);
        assert_eq!(found.new_identifiers, Counts { num: 1.0, den: 2.0 });
    }

    #[test]
    fn copy_continues_the_longest_matching_context() {
        let context = ["a = other.read(1)\n", "b = store.load(path)\nc = 1\n"];
        let found = measure("z = store.", "load(path)", "", &context);
        assert_eq!(found.copy, 1.0, "behind `= store.`, not behind another dot");
        // The file's own candidate agrees longer, and is wrong.
        let found = measure("q; z = store.drop()\nq; z = store.", "load(path)", "", &context);
        assert!(found.copy_with_file < found.copy, "{found:?}");
    }

    /// Values of the feasibility study's own measure.
    #[test]
    fn copy_similarity_equals_the_study() {
        let vectors = [
            (
                "def f(store, path):\n    rows = store.",
                "load_all(path, limit=3)",
                "rows = store.load(path)\nitems = store.load_all(name, limit=4)[0]\n",
                [0.5, 0.5],
            ),
            (
                "x = a.b(größe)\ny = a.",
                "b(größe + 1)",
                "z = q.b(1)\n\na.c(2); a.b (größe)",
                [0.761_904_761_904_761_9, 0.666_666_666_666_666_7],
            ),
            (
                "if (node.kind === Kind.",
                "Call && node.args.length > 0) {",
                "case Kind.Call: return visit(node.args);\nif (n.kind === Kind.Name) {\n",
                [0.263_157_894_736_842_15, 0.263_157_894_736_842_15],
            ),
            (
                "return ",
                "self._cache[key]",
                "return other\n    return self . _cache [ name ]\n",
                [0.736_842_105_263_158, 0.736_842_105_263_158],
            ),
        ];
        for (prefix, truth, context, expected) in vectors {
            let found = measure(prefix, truth, "", &[context]);
            for (found, expected) in [found.copy, found.copy_with_file].into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} instead of {expected} for {truth:?}");
            }
        }
    }

    #[test]
    fn copy_score_is_zero_without_a_match() {
        for (prefix, context) in [("", "a = b"), ("x.", ""), ("x.", "y"), ("x.", ".")] {
            assert_eq!(measure(prefix, "load()", "", &[context]).copy, 0.0, "{prefix:?} {context:?}");
        }
    }

    #[test]
    fn unusual_text_does_not_panic() {
        let odd = "é\u{1F600}_\u{301} \r\n\t'\u{feff}";
        measure(odd, odd, odd, &[odd, odd]);
        measure(odd, "", odd, &[]);
    }
}
