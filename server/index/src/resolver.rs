//! Name resolution: the meaning of a name in a file, by the imports, packages and types of its language.
//!
//! `syntax` implements the rules that differ between languages: outlines, import targets, expressions. This module implements
//! the common part: a name is looked up in its own file, in the file's imports, and in everything visible without an import;
//! members are looked up in a type and its bases. Nothing is certain in code that is being written, so an answer is a list of
//! possible meanings, best guess first, and may be empty.
//!
//! A [`Resolver`] lives for one query. It caches its results and is bounded in depth and steps, so that no workspace can make
//! it slow or exhaust a stack (`resolve/queries.rs`).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{
    Definition, DefinitionKind, Extension, Import, ImportedItem, Language, ModuleLocation, ModuleTarget,
    Outline, Projects,
};

use crate::file_index::{DefinitionShape, FileIndex, SegmentFile};
use crate::name_view::NameView;
use crate::path_suffixes::split_path;

mod bounded_queries;
mod infer;
mod types;

pub(crate) use infer::{ExpressionSite, InferredValue};

use bounded_queries::{BoundedQueries, Memo};

/// The names of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileNames<'a> {
    /// Those of the open file, or of a file without an index.
    Open {
        /// Its path.
        path: &'a str,
        /// Its language.
        language: Language,
        /// Its definitions and imports.
        outline: &'a Outline,
    },
    /// Those of a saved file, which are decoded on first use.
    Saved(SegmentFile<'a>),
}

impl<'a> FileNames<'a> {
    /// Returns its path.
    pub(crate) fn path(self) -> &'a str {
        match self {
            FileNames::Open { path, .. } => path,
            FileNames::Saved(file) => file.index.path(),
        }
    }

    /// Returns its language.
    pub(crate) fn language(self) -> Language {
        match self {
            FileNames::Open { language, .. } => language,
            FileNames::Saved(file) => file.language(),
        }
    }

    /// Returns the number of its definitions.
    pub(crate) fn definition_count(self) -> u32 {
        let count = match self {
            FileNames::Open { outline, .. } => outline.definitions.len(),
            FileNames::Saved(file) => file.definition_count(),
        };
        count as u32
    }

    /// Returns its extensions of types.
    pub(crate) fn extensions(self) -> &'a [Extension] {
        match self {
            FileNames::Open { outline, .. } => &outline.extensions,
            FileNames::Saved(file) => file.extensions(),
        }
    }

    /// Returns its imports, without reading its definitions.
    pub(crate) fn imports(self) -> &'a [Import] {
        match self {
            FileNames::Open { outline, .. } => &outline.imports,
            FileNames::Saved(file) => file.imports(),
        }
    }

    /// Returns its namespaces, without reading its definitions.
    pub(crate) fn namespaces(self) -> &'a [Box<str>] {
        match self {
            FileNames::Open { outline, .. } => &outline.namespaces,
            FileNames::Saved(file) => file.namespaces(),
        }
    }

    /// Returns its definitions in order.
    pub(crate) fn definitions(self) -> impl Iterator<Item = Def<'a>> {
        (0..self.definition_count()).map(move |position| Def { file: self, position })
    }

    /// Returns its top-level definitions.
    pub(crate) fn top_level(self) -> impl Iterator<Item = Def<'a>> {
        self.definitions().filter(Def::is_top_level)
    }

    /// Identifies the file within one query, without reading anything of it.
    pub(crate) fn address(self) -> usize {
        match self {
            FileNames::Open { outline, .. } => std::ptr::from_ref(outline) as usize,
            FileNames::Saved(file) => std::ptr::from_ref::<FileIndex>(file.index) as usize,
        }
    }
}

impl PartialEq for FileNames<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

/// A definition in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Def<'a> {
    pub(crate) file: FileNames<'a>,
    pub(crate) position: u32,
}

