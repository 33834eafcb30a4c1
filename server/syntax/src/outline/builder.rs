//! The walk that finds the definitions and imports of a file, and the state that the rules of a language read and add to.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::continuation::VisitEffects;
use super::{Definition, DefinitionKind, Import, ImportedItem, MAX_NAMESPACE_BYTES, Outline, SourceText};
use crate::bounded_parse::ParseBudget;
use crate::declarations::OneLineMacro;
use crate::fragments::parse_fragments;
use crate::language::Language;
use crate::node_fields::NodeFields;
use crate::tree::line_feeds;
use crate::walk::TreeWalk;

/// Maximum nesting of fragments that are parsed again: each level costs as much as the first one.
const MAX_PIECE_DEPTH: usize = 3;

/// Builds an outline during a walk of the tree, parents before children.
pub(crate) struct OutlineBuilder<'a> {
    pub(crate) source: SourceText<'a>,
    pub(crate) outline: Outline,
    /// Definitions around the current node, outermost first.
    open: Vec<OpenDefinition>,
    /// Namespaces around the current node, with the byte where each ends.
    namespaces: Vec<(usize, u32)>,
    /// Regions around the current node; the last one applies.
    regions: Vec<DefaultsRegion>,
    language: Language,
    /// Nesting depth of fragments at the current node.
    depth: usize,
    /// Parse budget for all fragments of the text together.
    budget: ParseBudget,
    /// Positions of namespaces by their names.
    pub(super) known_namespaces: FxHashMap<Box<str>, u32>,
    name_index: NameIndex,
    /// Parent of the current node.
    parent: Option<ParentNode>,
    /// Macros that are not in the tree and not added yet.
    macros: &'a [OneLineMacro],
    /// An offset before them, and its line.
    line_before_macros: (usize, u32),
    /// What the visit of the current node does to the rest of the walk, if that is recorded or compared.
    pub(super) effects: Option<VisitEffects>,
}

/// A node by its kind's number and its start.
struct ParentNode {
    kind: u16,
    start: usize,
}

/// Index of definitions and imports by name, filled on demand: most files never need it.
#[derive(Default)]
struct NameIndex {
    /// The first definition of a name in a container.
    members: FxHashMap<(Option<u32>, Box<str>), u32>,
    /// Top-level definitions by name.
    outer: FxHashMap<Box<str>, Vec<u32>>,
    /// Number of indexed definitions.
    definitions: usize,
    /// Imports by local name.
    imports: FxHashMap<Box<str>, Vec<u32>>,
    /// Number of indexed imports.
    imported: usize,
}

impl NameIndex {
    fn update(&mut self, outline: &Outline) {
        for (position, definition) in outline.definitions.iter().enumerate().skip(self.definitions) {
            let name = &definition.name;
            self.members.entry((definition.container, name.clone())).or_insert(position as u32);
            if definition.container.is_none() {
                self.outer.entry(name.clone()).or_default().push(position as u32);
            }
        }
        self.definitions = outline.definitions.len();
        for (position, import) in outline.imports.iter().enumerate().skip(self.imported) {
            self.imports.entry(import.local.clone()).or_default().push(position as u32);
        }
        self.imported = outline.imports.len();
    }
}

/// Defaults for definitions up to a byte: in an `impl` block, after `private:`.
pub(crate) struct DefaultsRegion {
    /// End of the region, in bytes.
    pub(crate) end: usize,
    /// [`Definition::owner`].
    pub(crate) owner: Option<Box<str>>,
    /// [`Definition::is_private`].
    pub(crate) is_private: bool,
}

/// A definition that may contain the current node.
struct OpenDefinition {
    definition: u32,
    end: usize,
}

