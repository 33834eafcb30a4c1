//! Definitions and imports of a file: the names that other files can reach.
//!
//! Only items with a name outside of functions are definitions: types with their members, functions, top-level values. Each
//! language's rules are in `languages/<language>/rules.rs` behind [`LanguageRules`](crate::language_rules::LanguageRules); this file has the common part.
//!
//! All texts in an outline are parts of the file, with runs of white space collapsed to one blank. Nothing is resolved here:
//! `index` resolves names of other files with the locations from [`crate::module_resolution`].

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use crate::bounded_parse::ParseBudget;
use crate::expr::Expr;
use crate::fragments::parse_fragments;
use crate::language::Language;
use crate::node_fields::NodeFields;
use crate::tree::Tree;
use crate::walk::{TreeWalk, walk};

/// Maximum length of a signature, in bytes: several times the length shown by a strategy.
const MAX_SIGNATURE_BYTES: usize = 240;
/// Maximum length of a type, in bytes.
const MAX_TYPE_BYTES: usize = 200;
/// Maximum length of a documentation, in bytes.
const MAX_DOC_BYTES: usize = 100;
/// Maximum length of a qualified namespace, in bytes: same as a type.
const MAX_NAMESPACE_BYTES: usize = MAX_TYPE_BYTES;
/// Kinds of nodes that are comments.
const COMMENTS: &[&str] = &["comment", "line_comment", "block_comment"];
/// A text without any of these has no comment.
const COMMENT_SIGNS: [&str; 3] = ["//", "/*", "#"];
/// Maximum number of comment lines read above a definition.
const MAX_COMMENT_LINES: usize = 200;
/// Maximum nesting of fragments that are parsed again: each level costs as much as the first one.
const MAX_PIECE_DEPTH: usize = 3;

/// Definitions and imports of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Definitions in order of their start; containers before their members.
    pub definitions: Vec<Definition>,
    /// Imports in source order.
    pub imports: Vec<Import>,
    /// Packages and namespaces declared in the file, dotted; definitions refer to them by position. The first one is empty.
    pub namespaces: Vec<Box<str>>,
    /// Types that take over the members of another type, declared outside of the type (`impl Trait for ValueType`).
    pub extensions: Vec<Extension>,
}

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DefinitionKind {
    /// A class, interface, struct, enum, trait, or type alias.
    Type,
    /// A module or namespace as a block with members in a file (not C#'s, C++'s and Java's namespaces).
    Module,
    /// A function outside of types; also a macro.
    Function,
    /// A function of a type.
    Method,
    /// A constructor of a type.
    Constructor,
    /// A value of a type: field, property, enum member.
    Field,
    /// A value outside of types.
    Constant,
}

/// A named item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The name alone, without qualifiers.
    pub name: Box<str>,
    /// Kind of the definition.
    pub kind: DefinitionKind,
    /// Position of the definition whose body contains this one.
    pub container: Option<u32>,
    /// The type it is a member of, as written, if declared outside of the type's body: Go's receiver, Rust's `impl`, C++'s
    /// `ValueType::name`, the `this` parameter of a C# extension method.
    pub owner: Option<Box<str>>,
    /// Position in [`Outline::namespaces`].
    pub namespace: u32,
    /// Line of the name, 0-based.
    pub line: u32,
    /// The whole definition, in bytes.
    pub range: Range<u32>,
    /// The text before the body on one line, without decorators and annotations, with modifiers.
    pub signature: Box<str>,
    /// First sentence of the documentation; empty if there is none.
    pub doc: Box<str>,
    /// Return type of a function, type of a value, or target of an alias, as written; empty if absent.
    pub type_text: Box<str>,
    /// Types whose members it inherits, as written.
    pub bases: Vec<Box<str>>,
    /// Parameters of a function, without `self` and the like.
    pub parameters: Vec<Parameter>,
    /// If no type is written: the expression of the value, or of a function's return value.
    pub value: Option<Expr>,
    /// Whether it is not meant for other files: `private`, not exported, or with a leading underscore.
    pub is_private: bool,
    /// Whether it belongs to the type rather than to its values.
    pub is_static: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: Box<str>,
    /// Type as written; empty if absent.
    pub type_text: Box<str>,
}

