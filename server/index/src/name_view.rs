//! The names of an index as seen by one query: without the hidden files, and with the open file up to the cursor.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::Language;

use crate::index_layer::IndexLayer;
use crate::name_table::{DefinitionRef, NameTable, simple_name};
use crate::path_suffixes::{depth, has_ending, split_path};
use crate::resolver::{Def, FileNames};

/// The visible names.
pub(crate) struct NameView<'a> {
    layers: &'a [IndexLayer],
    open_file: FileNames<'a>,
    /// The first definition of each name in the open file.
    own_definitions: FxHashMap<&'a str, u32>,
    /// For each definition of the open file the next one with the same name.
    next_of_name: Vec<Option<u32>>,
    /// The names that imports of the open file define in it.
    imported_names: FxHashSet<&'a str>,
}

impl<'a> NameView<'a> {
    /// Creates a view of `layers`, which must not contain the file `here`.
    pub(crate) fn new(layers: &'a [IndexLayer], here: FileNames<'a>) -> NameView<'a> {
        let count = here.definition_count();
        let mut own_definitions = FxHashMap::default();
        own_definitions.reserve(count as usize);
        let mut next_of_name = vec![None; count as usize];
        for position in (0..count).rev() {
            let name = Def { file: here, position }.name();
            next_of_name[position as usize] = own_definitions.insert(name, position);
        }
        let imported_names = here.imports().iter().map(|import| &*import.local).collect();
        NameView { layers, open_file: here, own_definitions, next_of_name, imported_names }
    }

    /// Returns the open file.
    pub(crate) fn open_file(&self) -> FileNames<'a> {
        self.open_file
    }

    /// Whether an import of the open file defines `name` in it.
    pub(crate) fn imports_name(&self, name: &str) -> bool {
        self.imported_names.contains(name)
    }

    /// Returns the file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<FileNames<'a>> {
        if path == self.open_file.path() {
            return Some(self.open_file);
        }
        self.layers.iter().find_map(|layer| layer.file(path)).map(FileNames::Saved)
    }

    /// Returns the file nearest to the root whose path has this suffix.
    pub(crate) fn file_ending(&self, ending: &str) -> Option<FileNames<'a>> {
        let own = Some(self.open_file).filter(|here| has_ending(here.path(), ending));
        let named = self.layers.iter().filter_map(|layer| {
            let file = layer.segment().names.file_ending(ending, |file| layer.is_present(file as usize))?;
            file_names(layer, file)
        });
        named.chain(own).min_by_key(|file| (depth(file.path()), file.path()))
    }

    /// Returns the folder, if a visible file is directly in it, as in that file's path.
    pub(crate) fn folder(&self, folder: &str) -> Option<&'a str> {
        let own = Some(self.open_file).filter(|here| split_path(here.path()).0 == folder);
        let files = self.files_in(folder).next().or(own);
        files.map(|file| split_path(file.path()).0)
    }

    /// Returns the folder nearest to the root whose path has this suffix.
    pub(crate) fn folder_ending(&self, ending: &str) -> Option<&'a str> {
        let own = Some(split_path(self.open_file.path()).0).filter(|folder| has_ending(folder, ending));
        let all = self
            .layers
            .iter()
            .filter_map(|layer| {
                layer.segment().names.folder_ending(ending, |file| layer.is_present(file as usize))
            })
            .chain(own);
        all.min_by_key(|folder| (depth(folder), *folder))
    }

    /// Returns the visible files directly in a folder, without the open file.
    pub(crate) fn files_in(&self, folder: &str) -> impl Iterator<Item = FileNames<'a>> + use<'a> {
        self.files(NameTable::folder, folder)
    }

    /// Returns the namespace, if a visible file declares it, as in that file.
    pub(crate) fn namespace(&self, namespace: &str) -> Option<&'a str> {
        let own = Some(self.open_file);
        let mut files = self.files_of_namespace(namespace).chain(own);
        files
            .find_map(|file| {
                file.namespaces().iter().find(|known| ***known == *namespace && !known.is_empty())
            })
            .map(|known| &**known)
    }

    /// Returns the visible files with definitions in a namespace, without the open file.
    pub(crate) fn files_of_namespace(
        &self,
        namespace: &str,
    ) -> impl Iterator<Item = FileNames<'a>> + use<'a> {
        self.files(NameTable::namespace, namespace)
    }

    /// Returns all definitions called `name`, those of the open file first. A common name has thousands, so filters should ask for their
    /// file first: its outline is decoded only when a definition is read.
    pub(crate) fn definitions_named(&self, name: &str) -> impl Iterator<Item = Def<'a>> {
        self.own_definitions_named(name).chain(self.definition_refs(NameTable::definitions, name))
    }

    /// Whether a file, which may be hidden, has a definition called `name`.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.own_definitions.contains_key(name)
            || self.layers.iter().any(|layer| !layer.segment().names.definitions(name).is_empty())
    }

    /// Returns all types called `name`, those of the open file first.
    pub(crate) fn types_named(&self, name: &str) -> impl Iterator<Item = Def<'a>> {
        let own = self.own_definitions_named(name).filter(Def::is_type);
        own.chain(self.definition_refs(NameTable::types, name))
    }

    /// Returns the definitions of the open file called `name`.
    pub(crate) fn own_definitions_named(&self, name: &str) -> impl Iterator<Item = Def<'a>> {
        let here = self.open_file;
        let first = self.own_definitions.get(name).copied();
        let own = std::iter::successors(first, |position| self.next_of_name[*position as usize]);
        own.map(move |position| Def { file: here, position })
    }

    /// Returns all definitions declared as members of a type with this simple name.
    pub(crate) fn members_of_type(&self, type_name: &'a str) -> impl Iterator<Item = Def<'a>> {
        let here = self.open_file;
        let own = here.definitions().filter(move |def| {
            def.definition().owner.as_deref().is_some_and(|owner| simple_name(owner) == type_name)
        });
        own.chain(self.definition_refs(NameTable::members_of_type, type_name))
    }

    /// Returns the declared bases of a type with this simple name, with the declaring file.
    pub(crate) fn extensions(&self, type_name: &'a str) -> impl Iterator<Item = (FileNames<'a>, &'a str)> {
        let own = self.open_file.extensions().iter();
        let own = own.filter(move |extension| simple_name(&extension.of) == type_name);
        let here = self.open_file;
        let others = self.definition_refs(NameTable::extensions, type_name);
        own.map(move |extension| (here, &*extension.base))
            .chain(others.map(|Def { file, position }| (file, &*file.extensions()[position as usize].base)))
    }

    /// Returns the imports that apply to all files of a language, with the importing files.
    pub(crate) fn global_imports(
        &self,
        language: Language,
    ) -> impl Iterator<Item = (FileNames<'a>, &'a syntax::Import)> {
        self.definition_refs(|table, _| table.global_imports(), "")
            .filter(move |spot| spot.file.language() == language)
            .map(|Def { file, position }| (file, &file.imports()[position as usize]))
    }

    /// Returns positions in outlines, of all visible files.
    fn definition_refs(
        &self,
        list: fn(&'a NameTable, &str) -> &'a [DefinitionRef],
        key: &str,
    ) -> impl Iterator<Item = Def<'a>> + use<'a> {
        self.lists(list, key).into_iter().flat_map(|(layer, spots)| {
            spots.iter().filter_map(move |spot| {
                Some(Def { file: file_names(layer, spot.file)?, position: spot.position })
            })
        })
    }

    /// Returns the visible files.
    fn files(
        &self,
        list: fn(&'a NameTable, &str) -> &'a [u32],
        key: &str,
    ) -> impl Iterator<Item = FileNames<'a>> + use<'a> {
        self.lists(list, key)
            .into_iter()
            .flat_map(|(layer, files)| files.iter().filter_map(move |&file| file_names(layer, file)))
    }

    /// Returns the entries of the layers' tables for a key.
    fn lists<T>(
        &self,
        list: fn(&'a NameTable, &str) -> &'a [T],
        key: &str,
    ) -> Vec<(&'a IndexLayer, &'a [T])> {
        let lists = self.layers.iter().map(|layer| (layer, list(&layer.segment().names, key)));
        lists.filter(|(_, list)| !list.is_empty()).collect()
    }
}

/// Returns the names of a file, unless it is hidden.
fn file_names(layer: &IndexLayer, file: u32) -> Option<FileNames<'_>> {
    let file = Some(file as usize).filter(|&file| layer.is_present(file))?;
    Some(FileNames::Saved(layer.segment().file(file)))
}
