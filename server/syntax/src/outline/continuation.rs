//! Continues the outline of a text in a text with the same beginning: while somebody types, most definitions before the cursor stay.
//!
//! The recorded walk has one entry for each visited node. The later walk takes what whole nodes in the common beginning have added, visits the
//! nodes around its end itself, and compares what they add with the record. From the first difference on it is an ordinary walk, so the
//! result is always that of [`Tree::outline`]: nothing that depends on the earlier text may remain in it.

use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Node;

use super::{Definition, Outline, OutlineBuilder, SourceText};
use crate::tree::Tree;
use crate::walk::TreeWalk;

/// The walk that has made an outline.
#[derive(Debug, Default)]
pub(crate) struct OutlineRecord {
    /// The items as their own visits have left them.
    items: Outline,
    /// Visited nodes in the order of the walk.
    visits: Vec<Visit>,
    /// Later changes of definitions, in the order of the walk.
    changes: Vec<Change>,
}

/// The walk through a text with the same beginning.
#[derive(Clone, Copy)]
pub(crate) struct KnownBeginning<'a> {
    pub(crate) record: &'a OutlineRecord,
    /// The nodes that end before this byte are the same, and so are the rests of their lines.
    pub(crate) same: usize,
}

impl KnownBeginning<'_> {
    /// Whether the visit at this position is that of `node`, which begins in the same part.
    fn has_visit(&self, at: usize, node: Node<'_>, depth: usize) -> bool {
        node.start_byte() < self.same && self.record.is_visit(at, node, depth)
    }

    /// Whether what the visits of `node`, at this position, and of its children have added can be taken.
    fn is_taken(&self, at: usize, node: Node<'_>) -> bool {
        node.end_byte() < self.same && self.record.visits[at].is_takeable
    }
}

/// A visited node.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// Number of its kind.
    kind: u16,
    /// Start of the node, in bytes.
    start: u32,
    /// Number of nodes around it.
    depth: u32,
    /// Numbers of items before those that it adds.
    before: ItemCounts,
    /// Whether nothing but added items and changes remains of it and its children.
    is_takeable: bool,
}

/// A change of a definition by a later visit than the one that has added it.
#[derive(Clone, Debug)]
struct Change {
    /// Position of the visit.
    visit: usize,
    /// Position of the definition.
    position: u32,
    before: Arc<Definition>,
    after: Arc<Definition>,
}

/// Numbers of items in an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ItemCounts {
    definitions: usize,
    imports: usize,
    namespaces: usize,
    extensions: usize,
}

/// What a visit does to the rest of the walk, beside adding items.
#[derive(Debug)]
pub(super) struct VisitEffects {
    /// Number of definitions before the visit.
    definitions: usize,
    /// Where the last effect on other visits ends, in bytes; the highest number if fragments were parsed, which takes from the budget of
    /// others.
    pub(super) end: usize,
    /// Positions of changed definitions, with their values before.
    changed: Vec<(u32, Arc<Definition>)>,
    pub(super) has_changed_imports: bool,
}

impl VisitEffects {
    fn of_visit(outline: &Outline) -> VisitEffects {
        let definitions = outline.definitions.len();
        VisitEffects { definitions, end: 0, changed: Vec::new(), has_changed_imports: false }
    }

    /// Remembers a definition before it is changed, unless the same visit has added it.
    pub(super) fn changes(&mut self, position: u32, before: &Arc<Definition>) {
        if (position as usize) < self.definitions {
            self.changed.push((position, Arc::clone(before)));
        }
    }
}

impl Tree {
    /// Returns the outline of the parsed `text`, which may begin as `known` says, and the record of the walk; no record if a later walk cannot
    /// continue it.
    pub(crate) fn recorded_outline(
        &self,
        text: &str,
        known: Option<KnownBeginning<'_>>,
    ) -> (Outline, Option<OutlineRecord>) {
        self.walk_outline(text, known, Some(OutlineRecord::default()))
    }

    /// Returns the outline of the parsed `text`, which begins as `known` says.
    pub(crate) fn continued_outline(&self, text: &str, known: KnownBeginning<'_>) -> Outline {
        self.walk_outline(text, Some(known), None).0
    }

