//! Which names that a file uses are defined in other files only.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::{Binding, DefinitionKind, Outline, Projects, SourceFile, TokenKind, Tree, Use, UseKind};

use crate::import_lines::import_lines;
use crate::resolve::{Def, Entity, Facts, Resolver, Site};
use crate::searcher::Searcher;
use crate::view::View;

/// Names that are found by themselves, without knowing whose members they are, have at least so many characters and two parts.
const MIN_TELLING_CHARACTERS: usize = 6;

/// A name in a file that only other files define.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossFileUse {
    /// The name, in bytes of the file.
    pub name: Range<usize>,
    /// Where it is defined; where a type is made, its constructors are among them. Never empty.
    pub definitions: Vec<Defined>,
    /// Whether the language's rules lead there. Otherwise the name alone does: nothing else in the workspace is called so.
    pub is_resolved: bool,
    /// Whether the name is new in the file: its code, macros included, has it nowhere before but in imports, and defines nothing else
    /// of this name.
    pub is_first: bool,
}

/// A place where a name is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Defined {
    /// Its file.
    pub path: Arc<str>,
    /// Line of the name, 0-based.
    pub line: u32,
    /// The name with what it stands in.
    pub name: String,
}

impl Searcher {
    /// The names in `file`, parsed to `tree`, that only other files of this searcher define, in order. The searcher's own version of
    /// the file, if it has one, is not looked at.
    pub fn cross_file_uses(&self, projects: &Projects, file: &SourceFile, tree: &Tree) -> Vec<CrossFileUse> {
        let others = self.hide(&[&file.path]);
        let outline = tree.outline(&file.text);
        let here = Facts { path: &file.path, language: file.language, outline: &outline };
        let view = View::new(others.layers(), here);
        let resolver = Resolver::new(&view, projects);
        let mut finder = Finder {
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

struct Finder<'v, 'a> {
    resolver: &'v Resolver<'a>,
    file: &'v SourceFile,
    tree: &'v Tree,
    outline: &'v Outline,
    /// Where each name that the file does not define stands first, not counting imports.
    first_places: FxHashMap<&'v str, usize>,
    /// Variables in a definition, or outside of all, by its position.
    bindings: FxHashMap<Option<u32>, Vec<Binding>>,
}

impl Finder<'_, '_> {
    fn find(&mut self, one: &Use) -> Option<CrossFileUse> {
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
        // Each use has steps of its own, so that one that takes many takes none from the others.
        let resolver = self.resolver;
        resolver.refuel();
        let here = resolver.view.here();
        let mut around = enclosing.iter().map(|&position| Def { file: here, position });
        let this = around.clone().find(Def::is_type).or_else(|| around.find_map(|def| resolver.owner(def)));
        let site = Site { file: here, this, bindings: &bindings[..before] };
        let (found, is_resolved) = meaning(resolver, site, name, &one.kind);
        let can_name = |def: &Def<'_>| def.can_be_named_in(here);
        let mut definitions: Vec<Def<'_>> =
            found.into_iter().filter_map(Entity::def).filter(can_name).collect();
        if definitions.is_empty() || definitions.iter().any(|def| def.file == here) {
            return None;
        }
        let constructors: Vec<Def<'_>> =
            definitions.iter().filter(|def| def.is_type()).flat_map(|def| constructors(*def)).collect();
        definitions.extend(constructors);
        Some(CrossFileUse {
            name: one.name.clone(),
            definitions: definitions.into_iter().map(defined).collect(),
            is_resolved,
            is_first: self.first_places.get(name) == Some(&one.name.start),
        })
    }
}

/// Told by tokens: the parser makes no tree of what stands in macros.
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

/// What a used name stands for, and whether the language's rules say so.
fn meaning<'a>(
    resolver: &Resolver<'a>,
    site: Site<'a, '_>,
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
                None if objects.is_empty() => (telling(resolver, site, name), false),
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

/// The definitions of a member whose name is told apart from all others by itself.
fn telling<'a>(resolver: &Resolver<'a>, site: Site<'a, '_>, name: &str) -> Vec<Entity<'a>> {
    if name.chars().count() < MIN_TELLING_CHARACTERS || crate::terms::Term::parts(name).len() < 2 {
        return Vec::new();
    }
    let all: Vec<Def<'a>> = resolver
        .view
        .named(name)
        .filter(|def| !def.is_type() && def.file.language == site.file.language)
        .collect();
    let place = |def: &Def<'a>| (def.file.path, def.get().container, def.get().owner.as_deref());
    let is_one = all.windows(2).all(|pair| place(&pair[0]) == place(&pair[1]));
    if is_one { all.into_iter().map(Entity::Def).collect() } else { Vec::new() }
}

fn constructors<'a>(def: Def<'a>) -> impl Iterator<Item = Def<'a>> {
    def.members().filter(|member| member.get().kind == DefinitionKind::Constructor)
}

fn defined(def: Def<'_>) -> Defined {
    let name = &def.get().name;
    let holder = def.container().map(|container| &*container.get().name).or(def.get().owner.as_deref());
    let name = holder.map_or_else(|| name.to_string(), |holder| format!("{holder}.{name}"));
    Defined { path: def.file.path.into(), line: def.get().line, name }
}
