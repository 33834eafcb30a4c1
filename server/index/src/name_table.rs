//! Tables of names for name resolution: the files that define each name, one table per set of files.
//!
//! Built from outlines only; [`crate::resolver`] resolves names.

use std::io;

use bytemuck::{Pod, Zeroable};
use stored::{PodArray, StoredArray, StoredData};
use syntax::{DefinitionKind, Outline};

use crate::keyed_lists::{KeyedLists, KeyedListsBuilder};
use crate::path_suffixes::{PathSuffixIndex, split_path};

/// Reference to a definition: positions of its file and in the file's outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct DefinitionRef {
    pub(crate) file: u32,
    pub(crate) position: u32,
}

/// The names of a set of files. Lists are in the order of the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    definitions: KeyedLists<DefinitionRef>,
    /// The types among them, so that a type is found without reading the outline of every file that gives its name to something.
    types: KeyedLists<DefinitionRef>,
    members_by_type: KeyedLists<DefinitionRef>,
    extensions: KeyedLists<DefinitionRef>,
    namespaces: KeyedLists<u32>,
    folders: KeyedLists<u32>,
    /// The paths of the files, by their positions.
    file_endings: PathSuffixIndex,
    folder_endings: PathSuffixIndex,
    global_imports: PodArray<DefinitionRef>,
}

/// Lists of a table under construction.
#[derive(Default)]
struct NameTableBuilder {
    definitions: KeyedListsBuilder<DefinitionRef>,
    types: KeyedListsBuilder<DefinitionRef>,
    members_by_type: KeyedListsBuilder<DefinitionRef>,
    extensions: KeyedListsBuilder<DefinitionRef>,
    namespaces: KeyedListsBuilder<u32>,
    folders: KeyedListsBuilder<u32>,
    global_imports: Vec<DefinitionRef>,
}

impl NameTable {
    /// Builds the table of files given by path and outline; their positions are their order.
    pub(crate) fn build<'a>(files: impl Iterator<Item = (&'a str, Outline)>) -> NameTable {
        let mut builder = NameTableBuilder::default();
        let mut paths: Vec<Box<str>> = Vec::new();
        for (file, (path, outline)) in (0..).zip(files) {
            builder.add(file, path, &outline);
            paths.push(path.into());
        }
        let table = NameTable {
            definitions: builder.definitions.finish(),
            types: builder.types.finish(),
            members_by_type: builder.members_by_type.finish(),
            extensions: builder.extensions.finish(),
            namespaces: builder.namespaces.finish(),
            folders: builder.folders.finish(),
            global_imports: builder.global_imports.into(),
            ..NameTable::default()
        };
        table.with_endings(paths)
    }

    /// Returns the table with its parts that are not stored. `paths` are those of its files.
    fn with_endings(self, paths: Vec<Box<str>>) -> NameTable {
        let file_endings = PathSuffixIndex::new(paths);
        let folder_endings = PathSuffixIndex::new(self.folders.keys().map(Box::from).collect());
        NameTable { file_endings, folder_endings, ..self }
    }

    /// Completes a table whose arrays were stored; `None` if they do not belong to files with these paths.
    pub(crate) fn completed_for<'a>(self, paths: impl Iterator<Item = &'a str>) -> Option<NameTable> {
        let paths: Vec<Box<str>> = paths.map(Box::from).collect();
        let is_file = |file: u32| (file as usize) < paths.len();
        let is_sound = [&self.definitions, &self.types, &self.members_by_type, &self.extensions]
            .into_iter()
            .all(|lists| lists.is_sound(|definition| is_file(definition.file)))
            && [&self.namespaces, &self.folders]
                .into_iter()
                .all(|lists| lists.is_sound(|&file| is_file(file)))
            && self.global_imports.iter().all(|import| is_file(import.file))
            && self.folders.items() == paths.len();
        is_sound.then(|| self.with_endings(paths))
    }

    /// Returns the definitions with this name.
    pub(crate) fn definitions(&self, name: &str) -> &[DefinitionRef] {
        self.definitions.get(name)
    }

    /// Returns the types with this name.
    pub(crate) fn types(&self, name: &str) -> &[DefinitionRef] {
        self.types.get(name)
    }

    /// Returns definitions declared as members of a type with this simple name.
    pub(crate) fn members_of_type(&self, type_name: &str) -> &[DefinitionRef] {
        self.members_by_type.get(type_name)
    }

    /// Returns extensions of a type with this simple name.
    pub(crate) fn extensions(&self, type_name: &str) -> &[DefinitionRef] {
        self.extensions.get(type_name)
    }

    /// Returns the files with definitions in this namespace.
    pub(crate) fn namespace(&self, namespace: &str) -> &[u32] {
        self.namespaces.get(namespace)
    }

    /// Returns the files directly in this folder.
    pub(crate) fn folder(&self, folder: &str) -> &[u32] {
        self.folders.get(folder)
    }

    /// Returns the folder nearest to the root whose path is `ending`, or ends with a slash and it, and that has a file for
    /// which `is_there` holds.
    pub(crate) fn folder_ending(&self, ending: &str, is_there: impl Fn(u32) -> bool) -> Option<&str> {
        let has_any =
            |folder: u32| self.folder(self.folder_endings.path(folder)).iter().any(|&file| is_there(file));
        self.folder_endings.nearest(ending, has_any).map(|folder| self.folder_endings.path(folder))
    }

    /// Returns the file nearest to the root whose path is `ending`, or ends with a slash and it, and for which `is_there`
    /// holds.
    pub(crate) fn file_ending(&self, ending: &str, is_there: impl Fn(u32) -> bool) -> Option<u32> {
        self.file_endings.nearest(ending, is_there)
    }

    /// Returns the imports that apply to all files.
    pub(crate) fn global_imports(&self) -> &[DefinitionRef] {
        &self.global_imports
    }
}

