//! The syntax of an open document: computed on first use, kept until its text changes, shared by all that read it.
//!
//! The results for the last text are kept, and a new text of the whole document is parsed incrementally. The text before a cursor is
//! not: closed behind the cursor it has errors, after which most updates fail and a full parse follows. Every result is the one of a
//! fresh computation, so it depends on the text only, never on earlier ones ([`Tree::update`]).
//!
//! Nothing is computed when a document changes. Computing the document's tree holds the cache's lock, so that other requests for the
//! same text wait and find it done: callers are on blocking threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use text::Edit;

use crate::language::Language;
use crate::outline::Outline;
use crate::scope::Scope;
use crate::tree::{Tree, parse_while_edited};

/// Texts are parsed from the same base while at most this many bytes are parsed again. Then the new text becomes a base: each step from
/// base to base adds to the bound of the parser's work ([`Tree::update`]).
const MAX_PARSED_AGAIN: usize = 2 << 10;

/// Cache of an open document's syntax; clones share it.
#[derive(Clone, Debug, Default)]
pub struct SyntaxCache(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    /// The whole document.
    document: Option<ParsedText<Arc<str>>>,
    /// The text that the whole document is parsed from.
    document_base: Option<ParsedText<Arc<str>>>,
    /// The scope after the text before the last cursor.
    scope: Option<LastScope>,
    /// The first lines of a large document.
    head: Option<(ParsedText<Box<str>>, Arc<Outline>)>,
}

/// A text with its tree.
#[derive(Clone, Debug)]
struct ParsedText<T> {
    text: T,
    tree: Tree,
}

#[derive(Debug)]
struct LastScope {
    language: Language,
    prefix: Box<str>,
    scope: Arc<Scope>,
}

impl SyntaxCache {
    /// Returns the tree of the document's text.
    pub fn tree(&self, language: Language, text: &Arc<str>) -> Tree {
        self.entries().tree(language, text)
    }

    /// Returns the scope after `prefix`, the text before a cursor: the result of [`scope`](crate::scope()). A request for another
    /// prefix does not wait for this one.
    pub fn scope(&self, language: Language, prefix: &str) -> Arc<Scope> {
        if let Some(last) = &self.entries().scope
            && last.language == language
            && *last.prefix == *prefix
        {
            return Arc::clone(&last.scope);
        }
        let scope = Arc::new(crate::scope(language, prefix));
        self.entries().scope = Some(LastScope { language, prefix: prefix.into(), scope: Arc::clone(&scope) });
        scope
    }

    /// Returns the outline of `head`, the first lines of the document.
    pub fn outline_of_head(&self, language: Language, head: &str) -> Arc<Outline> {
        let entry = &mut self.entries().head;
        if let Some((known, outline)) = entry
            && known.tree.language() == language
            && *known.text == *head
        {
            return Arc::clone(outline);
        }
        let tree = parse_while_edited(language, head);
        let outline = Arc::new(tree.outline(head));
        *entry = Some((ParsedText { text: head.into(), tree }, Arc::clone(&outline)));
        outline
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn tree(&mut self, language: Language, text: &Arc<str>) -> Tree {
        let is_known =
            |known: &&ParsedText<Arc<str>>| known.tree.language() == language && known.text == *text;
        if let Some(known) = self.document.as_ref().filter(is_known) {
            return known.tree.clone();
        }
        let base = self.document_base.as_ref().filter(|base| base.tree.language() == language);
        let edit = base.and_then(|base| Edit::between(&base.text, text));
        let updated =
            base.zip(edit.as_ref()).and_then(|(base, edit)| base.tree.try_update(&base.text, text, edit));
        let is_near = updated.is_some() && edit.is_some_and(|edit| edit.text.len() <= MAX_PARSED_AGAIN);
        let tree = updated.unwrap_or_else(|| parse_while_edited(language, text));
        let document = ParsedText { text: Arc::clone(text), tree: tree.clone() };
        if !is_near {
            self.document_base = Some(document.clone());
        }
        self.document = Some(document);
        tree
    }
}

#[cfg(test)]
mod tests;
