//! Finds the names used in a file that are defined only in other files.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::{Binding, DefinitionKind, NameUse, Outline, Projects, SourceFile, TokenKind, Tree, UseKind};

use crate::import_lines::import_lines;
use crate::name_view::NameView;
use crate::resolver::{Def, Entity, ExpressionSite, FileNames, Resolver};
use crate::searcher::Searcher;

/// Minimum length of a name that is resolved without a known receiver; it must also have at least two parts.
const MIN_DISTINCTIVE_CHARACTERS: usize = 6;

/// A name in a file that only other files define.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossFileUse {
    /// Byte range of the name in the file.
    pub name: Range<usize>,
    /// Its definitions; for a constructed type these include its constructors. Never empty.
    pub definitions: Vec<CrossFileDefinition>,
    /// Whether name resolution found them. Otherwise the name is unique in the workspace.
    pub is_resolved: bool,
    /// Whether this is the first use in the file: the name occurs nowhere before except in imports, also not in macros, and the
    /// file has no other definition of this name.
    pub is_first: bool,
}

/// Position of a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrossFileDefinition {
    /// Its file.
    pub path: Arc<str>,
    /// Line of the name, 0-based.
    pub line: u32,
    /// The name with its container.
    pub name: String,
}

impl Searcher {
    /// Returns the names in `file`, parsed to `tree`, that only other files of this searcher define, in order. The searcher's
    /// own version of the file is ignored.
    pub fn cross_file_uses(&self, projects: &Projects, file: &SourceFile, tree: &Tree) -> Vec<CrossFileUse> {
        let others = self.hide(&[&file.path]);
        let outline = tree.outline(&file.text);
        let here = FileNames::Open { path: &file.path, language: file.language, outline: &outline };
        let view = NameView::new(others.layers(), here);
        let resolver = Resolver::new(&view, projects);
        let mut finder = UseFinder {
            resolver: &resolver,
            file,
            tree,
            outline: &outline,
            first_places: first_places(file, &outline),
            bindings: FxHashMap::default(),
        };
        let uses = tree.uses(&file.text);
        uses.iter().filter_map(|one| finder.find(one)).collect()
    }
}

struct UseFinder<'v, 'a> {
    resolver: &'v Resolver<'a>,
    file: &'v SourceFile,
    tree: &'v Tree,
    outline: &'v Outline,
    /// First occurrence of each name that the file does not define, without imports.
    first_places: FxHashMap<&'v str, usize>,
    /// Variables in a definition, or outside of all, by its position.
    bindings: FxHashMap<Option<u32>, Vec<Binding>>,
}

impl UseFinder<'_, '_> {
    fn find(&mut self, one: &NameUse) -> Option<CrossFileUse> {
        let name = self.file.text.get(one.name.clone())?;
        let enclosing = syntax::enclosing(self.outline, one.name.start + 1);
        let function = enclosing
            .iter()
            .copied()
            .find(|&position| self.outline.definitions[position as usize].kind.is_callable());
        let (tree, outline, text) = (self.tree, self.outline, &self.file.text);
        let bindings = self.bindings.entry(function).or_insert_with(|| {
            let end = function
                .map_or(text.len(), |function| outline.definitions[function as usize].range.end as usize);
            tree.bindings(text, outline, end)
        });
        let before = bindings.partition_point(|binding| binding.start < one.name.start);
        // Each use has its own step limit, so that an expensive one doesn't affect the others.
        let resolver = self.resolver;
        resolver.reset_budget();
        let here = resolver.view.open_file();
        let mut around = enclosing.iter().map(|&position| Def { file: here, position });
        let this = around.clone().find(Def::is_type).or_else(|| around.find_map(|def| resolver.owner(def)));
        let site = ExpressionSite { file: here, this, bindings: &bindings[..before] };
        let (found, is_resolved) = resolve_use(resolver, site, name, &one.kind);
        let mut definitions: Vec<Def<'_>> =
            found.into_iter().filter_map(Entity::def).filter(|def| def.can_be_named_in(here)).collect();
        if definitions.is_empty() || definitions.iter().any(|def| def.file == here) {
            return None;
        }
        let constructors: Vec<Def<'_>> =
            definitions.iter().filter(|def| def.is_type()).flat_map(|def| constructors(*def)).collect();
        definitions.extend(constructors);
        Some(CrossFileUse {
            name: one.name.clone(),
            definitions: definitions.into_iter().map(cross_file_definition).collect(),
            is_resolved,
            is_first: self.first_places.get(name) == Some(&one.name.start),
        })
    }
}

