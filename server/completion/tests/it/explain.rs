//! Sources of an outcome's text.

use std::sync::Arc;

use builtin::BuiltinSettings;
use completion::{
    CompletionSettings, CopiedSpan, DocumentSnapshot, EditorContext, Outcome, OutcomeStatus, Snippet,
    WorkspaceIndex, complete,
};
use engines::BuiltinEngine;
use index::FileIndex;
use syntax::{Language, SourceFile};
use tokio_util::sync::CancellationToken;

use crate::complete::in_workspace;

fn workspace_of(files: &[(&str, &str)]) -> WorkspaceIndex {
    WorkspaceIndex::new(
        files
            .iter()
            .map(|&(path, text)| SourceFile {
                path: path.into(),
                language: Language::Python,
                text: text.into(),
            })
            .collect(),
    )
}

async fn complete_at(at: &(DocumentSnapshot, usize), settings: &CompletionSettings) -> Outcome {
    let engine = BuiltinEngine::new("builtin", BuiltinSettings::for_replay());
    complete(&at.0, at.1, &engine, settings, &CancellationToken::new()).await
}

/// Returns the spans of an outcome: text, source and location, counted from 1.
async fn spans(at: &(DocumentSnapshot, usize)) -> Vec<String> {
    let outcome = complete_at(at, &CompletionSettings::for_replay()).await;
    assert!(matches!(outcome.status, OutcomeStatus::Ok), "{:?}", outcome.status);
    let explanation = outcome.trace.explanation.expect("it was asked for");
    let described = |span: &CopiedSpan| {
        let place = span.start.map(|start| format!(":{}:{}", start.line + 1, start.character + 1));
        let renamed: Vec<_> = span.renamed.iter().map(|(there, here)| format!(" {there}→{here}")).collect();
        let place = place.unwrap_or_default();
        format!(
            "{:?} {:?} {}{place}{}",
            &outcome.text[span.range.clone()],
            span.from,
            span.path,
            renamed.concat()
        )
    };
    explanation.spans.iter().map(described).collect()
}

#[tokio::test]
async fn copy_is_one_span_with_location_and_renamed_identifiers() {
    let other = "# é\n\ndef f():\n    if self.radius is None:\n        raise ValueError('no')\n    return self.radius ** 2\n";
    let fixture = "def g():\n    if self.side is None:\n        raise ValueError('no')\n    return $0\n";
    let at = in_workspace(&workspace_of(&[("a.py", "x = 1\n"), ("b.py", other)]), "main.py", fixture);
    assert_eq!(spans(&at).await, [r#""self.side ** 2" File b.py:6:12 radius→side"#]);
}

#[tokio::test]
async fn copy_from_an_unsaved_document_uses_its_line_numbers() {
    let other = "def f():\n    if self.radius is None:\n        raise ValueError('no')\n    return self.radius ** 2\n";
    let fixture = "def g():\n    if self.side is None:\n        raise ValueError('no')\n    return $0\n";
    let (snapshot, offset) = in_workspace(&workspace_of(&[("b.py", other)]), "main.py", fixture);
    let text = format!("total = 1\n\n{other}").into();
    let unsaved = SourceFile { path: "b.py".into(), language: Language::Python, text };
    let documents = vec![Arc::new(FileIndex::new(unsaved))];
    let at = (snapshot.with_editor_context(EditorContext { documents, ..EditorContext::default() }), offset);
    assert_eq!(spans(&at).await, [r#""self.side ** 2" File b.py:6:12 radius→side"#]);
}

#[tokio::test]
async fn positions_in_the_document_are_line_and_character() {
    let before = "é = '𝒳'; total = add(a, b)\ntotal = $0\n";
    let at = in_workspace(&WorkspaceIndex::empty(), "main.py", before);
    assert_eq!(spans(&at).await, [r#""add(a, b)" Before main.py:1:19"#]);
    let after = "def f():\n    total = $0\n    x = 1\n\ndef g():\n    total = add(a, b)\n";
    let at = in_workspace(&WorkspaceIndex::empty(), "main.py", after);
    assert_eq!(spans(&at).await, [r#""add(a, b)" After main.py:6:13"#]);
}

#[tokio::test]
async fn context_span_has_its_file_and_known_line() {
    for (first_line, expected) in
        [(Some(40), r#""near(2)" Context near.py:42:9"#), (None, r#""near(2)" Context near.py"#)]
    {
        let near = Snippet { first_line, ..Snippet::new("near.py", "\nreply = near(2)\n") };
        let (snapshot, offset) = in_workspace(&WorkspaceIndex::empty(), "main.py", "reply = $0\n");
        let context = [near, Snippet::new("far.py", "x = 1\n")];
        assert_eq!(spans(&(snapshot.with_context(context.into()), offset)).await, [expected]);
    }
}

#[tokio::test]
async fn cut_and_gated_text_has_no_spans() {
    let other = "def f():\n    print(total, file=out)\n";
    let at = in_workspace(
        &workspace_of(&[("b.py", other)]),
        "main.py",
        "def g():\n    print(total$0, file=out)\n",
    );
    let outcome = complete_at(&at, &CompletionSettings::for_replay()).await;
    let explanation = outcome.trace.explanation.expect("it was asked for");
    let text: String = explanation.spans.iter().map(|span| &outcome.text[span.range.clone()]).collect();
    assert_eq!(text, outcome.text.trim());
    let unsure = CompletionSettings { min_confidence: Some(1.01), ..CompletionSettings::for_replay() };
    let at = in_workspace(&workspace_of(&[("b.py", other)]), "main.py", "def g():\n    print($0\n");
    let gated = complete_at(&at, &unsure).await;
    assert!(matches!(gated.status, OutcomeStatus::Gated(_)), "{:?}", gated.status);
    assert_eq!(gated.trace.explanation.map(|explanation| explanation.spans), Some(Vec::new()));
}

#[tokio::test]
async fn no_explanation_unless_requested() {
    let at = in_workspace(&WorkspaceIndex::empty(), "main.py", "total = add(a, b)\ntotal = $0\n");
    assert_eq!(complete_at(&at, &CompletionSettings::for_editor()).await.trace.explanation, None);
}