/// A type that takes over the members of another type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    /// The type, as written.
    pub of: Box<str>,
    /// The type whose members it takes over, as written.
    pub base: Box<str>,
}

/// The imported part of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportedItem {
    /// The module itself.
    Module,
    /// One name in it.
    Name(Box<str>),
    /// All names of a module, or all members of a type.
    All,
}

/// An import of one name, or of all names, from another module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Local name, dotted if the language has it so (`import a.b`); `*` for all names.
    pub local: Box<str>,
    /// Module as written (Python: with its leading dots; Java, C#, Rust: dotted; others: the path or name without its quotes).
    /// Empty for the file itself.
    pub module: Box<str>,
    /// The imported part.
    pub imported: ImportedItem,
    /// Whether importers of this file get it too.
    pub is_reexport: bool,
    /// Whether it applies to every file of the workspace (C#'s `global using`).
    pub is_global: bool,
    /// Line, 0-based.
    pub line: u32,
}

impl Tree {
    /// Returns the definitions and imports of the parsed `text`.
    pub fn outline(&self, text: &str) -> Outline {
        let mut builder = OutlineBuilder::new(self.language, SourceText { text });
        builder.walk(self.root());
        for definition in &mut builder.outline.definitions {
            definition.value.take_if(|value| !value.is_within(Expr::MAX_DEPTH));
            // An outline lives as long as its workspace.
            definition.bases.shrink_to_fit();
            definition.parameters.shrink_to_fit();
        }
        builder.outline.definitions.shrink_to_fit();
        builder.outline.imports.shrink_to_fit();
        builder.outline
    }
}

/// The parsed text, for reading the text of its nodes.
#[derive(Clone, Copy)]
pub(crate) struct SourceText<'a> {
    pub(crate) text: &'a str,
}

