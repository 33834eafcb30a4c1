//! The syntax of an open document: computed on first use, kept until its text changes, shared by all that read it.
//!
//! The results for the last text are kept, and a new text is parsed incrementally: the whole document, and the text before a cursor, closed
//! behind the cursor. In a long file without errors, only its last items are parsed. Every result is the one of a fresh computation, so it
//! depends on the text only, never on earlier ones ([`Tree::update`], [`Tree::update_end`], [`KnownItems`]).
//!
//! Nothing is computed when a document changes. Requests for the same text wait for the first one and find it done: callers are on
//! blocking threads. A thread that must not be waited for uses [`SyntaxCache::background_tree`] or a [fork](SyntaxCache::fork).

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use text::Edit;

use self::last_items::KnownItems;
use crate::language::Language;
use crate::lexer::LexedText;
use crate::names::NamesOfLines;
use crate::outline::{KnownBeginning, Outline, OutlineRecord};
use crate::scope::{Scope, close_prefix, scope_of};
use crate::tree::{Tree, parse_while_edited};

mod last_items;

/// Texts are parsed from the same base while at most this many bytes are parsed again. Then the new text becomes a base: each step from
/// base to base adds to the bound of the parser's work ([`Tree::update`]).
const MAX_PARSED_AGAIN: usize = 2 << 10;

/// The same for the text before a cursor, where it is the number of bytes behind the first difference in the longer text: a text that ends
/// far before its base would take as long as the removed part in each request. Few bytes, since they are parsed again in each request, and a
/// new base costs little more than its parse.
const MAX_END_CHANGED: usize = 512;

/// Texts whose tokens are kept: all and the near ones before a cursor, and those after it.
const MAX_LEXED: usize = 3;

/// Cache of an open document's syntax; clones share it.
#[derive(Clone, Debug, Default)]
pub struct SyntaxCache {
    entries: Arc<Mutex<Entries>>,
    /// Texts before and after the last cursors, the latest first. Locked while a text is lexed: the next one mostly continues it.
    lexed: Arc<Mutex<VecDeque<Arc<LexedText>>>>,
}

#[derive(Clone, Debug, Default)]
struct Entries {
    /// The whole document.
    document: Option<ParsedText>,
    /// The text that the whole document is parsed from.
    document_base: Option<ParsedText>,
    /// The whole document as a background thread read it last, which may be behind.
    background: Option<ParsedText>,
    /// The scope after the text before the last cursor.
    scope: Option<LastScope>,
    /// The closed text that the text before a cursor is parsed from.
    scope_base: Option<ScopeBase>,
    /// The closed text whose items before a cursor are not parsed again.
    known_items: Option<Arc<KnownItems>>,
    /// Whether the closed text before the last cursor has an error: then the next one mostly has it, too.
    has_scope_error: bool,
    /// The names before the last cursor.
    names: Option<Arc<NamesOfLines>>,
    /// The first lines of a large document.
    head: Option<(ParsedText, Arc<Outline>)>,
}

/// A text with its tree.
#[derive(Clone, Debug)]
struct ParsedText {
    text: Arc<str>,
    tree: Tree,
}

/// A closed text with its tree and outline.
#[derive(Clone, Debug)]
struct ScopeBase {
    parsed: ParsedText,
    /// `None` if no outline can continue this one.
    outline: Option<Arc<OutlineRecord>>,
}

#[derive(Clone, Debug)]
struct LastScope {
    language: Language,
    prefix: Arc<str>,
    /// Set by the first request for it.
    scope: Arc<OnceLock<Arc<Scope>>>,
}

impl SyntaxCache {
    /// Returns the tree of the document's text.
    pub fn tree(&self, language: Language, text: &Arc<str>) -> Tree {
        self.entries().tree(language, text)
    }

    /// Returns the tree of the document's text for a thread that must not be waited for: no lock is held while it parses. It may be behind:
    /// what [`tree`](SyntaxCache::tree) keeps stays as it is. Both find each other's trees, so a text that both read is parsed once.
    pub fn background_tree(&self, language: Language, text: &Arc<str>) -> Tree {
        let (known, base) = {
            let entries = self.entries();
            (entries.known_tree(language, text), entries.document_base.clone())
        };
        if let Some(known) = known {
            return known;
        }
        let (tree, is_near) = parse_from(base.as_ref(), language, text);
        let parsed = ParsedText { text: Arc::clone(text), tree: tree.clone() };
        let mut entries = self.entries();
        if !is_near {
            entries.document_base = Some(parsed.clone());
        }
        entries.background = Some(parsed);
        tree
    }

