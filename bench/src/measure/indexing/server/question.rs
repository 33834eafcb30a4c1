//! A document that asks for a name which stands in another file or document.

use std::path::Path;

use serde_json::{Value, json};
use syntax::Language;
use tests::lsp::{Buffer, Encoding, uri};

use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::source::completion;

/// What the names of all questions begin with.
pub(super) const NAMES: &str = "bench_";
/// What the files of all questions are called, but for their endings.
const FILE: &str = "bench_question";

/// Rules of the scripted engine: questions are answered with the names that begin like theirs, or with nothing, which is not
/// remembered; all else with what nobody types, so that no answer is used again.
pub(super) fn rules() -> Value {
    let mut rules: Vec<Value> = Language::ALL
        .iter()
        .map(|language| json!({"path": format!("{FILE}.{}", ending(*language)), "words": NAMES}))
        .collect();
    rules.push(json!({"path": "", "text": "\u{a7}"}));
    rules.into()
}

fn ending(language: Language) -> &'static str {
    language.endings().first().copied().unwrap_or_default()
}

/// An open document that ends with a name.
pub(super) struct Question {
    buffer: Buffer,
    name: String,
}

impl Question {
    /// Opens it.
    pub(super) fn open(editor: &Editor, root: &Path, language: Language, name: &str) -> Question {
        let uri = uri(&root.join(format!("{FILE}.{}", ending(language))));
        let buffer = Buffer::new(uri, language.name(), Encoding::Utf16, &text(name));
        editor.open(&buffer);
        Question { buffer, name: name.to_owned() }
    }

    /// Asks for another name from now on.
    pub(super) fn change(&mut self, editor: &Editor, name: &str) {
        let change = self.buffer.change_all(&text(name));
        editor.change(self.buffer.did_change(vec![change]));
        self.name = name.to_owned();
        // Until it is taken in.
        editor.status();
    }

    /// Parameters of the request for a completion behind the name.
    pub(super) fn completion(&self) -> Value {
        completion(&self.buffer, self.buffer.text().len())
    }

    /// Whether an answer shows that the engine was given the name.
    pub(super) fn is_answered_by(&self, answer: &Value) -> bool {
        let text = answer["items"][0]["insertText"].as_str().unwrap_or_default();
        let words = text.rsplit_once("words=").map_or("", |(_, words)| words);
        words.split_whitespace().any(|word| word == self.name)
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&self, editor: &Editor) -> bool {
        self.is_answered_by(&editor.complete(self.completion()))
    }

    /// Closes it.
    pub(super) fn close(self, editor: &Editor) {
        editor.close(&self.buffer);
    }
}

fn text(name: &str) -> String {
    format!("size = 3;\nresult = {name}")
}