impl<'a> SourceText<'a> {
    /// Returns the text of a node; empty if the range is outside of the text.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the text of the child in a field; empty if there is none.
    pub(crate) fn field(&self, node: Node<'_>, field: &'static str) -> &'a str {
        node.child_in(field).map_or("", |child| self.text_of(child))
    }

    /// Returns a type as kept in an outline: without its introducing sign (`:`, `->`), collapsed and truncated.
    pub(crate) fn type_text(&self, node: Option<Node<'_>>) -> Box<str> {
        let text = node.map_or("", |node| self.text_of(node));
        collapse_whitespace(text.trim_start_matches([':', '-', '>', ' ']), MAX_TYPE_BYTES)
    }

    /// Returns the text of `node` before `body`, or all of it, on one line without comments and without the opener of the body.
    pub(crate) fn signature(&self, node: Node<'_>, body: Option<Node<'_>>) -> Box<str> {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let header = self.text.get(node.start_byte()..end).unwrap_or_default();
        // Few signatures have comments, and checking all nodes takes time.
        let has_comments = COMMENT_SIGNS.iter().any(|sign| header.contains(sign));
        self.signature_without(node, body, if has_comments { COMMENTS } else { &[] })
    }

    /// Returns the signature without the nodes whose kinds are `left_out`: annotations, attributes, comments.
    pub(crate) fn signature_without(
        &self,
        node: Node<'_>,
        body: Option<Node<'_>>,
        left_out: &[&str],
    ) -> Box<str> {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = |from, to| self.text.get(from..to).unwrap_or_default().trim_start();
        let mut kept = String::new();
        let mut from = node.start_byte();
        if !left_out.is_empty() {
            let is_left_out = |node: &Node<'_>| left_out.contains(&node.kind());
            let header = walk(node, |node| node.start_byte() < end && !is_left_out(&node));
            for hole in header.filter(is_left_out).filter(|hole| hole.end_byte() <= end) {
                kept.push_str(text(from, hole.start_byte()));
                from = hole.end_byte();
            }
        }
        kept.push_str(text(from, end));
        without_opener(&collapse_whitespace(&kept, MAX_SIGNATURE_BYTES)).into()
    }

    /// Returns the first sentence of a comment or docstring without comment signs.
    pub(crate) fn doc(&self, text: &str) -> Box<str> {
        let lines = text.lines().map(|line| {
            line.trim()
                .trim_start_matches(['/', '*', '!', '#', '"', '\''])
                .trim_end_matches(['/', '*', '"', '\''])
                .trim()
        });
        let joined = collapse_whitespace(&lines.collect::<Vec<_>>().join(" "), 4 * MAX_DOC_BYTES);
        let sentence = joined.split(". ").next().unwrap_or_default().trim_end_matches('.');
        truncate(sentence, MAX_DOC_BYTES).into()
    }

    /// Returns the comments directly above the line of `start`, as in [`SourceText::doc`].
    pub(crate) fn doc_above(&self, start: usize) -> Box<str> {
        self.doc(self.comments_above(start))
    }

    /// Returns the text of the comments on their own lines directly above the line of `start`. Searches the lines: a parser finds
    /// a previous sibling by visiting all of them.
    pub(crate) fn comments_above(&self, start: usize) -> &'a str {
        let above = self.text.get(..start).unwrap_or_default();
        let end = above.rfind('\n').map_or(0, |line_end| line_end + 1);
        let mut start = end;
        let mut is_in_block = false;
        for line in above[..end].split_inclusive('\n').rev().take(MAX_COMMENT_LINES) {
            let written = line.trim();
            let opens_block = written.starts_with("/*");
            let closes_block = written.ends_with("*/") && (opens_block || !written.contains("/*"));
            if !is_in_block && !closes_block && !written.starts_with("//") {
                break;
            }
            is_in_block = (is_in_block || closes_block) && !opens_block;
            start -= line.len();
        }
        if is_in_block { "" } else { &above[start..end] }
    }
}

/// Returns a signature without the signs between it and a body or value.
fn without_opener(signature: &str) -> &str {
    let mut rest = signature.trim_end();
    while let Some(shorter) = ["{", ":", ";", "=>", "="].iter().find_map(|opener| rest.strip_suffix(opener)) {
        rest = shorter.trim_end();
    }
    rest
}

/// Replaces each part of `text` between `open` and `close` by the result of `replacement`: for the markup in documentation.
pub(crate) fn replace_between<'t>(
    text: &'t str,
    [open, close]: [char; 2],
    replacement: impl Fn(&'t str) -> &'t str,
) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open)
        && let Some((inside, after)) = after.split_once(close)
    {
        replaced.push_str(before);
        replaced.push_str(replacement(inside));
        rest = after;
    }
    replaced + rest
}

