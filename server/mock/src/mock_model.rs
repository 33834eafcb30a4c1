//! A mock model with known answers and its own prompt template.

use std::sync::Arc;

/// The text around a hole, as parsed from a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptHole {
    /// Text before it.
    pub prefix: String,
    /// Text after it.
    pub suffix: String,
}

/// FIM tokens of a template. Repeated here on purpose, because the other definition is under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateMarks {
    before_prefix: &'static str,
    before_suffix: &'static str,
    before_middle: &'static str,
    is_suffix_first: bool,
}

impl TemplateMarks {
    /// Qwen2.5-Coder and CodeGemma.
    pub const QWEN: TemplateMarks =
        TemplateMarks::prefix_first("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>");
    /// StarCoder and Granite.
    pub const STARCODER: TemplateMarks =
        TemplateMarks::prefix_first("<fim_prefix>", "<fim_suffix>", "<fim_middle>");
    /// DeepSeek-Coder.
    pub const DEEPSEEK: TemplateMarks =
        TemplateMarks::prefix_first("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>");
    /// CodeLlama, including the blanks.
    pub const CODELLAMA: TemplateMarks = TemplateMarks::prefix_first("<PRE> ", " <SUF>", " <MID>");
    /// Codestral.
    pub const CODESTRAL: TemplateMarks = TemplateMarks {
        before_prefix: "[PREFIX]",
        before_suffix: "[SUFFIX]",
        before_middle: "",
        is_suffix_first: true,
    };

    /// Falcon-H1-Tiny-Coder.
    pub const FALCON: TemplateMarks = TemplateMarks::prefix_first("<|prefix|>", "<|suffix|>", "<|middle|>");
    /// Seed-Coder.
    pub const SEED_CODER: TemplateMarks = TemplateMarks {
        before_prefix: "<[fim-prefix]>",
        before_suffix: "<[fim-suffix]>",
        before_middle: "<[fim-middle]>",
        is_suffix_first: true,
    };

    const fn prefix_first(
        before_prefix: &'static str,
        before_suffix: &'static str,
        before_middle: &'static str,
    ) -> TemplateMarks {
        TemplateMarks { before_prefix, before_suffix, before_middle, is_suffix_first: false }
    }

    /// Parses a prompt in which each mark occurs exactly once, at its place.
    pub fn hole(&self, prompt: &str) -> Option<PromptHole> {
        let prompt = prompt.strip_suffix(self.before_middle)?;
        if ![self.before_prefix, self.before_suffix].iter().all(|mark| prompt.matches(*mark).count() == 1) {
            return None;
        }
        let (prefix, suffix) = if self.is_suffix_first {
            let (rest, prefix) = prompt.split_once(self.before_prefix)?;
            (prefix, rest.split_once(self.before_suffix)?.1)
        } else {
            let (rest, suffix) = prompt.split_once(self.before_suffix)?;
            (rest.split_once(self.before_prefix)?.1, suffix)
        };
        Some(PromptHole { prefix: prefix.to_owned(), suffix: suffix.to_owned() })
    }

    /// Renders a prompt with these marks.
    pub fn prompt(&self, hole: &PromptHole) -> String {
        let prefix = format!("{}{}", self.before_prefix, hole.prefix);
        let suffix = format!("{}{}", self.before_suffix, hole.suffix);
        let (first, second) = if self.is_suffix_first { (suffix, prefix) } else { (prefix, suffix) };
        format!("{first}{second}{}", self.before_middle)
    }

    pub(crate) fn all(&self) -> [&'static str; 3] {
        [self.before_prefix, self.before_suffix, self.before_middle]
    }
}

/// Answer to a prompt that the model does not understand.
pub(crate) const NOISE: &str = "lorem ipsum dolor sit amet";

type Answers = dyn Fn(&PromptHole) -> Option<String> + Send + Sync;
type Continuations = dyn Fn(&str) -> String + Send + Sync;

/// A model behind a server.
#[derive(Clone)]
pub struct MockModel {
    pub(crate) name: String,
    /// `None` for models that do not support fill-in-the-middle.
    pub(crate) marks: Option<TemplateMarks>,
    answers: Arc<Answers>,
    continues: Arc<Continuations>,
    known: Vec<(PromptHole, String)>,
}

impl MockModel {
    /// Creates a model without answers and with the marks of its template. Without marks it supports only chats.
    pub fn new(name: &str, marks: Option<TemplateMarks>) -> MockModel {
        let continues = Arc::new(|_: &str| NOISE.to_owned());
        MockModel { name: name.to_owned(), marks, answers: Arc::new(|_| None), continues, known: Vec::new() }
    }

    /// Adds the text that belongs between `prefix` and `suffix`.
    #[must_use]
    pub fn with_answer(mut self, prefix: &str, answer: &str, suffix: &str) -> MockModel {
        let hole = PromptHole { prefix: prefix.to_owned(), suffix: suffix.to_owned() };
        self.known.push((hole, answer.to_owned()));
        self
    }

    /// Sets the answers to holes without a known answer.
    #[must_use]
    pub fn with_answers(
        self,
        answers: impl Fn(&PromptHole) -> Option<String> + Send + Sync + 'static,
    ) -> MockModel {
        MockModel { answers: Arc::new(answers), ..self }
    }

    /// Sets the continuation of prompts without a hole in the model's template.
    #[must_use]
    pub fn with_continuations(self, continues: impl Fn(&str) -> String + Send + Sync + 'static) -> MockModel {
        MockModel { continues: Arc::new(continues), ..self }
    }