/// Uses tokens, because the parser creates no tree for the content of macros.
fn first_places<'f>(file: &'f SourceFile, outline: &Outline) -> FxHashMap<&'f str, usize> {
    let lines: Vec<&str> = file.text.split('\n').collect();
    let imports = import_lines(outline, &lines);
    let mut line = 0;
    let mut places = FxHashMap::default();
    let mut end = 0;
    for token in syntax::lex(file.language, &file.text) {
        line += file.text[end..token.range.start].matches('\n').count();
        let is_import = imports.iter().any(|range| range.contains(&line));
        line += file.text[token.range.clone()].matches('\n').count();
        end = token.range.end;
        if token.kind == TokenKind::Word && !is_import {
            places.entry(&file.text[token.range.clone()]).or_insert(token.range.start);
        }
    }
    for definition in &outline.definitions {
        places.remove(&*definition.name);
    }
    places
}

/// Returns the meaning of a used name, and whether name resolution found it.
fn resolve_use<'a>(
    resolver: &Resolver<'a>,
    site: ExpressionSite<'a, '_>,
    name: &str,
    kind: &UseKind,
) -> (Vec<Entity<'a>>, bool) {
    match kind {
        UseKind::Member(object) => {
            let objects = resolver.infer(site, object);
            let found = objects
                .iter()
                .map(|object| resolver.member_of(*object, name))
                .find(|found| !found.is_empty());
            match found {
                Some(found) => (found, true),
                None if objects.is_empty() => (unique_member(resolver, site, name), false),
                None => (Vec::new(), true),
            }
        }
        UseKind::Bare | UseKind::New if site.bindings.iter().any(|binding| *binding.name == *name) => {
            (Vec::new(), true)
        }
        UseKind::Bare | UseKind::New => {
            let members = site.this.map(|this| resolver.members(this, name)).unwrap_or_default();
            let found = resolver.lookup(site.file, name);
            let found = if found.is_empty() {
                members.into_iter().map(Entity::Def).collect()
            } else {
                found.to_vec()
            };
            (found, true)
        }
    }
}

/// Returns the definitions of a member whose name alone identifies it.
fn unique_member<'a>(resolver: &Resolver<'a>, site: ExpressionSite<'a, '_>, name: &str) -> Vec<Entity<'a>> {
    if name.chars().count() < MIN_DISTINCTIVE_CHARACTERS || crate::terms::Term::parts(name).len() < 2 {
        return Vec::new();
    }
    let all: Vec<Def<'a>> = resolver
        .view
        .definitions_named(name)
        .filter(|def| !def.is_type() && def.file.language() == site.file.language())
        .collect();
    let place =
        |def: &Def<'a>| (def.file.path(), def.definition().container, def.definition().owner.as_deref());
    let is_one = all.windows(2).all(|pair| place(&pair[0]) == place(&pair[1]));
    if is_one { all.into_iter().map(Entity::Def).collect() } else { Vec::new() }
}

fn constructors<'a>(def: Def<'a>) -> impl Iterator<Item = Def<'a>> {
    def.members().filter(|member| member.shape().kind == DefinitionKind::Constructor)
}

fn cross_file_definition(def: Def<'_>) -> CrossFileDefinition {
    let name = &def.definition().name;
    let holder =
        def.container().map(|container| &*container.definition().name).or(def.definition().owner.as_deref());
    let name = holder.map_or_else(|| name.to_string(), |holder| format!("{holder}.{name}"));
    CrossFileDefinition { path: def.file.path().into(), line: def.definition().line, name }
}
