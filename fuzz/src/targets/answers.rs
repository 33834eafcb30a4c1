//! Answers of models, whole and in pieces, and templates of prompts.

use benchmarks::{ScoringRules, repoqa, yabloco};
use prompt::{AnswerParser, Template};
use syntax::Language;

use crate::first;

/// The bytes are lengths of prefix and suffix, then both, then an answer.
pub(crate) fn run(input: &[u8]) {
    let (before, input) = first(input);
    let (after, input) = first(input);
    let text = String::from_utf8_lossy(input);
    let split = |text: &str, at: u8| text.floor_char_boundary((at as usize).min(text.len()));
    let (prefix, rest) = text.split_at(split(&text, before));
    let (suffix, answer) = rest.split_at(split(rest, after));
    let _ = Template::parse(answer);
    let parser = AnswerParser::new(&Template::chat(), prefix, suffix, before % 2 == 1);
    let _ = parser.parse_whole(answer);
    for (end, _) in answer.char_indices().step_by(7) {
        let partial = parser.parse_partial(&answer[..end]);
        assert!(partial.text.len() <= answer.len() + prefix.len(), "{partial:?}");
    }
    let languages = Language::ALL;
    let language = languages[after as usize % languages.len()];
    for rules in [ScoringRules::Paper, ScoringRules::Faithful] {
        let _ = repoqa::sanitize(language, answer, rules);
        let _ = yabloco::read_generation(Some(answer), rules);
    }
}