    /// Returns the answer to a prompt.
    pub(crate) fn complete(&self, prompt: &str) -> String {
        let hole = self.marks.and_then(|marks| marks.hole(prompt));
        hole.map_or_else(|| (self.continues)(prompt), |hole| self.fill(&hole))
    }

    /// Returns the answer to a hole.
    pub(crate) fn fill(&self, hole: &PromptHole) -> String {
        let known =
            self.known.iter().find(|(known, _)| is_same_hole(known, hole)).map(|(_, answer)| answer.clone());
        known.or_else(|| (self.answers)(hole)).unwrap_or_else(|| NOISE.to_owned())
    }

    /// Returns the answer in a chat. If the conversation contains both sides of a known hole, it is a code fence with text around
    /// it.
    pub(crate) fn chat(&self, conversation: &str) -> String {
        let stands = |text: &str| conversation.contains(text.trim());
        let is_meant = |hole: &PromptHole| stands(tail(&hole.prefix)) && stands(head(&hole.suffix));
        match self.known.iter().find(|(hole, _)| is_meant(hole)) {
            Some((_, answer)) => format!("```\n{answer}\n```"),
            None => "I would be happy to help. Which code do you mean?".to_owned(),
        }
    }
}

/// Bytes of a text that are compared to identify a hole.
const COMPARED_BYTES: usize = 60;

fn tail(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(COMPARED_BYTES))..]
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED_BYTES)]
}

/// Returns whether `hole` is the known one. An empty suffix may arrive as blanks.
fn is_same_hole(known: &PromptHole, hole: &PromptHole) -> bool {
    let suffix = head(&known.suffix);
    let fits =
        if suffix.is_empty() { hole.suffix.trim().is_empty() } else { hole.suffix.starts_with(suffix) };
    fits && hole.prefix.ends_with(tail(&known.prefix))
}

/// Reason why a generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GenerationEnd {
    EndOfText,
    TokenLimit,
    StopSequence,
}

/// A generation, split into tokens.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    pub(crate) pieces: Vec<String>,
    pub(crate) ending: GenerationEnd,
    pub(crate) input: usize,
}

/// Characters per token, roughly as in real vocabularies.
const TOKEN_CHARACTERS: usize = 4;

pub(crate) fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(TOKEN_CHARACTERS)
}

impl Generation {
    /// Splits `text` as a server does that stops at `stops` or after so many tokens. Servers differ in whether they send the stop
    /// itself.
    pub(crate) fn new(
        prompt: &str,
        text: &str,
        limit: usize,
        stops: &[String],
        with_stop: bool,
    ) -> Generation {
        let stop =
            stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| Some((text.find(stop)?, stop)));
        let (text, mut ending) = match stop.min_by_key(|(at, _)| *at) {
            None => (text, GenerationEnd::EndOfText),
            Some((at, stop)) => {
                (&text[..at + if with_stop { stop.len() } else { 0 }], GenerationEnd::StopSequence)
            }
        };
        let characters: Vec<char> = text.chars().collect();
        let mut pieces: Vec<String> =
            characters.chunks(TOKEN_CHARACTERS).map(|piece| piece.iter().collect()).collect();
        if pieces.len() > limit {
            pieces.truncate(limit);
            ending = GenerationEnd::TokenLimit;
        }
        Generation { pieces, ending, input: tokens(prompt) }
    }

    pub(crate) fn text(&self) -> String {
        self.pieces.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_is_read_only_by_its_own_template() {
        let hole = PromptHole { prefix: "a".to_owned(), suffix: "b".to_owned() };
        let all = [
            TemplateMarks::QWEN,
            TemplateMarks::STARCODER,
            TemplateMarks::DEEPSEEK,
            TemplateMarks::CODELLAMA,
            TemplateMarks::CODESTRAL,
            TemplateMarks::FALCON,
            TemplateMarks::SEED_CODER,
        ];
        for marks in all {
            let prompt = marks.prompt(&hole);
            let readers: Vec<TemplateMarks> =
                all.into_iter().filter(|other| other.hole(&prompt).is_some()).collect();
            assert_eq!(readers, [marks]);
            assert_eq!(marks.hole(&prompt).as_ref(), Some(&hole));
        }
    }

    #[test]
    fn model_answers_only_its_configured_holes() {
        let model = MockModel::new("m", Some(TemplateMarks::QWEN)).with_answer(
            "def f():\n    ",
            "return 1",
            "\n\nf()\n",
        );
        let ask = |prefix: &str, suffix: &str| {
            model.fill(&PromptHole { prefix: prefix.to_owned(), suffix: suffix.to_owned() })
        };
        assert_eq!(ask("# other.py\ndef f():\n    ", "\n\nf()\n"), "return 1");
        assert_eq!(ask("def f():\n    ", "\n"), NOISE);
        assert_eq!(model.chat("fill def f():\n    <HOLE>\n\nf()\n please"), "```\nreturn 1\n```");
    }

    #[test]
    fn generation_ends_at_stop_sequence_or_token_limit() {
        let stops = ["!".to_owned()];
        let response = |limit, with_stop| {
            let generation = Generation::new("", "abcdefgh!ij", limit, &stops, with_stop);
            (generation.text(), generation.ending)
        };
        assert_eq!(response(9, false), ("abcdefgh".to_owned(), GenerationEnd::StopSequence));
        assert_eq!(response(9, true), ("abcdefgh!".to_owned(), GenerationEnd::StopSequence));
        assert_eq!(response(1, false), ("abcd".to_owned(), GenerationEnd::TokenLimit));
    }
}
