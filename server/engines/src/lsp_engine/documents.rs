//! The documents that a server gets for one request: the edited one and the context.

use std::path::{Component, Path, PathBuf};

use reqwest::Url;
use serde_json::{Value, json};
use syntax::Language;
use text::Snippet;

use crate::Request;

/// A document for the server.
#[derive(Debug, PartialEq)]
pub(super) struct ServerDocument {
    pub(super) uri: String,
    language: &'static str,
    text: String,
}

impl ServerDocument {
    /// Parameters of `textDocument/didOpen`.
    pub(super) fn did_open_params(&self) -> Value {
        json!({"textDocument": {"uri": self.uri, "languageId": self.language, "version": 1, "text": self.text}})
    }
}

/// Returns the documents of a request in `folder`: context first, the nearest last, then the edited document, because servers
/// take the latest opened document as the active one.
///
/// Snippets of one file are joined to one document, in the order of the request, since the protocol knows no snippets. Snippets
/// of the edited file are omitted: the server has that file.
pub(super) fn documents_of_request(request: &Request, folder: &Path) -> Vec<ServerDocument> {
    let mut files: Vec<(&str, Vec<&str>)> = Vec::new();
    let input = &request.input;
    for Snippet { path, text, .. } in input.context.iter().filter(|item| item.path != input.path) {
        match files.iter_mut().find(|(other, _)| **other == **path) {
            Some((_, pieces)) => pieces.push(text),
            None => files.push((path, vec![text])),
        }
    }
    let others = files.into_iter().rev().filter_map(|(path, pieces)| {
        let language = Language::from_path(path).map_or("plaintext", |language| identifier(language.name()));
        Some(ServerDocument { uri: uri(folder, path)?, language, text: pieces.join("\n") })
    });
    let edited = uri(folder, &input.path).map(|uri| ServerDocument {
        uri,
        language: identifier(input.language.name()),
        text: input.text.to_string(),
    });
    others.chain(edited).collect()
}

/// Returns the URI of a path below the folder; `None` if the path leads out of it.
fn uri(folder: &Path, path: &str) -> Option<String> {
    let inside: PathBuf =
        Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    Some(Url::from_file_path(folder.join(inside)).ok()?.into())
}

/// Returns the protocol's language identifier.
fn identifier(name: &'static str) -> &'static str {
    match name {
        "tsx" => "typescriptreact",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::PromptInput;

    fn request(path: &str, context: &[(&str, &str)]) -> Request {
        let item = |&(path, text): &(&str, &str)| Snippet::new(path, text);
        Request::new(PromptInput {
            path: Arc::from(path),
            language: Language::Tsx,
            text: Arc::from("text"),
            cursor: 0,
            context: context.iter().map(item).collect(),
        })
    }

    #[test]
    fn edited_document_comes_last_and_snippets_are_joined_by_file() {
        let context = [("b.py", "near"), ("src/a b.tsx", "own"), ("README", "r"), ("b.py", "far")];
        let shown = documents_of_request(&request("src/a b.tsx", &context), Path::new("/w"));
        let shown: Vec<_> =
            shown.iter().map(|shown| (shown.uri.as_str(), shown.language, shown.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("file:///w/README", "plaintext", "r"),
                ("file:///w/b.py", "python", "near\nfar"),
                ("file:///w/src/a%20b.tsx", "typescriptreact", "text"),
            ]
        );
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        for path in ["../../etc/passwd", "/etc/passwd", "./etc/passwd"] {
            assert_eq!(uri(Path::new("/w"), path).as_deref(), Some("file:///w/etc/passwd"), "{path}");
        }
    }
}