    /// Returns the outline of the parsed `text`. Continues `record`, if there is one, and returns it unless a later walk cannot continue it.
    fn walk_outline(
        &self,
        text: &str,
        known: Option<KnownBeginning<'_>>,
        mut record: Option<OutlineRecord>,
    ) -> (Outline, Option<OutlineRecord>) {
        let mut builder = OutlineBuilder::new(self.language, SourceText { text });
        // The next visit that is known.
        let mut repeated = known.map(|known| (known, ROOT));
        // Positions of the visits around the current one.
        let mut around = Vec::new();
        let mut walk = TreeWalk::new(self.root());
        while let Some(node) = walk.node() {
            repeated = repeated.filter(|(known, at)| known.has_visit(*at, node, walk.depth()));
            if let Some((known, at)) = repeated
                && known.is_taken(at, node)
            {
                let visits = at..known.record.behind(at);
                builder.take(known.record, visits.clone());
                record.iter_mut().for_each(|record| record.take(known.record, visits.clone()));
                repeated = Some((known, visits.end));
                walk.advance(false);
                continue;
            }
            let before = ItemCounts::of(&builder.outline);
            let is_needed = repeated.is_some() || record.is_some();
            builder.effects = is_needed.then(|| VisitEffects::of_visit(&builder.outline));
            let enters = builder.visit(node, &walk);
            if let Some(effects) = builder.effects.take() {
                repeated = repeated
                    .filter(|(known, at)| known.record.adds_only(*at, &effects, &builder.outline))
                    .map(|(known, at)| (known, at + 1));
                record = record.filter(|_| !effects.has_changed_imports);
                if let Some(record) = &mut record {
                    around.truncate(walk.depth());
                    around.push(record.visits.len());
                    record.add(node, before, &around, effects, &builder.outline);
                }
            }
            walk.advance(enters);
        }
        let record = record.map(|record| record.finish(&builder.outline));
        (builder.outline.limited(), record)
    }

    /// Returns the outline of `text`, of which this is the tree from byte `from` on. In the recorded text, the items before that byte are
    /// the same, and it is one of the [`OutlineRecord::takeable_bytes`].
    pub(crate) fn outline_behind(&self, text: &str, record: &OutlineRecord, from: usize) -> Outline {
        let mut builder = OutlineBuilder::new(self.language, SourceText { text });
        builder.take(record, ROOT + 1..record.visits.partition_point(|visit| (visit.start as usize) < from));
        builder.walk(self.root());
        builder.outline.limited()
    }
}

/// Position of the first visit, that of the whole text.
const ROOT: usize = 0;

impl OutlineRecord {
    /// Returns the number of bytes at the beginning of the text whose items depend on no others.
    pub(crate) fn takeable_bytes(&self) -> usize {
        let root_adds_nothing = self.before(ROOT) == self.before(ROOT + 1);
        let mut items = self.visits.iter().filter(|visit| visit.depth == 1);
        let depends = items.find(|visit| !visit.is_takeable).map(|visit| visit.start as usize);
        if root_adds_nothing { depends.unwrap_or(usize::MAX) } else { 0 }
    }

    /// Adds the visit of a node. `around` are the positions of the visits around it and its own.
    fn add(
        &mut self,
        node: Node<'_>,
        before: ItemCounts,
        around: &[usize],
        effects: VisitEffects,
        outline: &Outline,
    ) {
        let (visit, depth) = (self.visits.len(), around.len() as u32 - 1);
        let (kind, start) = (node.kind_id(), node.start_byte() as u32);
        self.visits.push(Visit { kind, start, depth, before, is_takeable: true });
        if effects.end > node.end_byte() {
            for &position in around {
                self.visits[position].is_takeable = false;
            }
        }
        self.changes.extend(effects.changed.into_iter().map(|(position, before)| {
            let after = Arc::clone(&outline.definitions[position as usize]);
            Change { visit, position, before, after }
        }));
    }

    /// Adds the known `visits`, which begin behind the last one.
    fn take(&mut self, known: &OutlineRecord, visits: Range<usize>) {
        self.changes.extend_from_slice(known.changes_in(&visits));
        self.visits.extend_from_slice(&known.visits[visits]);
    }

    /// Returns the changes that these visits have made.
    fn changes_in(&self, visits: &Range<usize>) -> &[Change] {
        let position = |visit: usize| self.changes.partition_point(|change| change.visit < visit);
        &self.changes[position(visits.start)..position(visits.end)]
    }

    fn finish(mut self, outline: &Outline) -> OutlineRecord {
        self.items = outline.clone();
        for change in self.changes.iter().rev() {
            self.items.definitions[change.position as usize] = Arc::clone(&change.before);
        }
        self
    }

