//! The syntax of an open document: computed on first use, kept until its text changes, shared by all that read it.
//!
//! Requests of one document parse nearly the same text: the whole document, or its part before the cursor. So the results for the
//! last text are kept, and a new text is parsed incrementally. Every result is the one of a fresh computation, so it depends on the
//! text only, never on earlier ones ([`Tree::update`]).
//!
//! Nothing is computed when a document changes. A computation holds the cache's lock, so that other requests for the same text wait
//! and find it done: callers are on blocking threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use text::Edit;

use crate::language::Language;
use crate::outline::Outline;
use crate::scope::{Scope, close_prefix, scope_of};
use crate::tree::{Tree, parse_while_edited};

/// Texts are parsed from the same base while at most this many bytes are parsed again. Then the new text becomes a base: each step from
/// base to base adds to the bound of the parser's work ([`Tree::update`]).
const MAX_PARSED_AGAIN: usize = 2 << 10;
/// A base with at most this many bytes behind the part that a new base shares is replaced by it. They are closing brackets.
const MAX_REPLACED: usize = 1 << 10;

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
    /// At most two texts, closed behind a cursor, that scopes are parsed from: the last one, and one that reaches further down.
    prefix_bases: Vec<ParsedText<String>>,
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

    /// Returns the scope after `prefix`, the text before a cursor: the result of [`scope`](crate::scope).
    pub fn scope(&self, language: Language, prefix: &str) -> Arc<Scope> {
        self.entries().scope(language, prefix)
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

    fn scope(&mut self, language: Language, prefix: &str) -> Arc<Scope> {
        if let Some(last) = &self.scope
            && last.language == language
            && *last.prefix == *prefix
        {
            return Arc::clone(&last.scope);
        }
        let text = close_prefix(language, prefix);
        let tree = self.tree_of_closed(language, &text);
        let scope = Arc::new(scope_of(&tree, &text, prefix.len()));
        self.scope = Some(LastScope { language, prefix: prefix.into(), scope: Arc::clone(&scope) });
        scope
    }

    /// Returns the tree of a text that is closed behind a cursor.
    fn tree_of_closed(&mut self, language: Language, text: &str) -> Tree {
        self.prefix_bases.retain(|base| base.tree.language() == language);
        let shared = |base: &ParsedText<String>| {
            Edit::between(&base.text, text).map_or(text.len(), |edit| edit.range.start)
        };
        // Of two bases that share equally much, the longer one may share more with later texts.
        let bases = self.prefix_bases.iter().map(shared).enumerate();
        let best = bases.max_by_key(|&(base, shared)| (shared, self.prefix_bases[base].text.len()));
        let Some((base, shared)) = best else {
            let tree = parse_while_edited(language, text);
            self.prefix_bases.push(ParsedText { text: text.to_owned(), tree: tree.clone() });
            return tree;
        };
        let ParsedText { text: old, tree } = &self.prefix_bases[base];
        let updated = tree.update_after(old, text, shared);
        let is_near = updated.is_some() && text.len() <= shared + MAX_PARSED_AGAIN;
        let tree = updated.unwrap_or_else(|| parse_while_edited(language, text));
        if !is_near {
            let base = self.prefix_bases.swap_remove(base);
            if base.text.len() > shared + MAX_REPLACED {
                self.prefix_bases = vec![base];
            }
            self.prefix_bases.push(ParsedText { text: text.to_owned(), tree: tree.clone() });
        }
        tree
    }
}

#[cfg(test)]
mod tests;
