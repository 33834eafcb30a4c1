//! Guards on the counted work of whole requests: parses, lexed bytes and retrievals, from the gates to the cleaned answer.
//!
//! Counts are those of the process: nextest runs each test in its own.

use std::sync::Arc;

use builtin::BuiltinSettings;
use completion::{CompletionSettings, DocumentText, WorkspaceIndex, complete};
use engines::{BuiltinEngine, Engine, ScriptedEngine, ScriptedReply};
use index::Index;
use syntax::{Language, SourceFile, SyntaxCache};
use tokio_util::sync::CancellationToken;

/// Work of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CountedWork {
    parses: u64,
    parser_work: u64,
    lexed_bytes: u64,
    retrievals: u64,
}

impl CountedWork {
    fn so_far() -> CountedWork {
        let parses = syntax::parse_counts();
        CountedWork {
            parses: parses.parses,
            parser_work: parses.work,
            lexed_bytes: syntax::lexed_bytes(),
            retrievals: index::retrieval_count(),
        }
    }

    fn since(self, before: CountedWork) -> CountedWork {
        CountedWork {
            parses: self.parses - before.parses,
            parser_work: self.parser_work - before.parser_work,
            lexed_bytes: self.lexed_bytes - before.lexed_bytes,
            retrievals: self.retrievals - before.retrievals,
        }
    }
}

/// A file of two lines for each of this number of functions.
fn python_file(functions: usize) -> String {
    let function =
        |number: usize| format!("def function_{number}(argument):\n    return argument + {number}\n\n\n");
    (0..functions).map(function).collect()
}

/// An open document in a workspace with one other file.
struct OpenDocument {
    workspace: WorkspaceIndex,
    syntax: SyntaxCache,
    before: String,
    after: String,
}

impl OpenDocument {
    fn new(functions: usize) -> OpenDocument {
        let other = SourceFile {
            path: "widgets.py".into(),
            language: Language::Python,
            text: "def make_widget(size):\n    return size\n".into(),
        };
        let files: Arc<[SourceFile]> = [other].into();
        let workspace = WorkspaceIndex::new(files.clone()).with_index(
            files.clone(),
            Index::build(&files),
            Arc::default(),
        );
        let before =
            format!("from widgets import make_widget\n\n\n{}value = make_wid", python_file(functions));
        let after = format!("\n\n\n{}", python_file(functions));
        OpenDocument { workspace, syntax: SyntaxCache::default(), before, after }
    }

    /// Types a character and asks.
    async fn ask_after_key(&mut self, key: &str, engine: &dyn Engine) -> CountedWork {
        self.before.push_str(key);
        let text = [&*self.before, &*self.after].concat().into();
        let document = DocumentText { path: "main.py".into(), language: Language::Python, text };
        let snapshot = self.workspace.snapshot(document).with_syntax(self.syntax.clone());
        let settings = CompletionSettings::for_editor();
        let before = CountedWork::so_far();
        complete(&snapshot, self.before.len(), engine, &settings, &CancellationToken::new()).await;
        CountedWork::so_far().since(before)
    }
}

#[tokio::test]
async fn a_request_after_a_key_works_on_the_text_near_the_cursor_only() {
    let mut document = OpenDocument::new(500);
    let reply = ScriptedReply { context: true, ..ScriptedReply::default() };
    let engine = ScriptedEngine::with_rules("names its context", vec![reply]);
    let first = document.ask_after_key("", &engine).await;
    let size = (document.before.len() + document.after.len()) as u64;
    assert_eq!((first.parses, first.retrievals), (1, 1), "{first:?}");
    assert!(first.lexed_bytes < size * 11 / 10, "the document is lexed once: {first:?} of {size}");
    let again = document.ask_after_key("", &engine).await;
    assert_eq!((again.parses, again.retrievals), (0, 1), "{again:?}");
    let typed = document.ask_after_key("g", &engine).await;
    assert_eq!((typed.parses, typed.retrievals), (1, 1), "{typed:?}");
    assert!(typed.parser_work * 3 < first.parser_work, "{typed:?} after {first:?}");
    for later in [again, typed] {
        assert!(later.lexed_bytes < 4 << 10, "{later:?}");
    }
}

#[tokio::test]
async fn the_built_in_engine_reads_the_tokens_of_earlier_requests() {
    let mut document = OpenDocument::new(500);
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_editor());
    let first = document.ask_after_key("", &engine).await;
    let size = (document.before.len() + document.after.len()) as u64;
    assert_eq!(first.parses, 0, "{first:?}");
    assert!(first.lexed_bytes < size * 11 / 10, "the document is lexed once: {first:?} of {size}");
    let typed = document.ask_after_key("g", &engine).await;
    assert!(typed.lexed_bytes < 8 << 10, "{typed:?}");
}