impl<'a> Def<'a> {
    pub(crate) fn definition(&self) -> &'a Definition {
        match self.file {
            FileNames::Open { outline, .. } => &outline.definitions[self.position as usize],
            FileNames::Saved(file) => file.definition(self.position),
        }
    }

    /// Returns the properties by which a file is searched, without decoding the definition.
    pub(crate) fn shape(&self) -> DefinitionShape {
        match self.file {
            FileNames::Open { .. } => DefinitionShape::of(self.definition()),
            FileNames::Saved(file) => file.definition_shape(self.position),
        }
    }

    /// Returns its name, without decoding the rest of the definition.
    pub(crate) fn name(&self) -> &'a str {
        match self.file {
            FileNames::Open { .. } => &self.definition().name,
            FileNames::Saved(file) => file.index.definition_name(self.position),
        }
    }

    /// Returns the definition whose body contains it.
    pub(crate) fn container(&self) -> Option<Def<'a>> {
        let container = self.shape().container.filter(|&position| position < self.position);
        container.map(|position| Def { position, ..*self })
    }

    pub(crate) fn namespace(&self) -> &'a str {
        self.file.namespaces().get(self.definition().namespace as usize).map_or("", |name| name)
    }

    pub(crate) fn is_type(&self) -> bool {
        self.shape().kind == DefinitionKind::Type
    }

    /// Whether it can be accessed without naming its container.
    pub(crate) fn is_top_level(&self) -> bool {
        let shape = self.shape();
        shape.container.is_none() && !shape.has_owner
    }

    /// Returns the definitions directly in its body.
    pub(crate) fn members(self) -> impl Iterator<Item = Def<'a>> {
        let end = self.definition().range.end;
        let behind = (self.position + 1..self.file.definition_count())
            .map(move |position| Def { position, ..self })
            .map(|def| (def, def.shape()))
            .take_while(move |(_, shape)| shape.start < end);
        behind.filter(move |(_, shape)| shape.container == Some(self.position)).map(|(def, _)| def)
    }

    /// Whether code in a file may name it.
    pub(crate) fn can_be_named_in(&self, file: FileNames<'_>) -> bool {
        self.file.language().can_name(file.path(), self.file.path(), self.definition())
    }

    /// Whether both are the same entity for their users: parts of a class in several files, or the same definition for
    /// different platforms.
    pub(crate) fn is_same_entity(&self, other: &Def<'_>) -> bool {
        let (mut one, mut two) = (*self, *other);
        // Not recursive: definitions nest as deep as the code does.
        while one.looks_like(&two) {
            match (one.container(), two.container()) {
                (None, None) => return one.shares_scope(&two),
                (Some(around_one), Some(around_two)) => (one, two) = (around_one, around_two),
                _ => return false,
            }
        }
        false
    }

    /// Whether both look the same, in different files.
    fn looks_like(&self, other: &Def<'_>) -> bool {
        let (one, two) = (self.definition(), other.definition());
        self.file != other.file
            && (one.kind, &one.name, &one.owner) == (two.kind, &two.name, &two.owner)
            && (!one.kind.is_callable() || one.signature == two.signature)
            && is_generic(one) == is_generic(two)
    }

    /// Whether the files of both see each other's names without imports.
    fn shares_scope(&self, other: &Def<'_>) -> bool {
        let scope = |def: &Def<'_>| def.file.language().implicit_targets(def.file.path(), def.namespace());
        let own = scope(self);
        self.file.language() == other.file.language() && !own.is_empty() && own == scope(other)
    }

    /// Identifies the definition within one query.
    pub(crate) fn key(&self) -> (usize, u32) {
        (self.file.address(), self.position)
    }
}

/// A container of names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Module<'a> {
    /// A file.
    File(FileNames<'a>),
    /// All files of a folder.
    Folder(&'a str),
    /// Everything in a namespace.
    Namespace(&'a str),
}

/// Meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Entity<'a> {
    Def(Def<'a>),
    Module(Module<'a>),
}

impl<'a> Entity<'a> {
    pub(crate) fn def(self) -> Option<Def<'a>> {
        match self {
            Entity::Def(def) => Some(def),
            Entity::Module(_) => None,
        }
    }
}

/// Maximum modules in a chain of re-exports.
const MAX_REEXPORTS: usize = 400;
/// Maximum names in the path of a namespace or a type; longer paths are ignored.
const MAX_SEGMENTS: usize = 64;

type Entities<'a> = Rc<[Entity<'a>]>;

/// A name in the file whose outline is at an address.
type NameKey = (usize, Box<str>);

/// Modules that are imported with all their names.
#[derive(Default)]
struct GlobImports<'a> {
    /// The files among them, including those whose names they re-export.
    files: Vec<FileNames<'a>>,
    /// Their addresses.
    addresses: FxHashSet<usize>,
    /// The files' re-exports by name.
    named: FxHashMap<&'a str, Vec<(FileNames<'a>, &'a Import)>>,
    /// Folders, namespaces and types.
    others: Vec<Entity<'a>>,
}