/// Collapses white space in `text` to single blanks and truncates it to at most `limit` bytes at a character boundary.
pub(crate) fn collapse_whitespace(text: &str, limit: usize) -> Box<str> {
    let mut squeezed = String::with_capacity(text.len().min(limit + 4));
    for word in text.split_whitespace() {
        if squeezed.len() > limit {
            break;
        }
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    truncate(&squeezed, limit).into()
}

pub(crate) fn truncate(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

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
    known_namespaces: FxHashMap<Box<str>, u32>,
    name_index: NameIndex,
    /// Parent of the current node.
    parent: Option<ParentNode>,
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
    fn new(language: Language, source: SourceText<'a>) -> OutlineBuilder<'a> {
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
        }
    }

    fn walk(&mut self, root: Node<'_>) {
        let rules = self.language.spec().rules;
        let mut walk = TreeWalk::new(root);
        while let Some(node) = walk.node() {
            self.close_before(node.start_byte());
            self.parent =
                walk.parent().map(|node| ParentNode { kind: node.kind_id(), start: node.start_byte() });
            walk.advance(rules.define(node, self));
        }
    }

    /// Parses fragments of the current node again and adds their definitions.
    pub(crate) fn walk_fragments(&mut self, pieces: &[tree_sitter::Range]) {
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
            name: name.into(),
            kind,
            container: self.container(),
            owner: region.and_then(|region| region.owner.clone()),
            namespace: self.namespaces.last().map_or(0, |(_, position)| *position),
            line: name_node.start_position().row as u32,
            range: node.start_byte() as u32..node.end_byte() as u32,
            signature: "".into(),
            doc: "".into(),
            type_text: "".into(),
            bases: Vec::new(),
            parameters: Vec::new(),
            value: None,
            is_private: region.is_some_and(|region| region.is_private),
            is_static: false,
        }
    }

    /// Sets the defaults for the definitions that follow, up to the region's end or the next region.
    pub(crate) fn open_region(&mut self, region: DefaultsRegion) {
        self.regions.push(region);
    }

    /// Adds a definition. Nodes inside its range that the walk visits later belong to it.
    pub(crate) fn add(&mut self, definition: Definition) -> u32 {
        let end = definition.range.end as usize;
        let position = self.insert(definition);
        self.open.push(OpenDefinition { definition: position, end });
        position
    }

    /// Adds a definition without inner nodes that the walk will visit.
    pub(crate) fn insert(&mut self, definition: Definition) -> u32 {
        self.outline.definitions.push(definition);
        self.outline.definitions.len() as u32 - 1
    }

    /// Returns the member called `name` of the definition at `position`, if it exists already.
    pub(crate) fn member_mut(&mut self, position: u32, name: &str) -> Option<&mut Definition> {
        self.name_index.update(&self.outline);
        let member = *self.name_index.members.get(&(Some(position), name.into()))?;
        self.outline.definitions.get_mut(member as usize)
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
        self.namespaces.push((end, position));
    }

    /// Returns the innermost definition around the current node, functions included.
    pub(crate) fn enclosing(&self) -> Option<&Definition> {
        self.container().map(|position| &self.outline.definitions[position as usize])
    }

    /// Returns its position.
    pub(crate) fn container(&self) -> Option<u32> {
        self.open.last().map(|open| open.definition)
    }

    /// Returns the innermost type around the current node, with its position.
    pub(crate) fn enclosing_type(&self) -> Option<(u32, &Definition)> {
        let definitions = &self.outline.definitions;
        let around =
            self.open.iter().rev().map(|open| (open.definition, &definitions[open.definition as usize]));
        around.into_iter().find(|(_, definition)| definition.kind == DefinitionKind::Type)
    }

    /// Whether the current node is in the body of a function or the value of a field or constant.
    pub(crate) fn is_local(&self) -> bool {
        self.enclosing().is_some_and(|definition| !definition.kind.holds_members())
    }
}

impl DefinitionKind {
    /// Whether definitions in its body are its members.
    pub fn holds_members(self) -> bool {
        matches!(self, DefinitionKind::Type | DefinitionKind::Module)
    }

    /// Whether it can be called.
    pub fn is_callable(self) -> bool {
        matches!(self, DefinitionKind::Function | DefinitionKind::Method | DefinitionKind::Constructor)
    }
}

impl Definition {
    /// Sets the value of an item without a written type. A typed `value`, such as a parameter, sets the type instead.
    pub(crate) fn set_value(&mut self, value: Option<Expr>) {
        match value {
            Some(Expr::Typed(written)) => self.type_text = written,
            value => self.value = value,
        }
    }

    /// Whether it is or may be a member of a value or type.
    pub fn is_member(&self) -> bool {
        self.owner.is_some()
            || matches!(
                self.kind,
                DefinitionKind::Method | DefinitionKind::Constructor | DefinitionKind::Field
            )
    }
}