impl StoredData for NameTable {
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()> {
        self.definitions.arrays(visit)?;
        self.types.arrays(visit)?;
        self.members_by_type.arrays(visit)?;
        self.extensions.arrays(visit)?;
        self.namespaces.arrays(visit)?;
        self.folders.arrays(visit)?;
        visit(&mut self.global_imports)
    }
}

impl NameTableBuilder {
    fn add(&mut self, file: u32, path: &str, outline: &Outline) {
        self.folders.push(split_path(path).0, file);
        for namespace in outline.namespaces.iter().filter(|namespace| !namespace.is_empty()) {
            self.namespaces.push(namespace, file);
        }
        for (position, definition) in (0..).zip(&outline.definitions) {
            self.definitions.push(&definition.name, DefinitionRef { file, position });
            if definition.kind == DefinitionKind::Type {
                self.types.push(&definition.name, DefinitionRef { file, position });
            }
            if let Some(owner) = &definition.owner {
                self.members_by_type.push(simple_name(owner), DefinitionRef { file, position });
            }
        }
        for (position, extension) in (0..).zip(&outline.extensions) {
            self.extensions.push(simple_name(&extension.of), DefinitionRef { file, position });
        }
        let globals = (0..).zip(&outline.imports).filter(|(_, import)| import.is_global);
        self.global_imports.extend(globals.map(|(position, _)| DefinitionRef { file, position }));
    }
}

/// Returns the name of a type without path, arguments and sigils: `Map` of `&'a mut std::Map<K, V>`.
pub(crate) fn simple_name(type_text: &str) -> &str {
    let bare = type_text.split(['<', '[', '(']).next().unwrap_or_default();
    let word = bare.split(['*', '&', ' ', '?']).rfind(|word| !word.is_empty()).unwrap_or_default();
    word.rsplit(['.', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_name_strips_path_and_type_arguments() {
        let names = ["std::Map<K, V>", "*http.Request", "&'a mut Shape", "List[Item]", "Shape", "", "Foo?"];
        assert_eq!(names.map(simple_name), ["Map", "Request", "Shape", "List", "Shape", "", "Foo"]);
    }
}