    /// Returns a cache that begins with what this one knows. They share no lock: no thread that uses one waits for a thread that uses the
    /// other.
    #[must_use]
    pub fn fork(&self) -> SyntaxCache {
        let mut entries = self.entries().clone();
        entries.scope.take_if(|last| last.scope.get().is_none());
        // Not waited for while another thread lexes.
        let lexed = self.lexed.try_lock().map(|lexed| lexed.clone()).unwrap_or_default();
        SyntaxCache { entries: Arc::new(Mutex::new(entries)), lexed: Arc::new(Mutex::new(lexed)) }
    }

    /// Returns the scope after `prefix`, the text before a cursor: the result of [`scope`](crate::scope()). A request for another
    /// prefix does not wait for this one.
    pub fn scope(&self, language: Language, prefix: &str) -> Arc<Scope> {
        let cell = self.entries().scope_cell(language, prefix);
        Arc::clone(cell.get_or_init(|| {
            let text = close_prefix(language, prefix, self.lexed(language, prefix).tokens());
            Arc::new(self.closed_scope(language, &text.into(), prefix.len()))
        }))
    }

    /// Returns the last scope that was asked for, if it is known by now: that of the text before another cursor, or of another text.
    pub fn last_scope(&self, language: Language) -> Option<Arc<Scope>> {
        let entries = self.entries();
        entries.scope.as_ref().filter(|last| last.language == language)?.scope.get().cloned()
    }

    /// Returns the names of the whole lines of `prefix`, the text before a cursor: the result of [`NamesOfLines::new`].
    pub fn names_before(
        &self,
        language: Language,
        prefix: &str,
        imports: &[Range<usize>],
    ) -> Arc<NamesOfLines> {
        let known = self.entries().names.clone();
        let mut names = match known.filter(|known| known.is_continued_by(language, prefix, imports)) {
            Some(known) => known,
            None => Arc::new(NamesOfLines::new(language, prefix, imports.to_vec())),
        };
        if !names.is_complete(prefix) {
            Arc::make_mut(&mut names).continue_to(prefix);
        }
        self.entries().names = Some(Arc::clone(&names));
        names
    }

    /// Returns `text`, a part of the document before or after a cursor, with its tokens: the result of [`LexedText::new`].
    pub fn lexed(&self, language: Language, text: &str) -> Arc<LexedText> {
        let mut lexed = self.lexed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lexed.iter().find(|known| known.is_of(language, text)) {
            return Arc::clone(known);
        }
        let continued = lexed
            .iter()
            .enumerate()
            .find_map(|(place, known)| Some((place, known.shared_tokens(language, text)?)));
        let continued = continued.and_then(|(place, shared)| Some((lexed.remove(place)?, shared)));
        let new = match continued {
            // The texts of one place follow each other in one entry.
            Some((mut known, shared)) => {
                Arc::make_mut(&mut known).become_text(text, shared);
                known
            }
            None => Arc::new(LexedText::new(language, text)),
        };
        lexed.push_front(Arc::clone(&new));
        lexed.truncate(MAX_LEXED);
        new
    }