/// Resolves the names of one query.
pub(crate) struct Resolver<'a> {
    pub(crate) view: &'a NameView<'a>,
    projects: &'a Projects,
    queries: BoundedQueries,
    lookups: Memo<NameKey, [Entity<'a>]>,
    exports: Memo<NameKey, [Entity<'a>]>,
    modules: Memo<NameKey, [Entity<'a>]>,
    types: Memo<NameKey, [Def<'a>]>,
    reexports: Memo<usize, GlobImports<'a>>,
    glob_imports: Memo<usize, GlobImports<'a>>,
    bases: Memo<(usize, u32), [Def<'a>]>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(view: &'a NameView<'a>, projects: &'a Projects) -> Resolver<'a> {
        Resolver {
            view,
            projects,
            queries: BoundedQueries::default(),
            lookups: Memo::default(),
            exports: Memo::default(),
            modules: Memo::default(),
            types: Memo::default(),
            reexports: Memo::default(),
            glob_imports: Memo::default(),
            bases: Memo::default(),
        }
    }

    /// Begins another query for the same files: resets the steps, and keeps the cached results.
    pub(crate) fn reset_budget(&self) {
        self.queries.refill();
    }

    /// Returns the meaning of `name` at the top level of `file`.
    pub(crate) fn lookup(&self, file: FileNames<'a>, name: &str) -> Entities<'a> {
        let key = (file.address(), Box::from(name));
        self.queries.answer(&self.lookups, key, Rc::default, || self.compute_lookup(file, name).into())
    }

    /// Whether a name that `file` does not import may have a meaning at its top level: it has none unless something is defined under that name
    /// anywhere, or exported again under it. Much faster than looking it up.
    pub(crate) fn may_mean_something(&self, file: FileNames<'a>, name: &str) -> bool {
        self.view.defines(name) || self.glob_imports(file).named.contains_key(name)
    }

    fn compute_lookup(&self, file: FileNames<'a>, name: &str) -> Vec<Entity<'a>> {
        let own = self.own_definitions(file, name);
        if !own.is_empty() {
            return own;
        }
        let imported = self.imported_as(file, name);
        if !imported.is_empty() {
            return imported;
        }
        let of_stars = self.lookup_in_globs(&self.glob_imports(file), name);
        if !of_stars.is_empty() {
            return of_stars;
        }
        self.implicit_modules(file)
            .into_iter()
            .flat_map(|module| self.export(Entity::Module(module), name))
            .collect()
    }

    /// Returns the meanings of the imports that define `name` in `file`.
    fn imported_as(&self, file: FileNames<'a>, name: &str) -> Vec<Entity<'a>> {
        // Most names that the open file mentions are not imported.
        if file == self.view.open_file() && !self.view.imports_name(name) {
            return Vec::new();
        }
        let named = file.imports().iter().filter(|import| *import.local == *name);
        named.flat_map(|import| self.resolve_import(file, import)).collect()
    }

    /// Returns the modules that a file sees without importing them.
    pub(crate) fn implicit_modules(&self, file: FileNames<'a>) -> Vec<Module<'a>> {
        let namespaces = file.namespaces().iter();
        let targets =
            namespaces.flat_map(|namespace| file.language().implicit_targets(file.path(), namespace));
        let mut modules: Vec<Module<'a>> = Vec::new();
        for target in targets {
            for entity in self.resolve_target(file, &target) {
                if let Entity::Module(module) = entity
                    && !modules.contains(&module)
                {
                    modules.push(module);
                }
            }
        }
        modules
    }

    /// Returns the definitions at the top level of `file`.
    fn own_definitions(&self, file: FileNames<'a>, name: &str) -> Vec<Entity<'a>> {
        let is_own = |def: &Def<'_>| def.file == file && def.is_top_level();
        // No list of all files is read for names that only the open file defines.
        if file == self.view.open_file() {
            return self.view.own_definitions_named(name).filter(is_own).map(Entity::Def).collect();
        }
        self.view.definitions_named(name).filter(is_own).map(Entity::Def).collect()
    }

    /// Resolves an import of one name, or of a module.
    pub(crate) fn resolve_import(&self, file: FileNames<'a>, import: &Import) -> Vec<Entity<'a>> {
        let modules = self.modules(file, &import.module);
        match &import.imported {
            ImportedItem::Module => modules.to_vec(),
            ImportedItem::All => Vec::new(),
            ImportedItem::Name(name) => {
                let named: Vec<Entity<'a>> =
                    modules.iter().flat_map(|module| self.export(*module, name)).collect();
                if named.is_empty() {
                    self.modules(file, &submodule(&import.module, name)).to_vec()
                } else {
                    named
                }
            }
        }
    }

    /// Returns the modules or types that an import in `file` may mean: those of the best guess that exists.
    pub(crate) fn modules(&self, file: FileNames<'a>, module: &str) -> Entities<'a> {
        let key = (file.address(), Box::from(module));
        self.queries.answer(&self.modules, key, Rc::default, || {
            let targets = file.language().import_targets(file.path(), module, self.projects);
            let mut found = targets.iter().map(|target| self.resolve_target(file, target));
            found.find(|found| !found.is_empty()).unwrap_or_default().into()
        })
    }

    /// Resolves a target.
    fn resolve_target(&self, from: FileNames<'a>, target: &ModuleTarget) -> Vec<Entity<'a>> {
        let mut found: Vec<Entity<'a>> = match &target.place {
            ModuleLocation::File(path) => {
                self.view.file(path).map(Module::File).map(Entity::Module).into_iter().collect()
            }
            ModuleLocation::FileEnding(path) => {
                self.view.file_ending(path).map(Module::File).map(Entity::Module).into_iter().collect()
            }
            ModuleLocation::Folder(path) => {
                self.view.folder(path).map(Module::Folder).map(Entity::Module).into_iter().collect()
            }
            ModuleLocation::FolderEnding(path) => {
                self.view.folder_ending(path).map(Module::Folder).map(Entity::Module).into_iter().collect()
            }
            ModuleLocation::Namespace(namespace) => self.namespace(from, namespace),
        };
        for name in &target.inside {
            found = found.into_iter().flat_map(|entity| self.export(entity, name)).collect();
        }
        found
    }

    /// Returns a namespace, or the type with a qualified name.
    fn namespace(&self, from: FileNames<'a>, name: &str) -> Vec<Entity<'a>> {
        let mut inside = Vec::new();
        let mut around = name;
        let mut found: Vec<Entity<'a>> = loop {
            if let Some(namespace) = self.view.namespace(around) {
                break vec![Entity::Module(Module::Namespace(namespace))];
            }
            let Some((outer, last)) = around.rsplit_once('.') else {
                break self.without_namespace(from, around);
            };
            if inside.len() == MAX_SEGMENTS {
                break Vec::new();
            }
            inside.push(last);
            around = outer;
        };
        while let Some(name) = inside.pop().filter(|_| !found.is_empty()) {
            found = found.into_iter().flat_map(|entity| self.export(entity, name)).collect();
        }
        found
    }

    /// Returns the types called `name` that are in no namespace.
    fn without_namespace(&self, from: FileNames<'a>, name: &str) -> Vec<Entity<'a>> {
        let is_there = |def: &Def<'_>| {
            def.is_top_level() && def.namespace().is_empty() && def.file.language() == from.language()
        };
        self.view.types_named(name).filter(is_there).map(Entity::Def).collect()
    }

    /// Returns the meaning of `name` in a module or type, as seen from outside.
    pub(crate) fn export(&self, of: Entity<'a>, name: &str) -> Vec<Entity<'a>> {
        if !self.queries.step() {
            return Vec::new();
        }
        match of {
            Entity::Def(def) => self.members(def, name).into_iter().map(Entity::Def).collect(),
            Entity::Module(Module::File(file)) => self.export_of_file(file, name).to_vec(),
            Entity::Module(Module::Folder(folder)) => self
                .view
                .definitions_named(name)
                .filter(|def| split_path(def.file.path()).0 == folder && def.is_top_level())
                .map(Entity::Def)
                .collect(),
            Entity::Module(Module::Namespace(namespace)) => self
                .view
                .definitions_named(name)
                // First without reading definitions.
                .filter(|def| def.file.namespaces().iter().any(|known| **known == *namespace))
                .filter(|def| def.namespace() == namespace && def.is_top_level())
                .map(Entity::Def)
                .collect(),
        }
    }

    fn export_of_file(&self, file: FileNames<'a>, name: &str) -> Entities<'a> {
        let key = (file.address(), Box::from(name));
        self.queries.answer(&self.exports, key, Rc::default, || {
            let mut found = self.own_definitions(file, name);
            if found.is_empty() {
                found = self.lookup_in_globs(&self.reexports(file), name);
            }
            found.into()
        })
    }

    /// Returns up to `most` exports of a file, including re-exports, its own first.
    pub(crate) fn exports(&self, file: FileNames<'a>, most: usize) -> Vec<Def<'a>> {
        let stars = self.reexports(file);
        let mut named: Vec<_> = stars.named.values().flatten().collect();
        named.sort_unstable_by_key(|(file, import)| (file.path(), import.line, &import.local));
        let named = named.into_iter().flat_map(|(file, import)| self.resolve_import(*file, import));
        let defined = stars.files.iter().flat_map(|file| file.top_level());
        let of_types = stars.others.iter().filter_map(|other| other.def()).flat_map(Def::members);
        defined.chain(of_types).chain(named.filter_map(Entity::def)).take(most).collect()
    }

    /// Returns the meaning of `name` in modules that are imported with all their names.
    fn lookup_in_globs(&self, stars: &GlobImports<'a>, name: &str) -> Vec<Entity<'a>> {
        let named = stars.named.get(name).into_iter().flatten();
        let named: Vec<Entity<'a>> =
            named.flat_map(|(file, import)| self.resolve_import(*file, import)).collect();
        if !named.is_empty() {
            return named;
        }
        let defined: Vec<Entity<'a>> = self
            .view
            .definitions_named(name)
            .filter(|def| stars.addresses.contains(&def.file.address()) && def.is_top_level())
            .map(Entity::Def)
            .collect();
        if !defined.is_empty() {
            return defined;
        }
        stars.others.iter().flat_map(|other| self.export(*other, name)).collect()
    }

    /// Returns everything that is imported with all its names.
    fn glob_imports(&self, file: FileNames<'a>) -> Rc<GlobImports<'a>> {
        self.queries.answer(&self.glob_imports, file.address(), Rc::default, || {
            let own = file.imports().iter().map(|import| (file, import));
            let all = own.chain(self.view.global_imports(file.language()));
            let all = all.filter(|(_, import)| import.imported == ImportedItem::All);
            let modules =
                all.flat_map(|(file, import)| self.modules(file, &import.module).to_vec()).collect();
            Rc::new(self.collect_globs(modules))
        })
    }

    /// Returns the file itself, and all its re-exports.
    fn reexports(&self, file: FileNames<'a>) -> Rc<GlobImports<'a>> {
        self.queries.answer(&self.reexports, file.address(), Rc::default, || {
            Rc::new(self.collect_globs(vec![Entity::Module(Module::File(file))]))
        })
    }

    /// Returns modules with all their re-exports.
    fn collect_globs(&self, mut modules: Vec<Entity<'a>>) -> GlobImports<'a> {
        let mut stars = GlobImports::default();
        while let Some(module) =
            modules.pop().filter(|_| stars.files.len() < MAX_REEXPORTS && self.queries.step())
        {
            let Entity::Module(Module::File(file)) = module else {
                if !stars.others.contains(&module) {
                    stars.others.push(module);
                }
                continue;
            };
            if !stars.addresses.insert(file.address()) {
                continue;
            }
            stars.files.push(file);
            for import in file.imports().iter().filter(|import| import.is_reexport) {
                match import.imported {
                    ImportedItem::All => modules.extend(self.modules(file, &import.module).iter()),
                    _ => stars.named.entry(&import.local).or_default().push((file, import)),
                }
            }
        }
        stars
    }
}

/// Whether a type has parameters: it differs from the type of the same name without parameters.
fn is_generic(definition: &Definition) -> bool {
    let after = definition.signature.split_once(&*definition.name).map_or("", |(_, after)| after);
    definition.kind == DefinitionKind::Type && after.starts_with('<')
}

/// Returns the module `name` inside `module`.
fn submodule(module: &str, name: &str) -> String {
    if module.is_empty() || module.ends_with('.') {
        format!("{module}{name}")
    } else {
        format!("{module}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use syntax::SourceFile;

    use super::*;
    use crate::Index;

    #[test]
    fn query_that_ran_out_of_steps_is_repeated() {
        let file = |path: &str, text: &str| {
            let (path, text) = (path.into(), text.into());
            Arc::new(FileIndex::new(SourceFile { path, language: Language::Python, text }))
        };
        let index = Index::from_files(vec![
            file("a.py", "class Base:\n    pass\n"),
            file("b.py", "from a import Base\n\nclass Item(Base):\n    pass\n"),
        ]);
        let outline = syntax::parse(Language::Python, "from b import Item\n").outline("from b import Item\n");
        let here = FileNames::Open { path: "c.py", language: Language::Python, outline: &outline };
        let (view, projects) = (NameView::new(index.layers(), here), Projects::default());
        let resolver = Resolver::new(&view, &projects);
        for steps in 0..8 {
            resolver.queries.leave_steps(steps);
            let item = resolver.lookup(here, "Item");
            item.iter().filter_map(|entity| entity.def()).for_each(|def| drop(resolver.bases(def)));
        }
        resolver.reset_budget();
        let item =
            resolver.lookup(here, "Item").iter().find_map(|entity| entity.def()).expect("it is imported");
        let names: Vec<&str> = resolver.bases(item).iter().map(|base| &*base.definition().name).collect();
        assert_eq!(names, ["Item", "Base"]);
    }
}