    /// Whether the visit at this position is that of `node`.
    fn is_visit(&self, at: usize, node: Node<'_>, depth: usize) -> bool {
        self.visits.get(at).is_some_and(|visit| {
            (visit.kind, visit.start as usize, visit.depth as usize)
                == (node.kind_id(), node.start_byte(), depth)
        })
    }

    /// Returns the position behind a visit and those of the node's children.
    fn behind(&self, at: usize) -> usize {
        let depth = self.visits[at].depth;
        let inner = self.visits[at + 1..].iter().take_while(|visit| visit.depth > depth);
        at + 1 + inner.count()
    }

    /// Returns the numbers of items before the visit at this position; of all items behind the last one.
    fn before(&self, at: usize) -> ItemCounts {
        self.visits.get(at).map_or_else(|| ItemCounts::of(&self.items), |visit| visit.before)
    }

    /// Whether a repeated visit has added the recorded items to the end of `outline` and has changed no others, now and when it was
    /// recorded.
    fn adds_only(&self, at: usize, effects: &VisitEffects, outline: &Outline) -> bool {
        let (from, to) = (self.before(at), self.before(at + 1));
        let has_changed = !effects.changed.is_empty()
            || effects.has_changed_imports
            || self.changes.binary_search_by_key(&at, |change| change.visit).is_ok();
        let (items, definitions) = (&self.items, &self.items.definitions[from.definitions..to.definitions]);
        !has_changed
            && outline.definitions.len() == to.definitions
            && outline.definitions[from.definitions..]
                .iter()
                .zip(definitions)
                .all(|(new, old)| is_continued(new, old))
            && outline.imports.get(from.imports..) == items.imports.get(from.imports..to.imports)
            && outline.namespaces.get(from.namespaces..)
                == items.namespaces.get(from.namespaces..to.namespaces)
            && outline.extensions.get(from.extensions..)
                == items.extensions.get(from.extensions..to.extensions)
    }
}

/// Whether a definition is the recorded one, but for what may change behind the common beginning: its end, and the value of a function.
fn is_continued(new: &Definition, old: &Definition) -> bool {
    let Definition { name, kind, container, owner, namespace, line, range, signature, .. } = new;
    let Definition { doc, type_text, bases, parameters, value, is_private, is_static, .. } = new;
    (name, kind, container, owner, namespace)
        == (&old.name, &old.kind, &old.container, &old.owner, &old.namespace)
        && (line, range.start, signature, doc) == (&old.line, old.range.start, &old.signature, &old.doc)
        && (type_text, bases, parameters) == (&old.type_text, &old.bases, &old.parameters)
        && (is_private, is_static) == (&old.is_private, &old.is_static)
        && (kind.is_callable() || *value == old.value)
}

/// Repeats a recorded change of a definition, except of the parts that [`is_continued`] leaves out.
fn repeat_change(definition: &mut Arc<Definition>, after: &Arc<Definition>) {
    let value = if after.kind.is_callable() { &definition.value } else { &after.value };
    if definition.range == after.range && *value == after.value {
        *definition = Arc::clone(after);
    } else {
        let (range, value) = (definition.range.clone(), value.clone());
        *definition = Arc::new(Definition { range, value, ..Definition::clone(after) });
    }
}

impl OutlineBuilder<'_> {
    /// Takes what these visits have added and changed.
    fn take(&mut self, record: &OutlineRecord, visits: Range<usize>) {
        let (from, to, items) = (record.before(visits.start), record.before(visits.end), &record.items);
        let outline = &mut self.outline;
        outline.definitions.extend_from_slice(&items.definitions[from.definitions..to.definitions]);
        outline.imports.extend_from_slice(&items.imports[from.imports..to.imports]);
        outline.extensions.extend_from_slice(&items.extensions[from.extensions..to.extensions]);
        for (position, name) in (from.namespaces..).zip(&items.namespaces[from.namespaces..to.namespaces]) {
            outline.namespaces.push(name.clone());
            self.known_namespaces.insert(name.clone(), position as u32);
        }
        for change in record.changes_in(&visits) {
            repeat_change(&mut outline.definitions[change.position as usize], &change.after);
        }
    }
}

impl ItemCounts {
    fn of(outline: &Outline) -> ItemCounts {
        ItemCounts {
            definitions: outline.definitions.len(),
            imports: outline.imports.len(),
            namespaces: outline.namespaces.len(),
            extensions: outline.extensions.len(),
        }
    }
}

#[cfg(test)]
mod tests;