impl<'a> OutlineBuilder<'a> {
    pub(super) fn new(language: Language, source: SourceText<'a>) -> OutlineBuilder<'a> {
        let outline = Outline { namespaces: vec!["".into()], ..Outline::default() };
        let (open, namespaces, regions) = (Vec::new(), Vec::new(), Vec::new());
        OutlineBuilder {
            source,
            outline,
            open,
            namespaces,
            regions,
            language,
            depth: 0,
            budget: ParseBudget::for_file(source.text.len()),
            known_namespaces: [("".into(), 0)].into_iter().collect(),
            name_index: NameIndex::default(),
            parent: None,
            macros: &[],
            line_before_macros: (0, 0),
            effects: None,
        }
    }

    /// Adds macros that are not in the tree, outside of all definitions.
    pub(super) fn with_macros(self, macros: &'a [OneLineMacro]) -> OutlineBuilder<'a> {
        OutlineBuilder { macros, ..self }
    }

    /// Adds the macros before an offset.
    pub(super) fn add_macros_before(&mut self, end: usize) {
        while let Some((first, rest)) = self.macros.split_first()
            && first.range.start < end
        {
            let (offset, line) = self.line_before_macros;
            let line = line + line_feeds(&self.source.text[offset..first.range.start]) as u32;
            self.line_before_macros = (first.range.start, line);
            self.macros = rest;
            if let Some(definition) = first.definition(self.source, line) {
                self.insert(definition);
            }
        }
    }

    pub(super) fn walk(&mut self, root: Node<'_>) {
        let mut walk = TreeWalk::new(root);
        while let Some(node) = walk.node() {
            let enters = self.visit(node, &walk);
            walk.advance(enters);
        }
    }

    /// Adds the items of the walk's current node, and returns whether to visit its children.
    pub(super) fn visit(&mut self, node: Node<'_>, walk: &TreeWalk<'_>) -> bool {
        self.close_before(node.start_byte());
        self.add_macros_before(node.start_byte());
        self.parent = walk.parent().map(|node| ParentNode { kind: node.kind_id(), start: node.start_byte() });
        self.language.spec().rules.define(node, self)
    }

    /// Parses fragments of the current node again and adds their definitions.
    pub(crate) fn walk_fragments(&mut self, pieces: &[tree_sitter::Range]) {
        // Also if the parse fails: later fragments have less of the budget.
        self.lasts_until(usize::MAX);
        if self.depth < MAX_PIECE_DEPTH
            && let Some(tree) = parse_fragments(self.language, self.source.text, pieces, &mut self.budget)
        {
            self.depth += 1;
            self.walk(tree.root_node());
            self.depth -= 1;
        }
    }

    /// Checks the innermost ones only: all others either contain the node or are not queried.
    fn close_before(&mut self, start: usize) {
        while self.open.pop_if(|open| open.end <= start).is_some() {}
        while self.namespaces.pop_if(|(end, _)| *end <= start).is_some() {}
        while self.regions.pop_if(|region| region.end <= start).is_some() {}
    }

    /// Returns the start of the current node's parent, if it is of this kind.
    pub(crate) fn start_around(&self, kind: &str) -> Option<usize> {
        let grammar = (self.language.spec().grammar)();
        let around = self.parent.as_ref()?;
        (grammar.node_kind_for_id(around.kind) == Some(kind)).then_some(around.start)
    }

    /// Returns a definition called `name` at `node`, with all other properties empty.
    pub(crate) fn definition(&self, name: &str, kind: DefinitionKind, node: Node<'_>) -> Definition {
        let name_node = node.child_in("name").unwrap_or(node);
        let region = self.regions.last();
        Definition {
            container: self.container(),
            owner: region.and_then(|region| region.owner.clone()),
            namespace: self.namespaces.last().map_or(0, |(_, position)| *position),
            line: name_node.start_position().row as u32,
            range: node.start_byte() as u32..node.end_byte() as u32,
            is_private: region.is_some_and(|region| region.is_private),
            ..Definition::new(name, kind)
        }
    }

    /// Sets the defaults for the definitions that follow, up to the region's end or the next region.
    pub(crate) fn open_region(&mut self, region: DefaultsRegion) {
        self.lasts_until(region.end);
        self.regions.push(region);
    }

    /// Adds a definition. Nodes inside its range that the walk visits later belong to it.
    pub(crate) fn add(&mut self, definition: Definition) -> u32 {
        let end = definition.range.end as usize;
        let position = self.insert(definition);
        self.lasts_until(end);
        self.open.push(OpenDefinition { definition: position, end });
        position
    }

    /// Adds a definition without inner nodes that the walk will visit.
    pub(crate) fn insert(&mut self, definition: Definition) -> u32 {
        self.outline.definitions.push(Arc::new(definition));
        self.outline.definitions.len() as u32 - 1
    }

    /// Returns the position of the member called `name` of the definition at `position`, if it exists already.
    pub(crate) fn member(&mut self, position: u32, name: &str) -> Option<u32> {
        self.name_index.update(&self.outline);
        self.name_index.members.get(&(Some(position), name.into())).copied()
    }

    /// Returns a definition.
    pub(crate) fn definition_at(&self, position: u32) -> &Definition {
        &self.outline.definitions[position as usize]
    }

    /// Returns a definition to be changed. Rules change definitions in no other way.
    pub(crate) fn change(&mut self, position: u32) -> &mut Definition {
        let definition = &mut self.outline.definitions[position as usize];
        if let Some(effects) = &mut self.effects {
            effects.changes(position, definition);
        }
        Arc::make_mut(definition)
    }

    /// Marks an import of this file as visible to its importers.
    pub(crate) fn reexport(&mut self, import: u32) {
        self.outline.imports[import as usize].is_reexport = true;
        if let Some(effects) = &mut self.effects {
            effects.has_changed_imports = true;
        }
    }

    fn lasts_until(&mut self, end: usize) {
        if let Some(effects) = &mut self.effects {
            effects.end = effects.end.max(end);
        }
    }

    /// Returns the positions of the top-level definitions called `name`.
    pub(crate) fn outer_definitions(&mut self, name: &str) -> Vec<u32> {
        self.name_index.update(&self.outline);
        self.name_index.outer.get(name).cloned().unwrap_or_default()
    }

    /// Returns the positions of the imports with this local name.
    pub(crate) fn imports_called(&mut self, name: &str) -> Vec<u32> {
        self.name_index.update(&self.outline);
        self.name_index.imports.get(name).cloned().unwrap_or_default()
    }

    /// Adds an import on the line where `node` begins.
    pub(crate) fn import(
        &mut self,
        node: Node<'_>,
        local: &str,
        module: &str,
        imported: ImportedItem,
    ) -> &mut Import {
        self.outline.imports.push(Import {
            local: local.into(),
            module: module.into(),
            imported,
            is_reexport: false,
            is_global: false,
            line: node.start_position().row as u32,
        });
        self.outline.imports.last_mut().expect("one was just added")
    }

    /// Returns the type whose members the current node contains, if a region sets it.
    pub(crate) fn owner(&self) -> Option<&str> {
        self.regions.last()?.owner.as_deref()
    }

    /// Declares that the bytes up to `end` are in the namespace or package `name`, which is nested in the current one.
    pub(crate) fn open_namespace(&mut self, name: &str, end: usize) {
        let around =
            self.namespaces.last().map_or("", |(_, position)| &self.outline.namespaces[*position as usize]);
        // A more deeply nested namespace has the name of the outer one, so that the length of names is limited.
        let full: Box<str> = match around.len() + name.len() {
            0..=MAX_NAMESPACE_BYTES if around.is_empty() => name.into(),
            0..=MAX_NAMESPACE_BYTES => format!("{around}.{name}").into(),
            _ => around.into(),
        };
        let next = self.outline.namespaces.len() as u32;
        let position = *self.known_namespaces.entry(full).or_insert_with_key(|full| {
            self.outline.namespaces.push(full.clone());
            next
        });
        self.lasts_until(end);
        self.namespaces.push((end, position));
    }

    /// Returns the innermost definition around the current node, functions included.
    pub(crate) fn enclosing(&self) -> Option<&Definition> {
        self.container().map(|position| self.definition_at(position))
    }

    /// Returns its position.
    pub(crate) fn container(&self) -> Option<u32> {
        self.open.last().map(|open| open.definition)
    }

    /// Returns the innermost type around the current node, with its position.
    pub(crate) fn enclosing_type(&self) -> Option<(u32, &Definition)> {
        let mut around =
            self.open.iter().rev().map(|open| (open.definition, self.definition_at(open.definition)));
        around.find(|(_, definition)| definition.kind == DefinitionKind::Type)
    }

    /// Whether the current node is in the body of a function or the value of a field or constant.
    pub(crate) fn is_local(&self) -> bool {
        self.enclosing().is_some_and(|definition| !definition.kind.holds_members())
    }
}
