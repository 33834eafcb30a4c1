//! A document that asks for a name from another file or document.

use std::path::Path;

use serde_json::{Value, json};
use syntax::Language;
use tests::lsp::{Buffer, Encoding, uri};

use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::typed_file::completion;

/// Prefix of all names.
pub(super) const NAMES: &str = "bench_";
/// File name of all questions, without extension.
const FILE: &str = "bench_question";

/// Rules of the scripted engine: a question is answered with the names with its prefix, or with nothing, which isn't cached;
/// every other request with a character that isn't typed, so that no answer is reused.
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
pub(super) struct QueryDocument {
    buffer: Buffer,
    name: String,
}

impl QueryDocument {
    /// Opens it.
    pub(super) fn open(editor: &Editor, root: &Path, language: Language, name: &str) -> QueryDocument {
        let uri = uri(&root.join(format!("{FILE}.{}", ending(language))));
        let buffer = Buffer::new(uri, language.name(), Encoding::Utf16, &text(name));
        editor.open(&buffer);
        QueryDocument { buffer, name: name.to_owned() }
    }

    /// Replaces the name.
    pub(super) fn change(&mut self, editor: &Editor, name: &str) {
        let change = self.buffer.change_all(&text(name));
        editor.change(self.buffer.did_change(vec![change]));
        self.name = name.to_owned();
        // Waits until the change is processed.
        editor.status();
    }

    /// Parameters of the completion request after the name.
    pub(super) fn completion(&self) -> Value {
        completion(&self.buffer, self.buffer.text().len())
    }

    /// Whether an answer shows that the engine's context contained the name.
    pub(super) fn is_answered_by(&self, answer: &Value) -> bool {
        let text = answer["items"][0]["insertText"].as_str().unwrap_or_default();
        let words = text.rsplit_once("words=").map_or("", |(_, words)| words);
        words.split_whitespace().any(|word| word == self.name)
    }

    /// Sends the request and waits for the answer.
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