    /// Returns the scope at `cursor` in `text`, which is closed behind it.
    fn closed_scope(&self, language: Language, text: &Arc<str>, cursor: usize) -> Scope {
        let (known_items, base, expects_error) = {
            let entries = self.entries();
            (entries.known_items.clone(), entries.scope_base.clone(), entries.has_scope_error)
        };
        if let Some(scope) = known_items.and_then(|known| known.scope(language, text, cursor)) {
            self.entries().has_scope_error = false;
            return scope;
        }
        let base = base.filter(|base| base.parsed.tree.language() == language);
        let updated =
            base.as_ref().and_then(|ScopeBase { parsed: ParsedText { text: old, tree }, .. }| {
                let valid = if expects_error { None } else { tree.update_valid_end(old, text) };
                valid.or_else(|| tree.update_end(old, text))
            });
        let is_near = updated.as_ref().is_some_and(|updated| updated.changed <= MAX_END_CHANGED);
        let tree = match &updated {
            Some(updated) => updated.tree.clone(),
            None => parse_while_edited(language, text),
        };
        self.entries().has_scope_error = tree.root().has_error();
        let is_base = base.as_ref().is_none_or(|base| !is_near && is_better_base(&tree, text, &base.parsed));
        let record = base.as_ref().and_then(|base| base.outline.as_deref());
        let known =
            record.zip(updated).map(|(record, updated)| KnownBeginning { record, same: updated.same() });
        if is_base {
            return self.scope_of_new_base(ParsedText { text: Arc::clone(text), tree }, known, cursor);
        }
        let outline = known.map_or_else(|| tree.outline(text), |known| tree.continued_outline(text, known));
        scope_of(&tree, text, outline, cursor)
    }

    /// Same as [`SyntaxCache::closed_scope`] for a text that becomes the base of later ones.
    fn scope_of_new_base(
        &self,
        parsed: ParsedText,
        known: Option<KnownBeginning<'_>>,
        cursor: usize,
    ) -> Scope {
        let ParsedText { text, tree } = &parsed;
        let (outline, record) = tree.recorded_outline(text, known);
        let scope = scope_of(tree, text, outline, cursor);
        let outline = record.map(Arc::new);
        let mut entries = self.entries();
        if let Some(record) = &outline
            && entries.known_items.as_ref().is_none_or(|known| !known.have(&parsed, cursor))
        {
            let known = KnownItems::new(parsed.clone(), Arc::clone(record), &scope.bindings, cursor);
            entries.known_items = Some(Arc::new(known));
        }
        entries.scope_base = Some(ScopeBase { parsed, outline });
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
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Returns the cell for the scope after `prefix`.
    fn scope_cell(&mut self, language: Language, prefix: &str) -> Arc<OnceLock<Arc<Scope>>> {
        if let Some(last) = &self.scope
            && last.language == language
            && *last.prefix == *prefix
        {
            return Arc::clone(&last.scope);
        }
        let scope = Arc::default();
        self.scope = Some(LastScope { language, prefix: prefix.into(), scope: Arc::clone(&scope) });
        scope
    }

    fn known_tree(&self, language: Language, text: &str) -> Option<Tree> {
        let is_known = |known: &&ParsedText| known.tree.language() == language && *known.text == *text;
        let known = self.document.iter().chain(&self.background).find(is_known);
        known.map(|known| known.tree.clone())
    }

    fn tree(&mut self, language: Language, text: &Arc<str>) -> Tree {
        if let Some(known) = self.known_tree(language, text) {
            return known;
        }
        let (tree, is_near) = parse_from(self.document_base.as_ref(), language, text);
        let document = ParsedText { text: Arc::clone(text), tree: tree.clone() };
        if !is_near {
            self.document_base = Some(document.clone());
        }
        self.document = Some(document);
        tree
    }
}

/// Whether later texts are better parsed from this one than from `base`. After an error that reaches back to the beginning, the text before
/// it is still the better base.
fn is_better_base(tree: &Tree, text: &str, base: &ParsedText) -> bool {
    let same = Edit::between(&base.text, text).map_or(text.len(), |edit| edit.range.start);
    tree.valid_bytes() >= same.min(base.tree.valid_bytes())
}

/// Parses a text, from an earlier one if it has the same language. Returns whether that one is still a good base.
fn parse_from(base: Option<&ParsedText>, language: Language, text: &Arc<str>) -> (Tree, bool) {
    let base = base.filter(|base| base.tree.language() == language);
    let edit = base.and_then(|base| Edit::between(&base.text, text));
    let updated =
        base.zip(edit.as_ref()).and_then(|(base, edit)| base.tree.try_update(&base.text, text, edit));
    let is_near = updated.is_some() && edit.is_some_and(|edit| edit.text.len() <= MAX_PARSED_AGAIN);
    (updated.unwrap_or_else(|| parse_while_edited(language, text)), is_near)
}

#[cfg(test)]
mod tests;
