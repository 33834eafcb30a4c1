//! Tables of names for name resolution: the files that define each name, one table per set of files.
//!
//! Built from outlines only; [`crate::resolver`] resolves names.

use rustc_hash::FxHashMap;
use syntax::Outline;

use crate::path_suffixes::{PathSuffixIndex, split_path};

/// Reference to a definition: positions of its file and in the file's outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DefinitionRef {
    pub(crate) file: u32,
    pub(crate) position: u32,
}

/// The names of a set of files. Lists are in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    definitions: Lists<DefinitionRef>,
    members_by_type: Lists<DefinitionRef>,
    extensions: Lists<DefinitionRef>,
    namespaces: Lists<u32>,
    folders: Lists<u32>,
    /// The paths of the files, by their positions.
    file_endings: PathSuffixIndex,
    folder_endings: PathSuffixIndex,
    global_imports: Vec<DefinitionRef>,
}

type Lists<T> = FxHashMap<Box<str>, Vec<T>>;

impl NameTable {
    /// Builds the table of files given by path and outline; their positions are their order.
    pub(crate) fn build<'a>(files: impl Iterator<Item = (&'a str, &'a Outline)>) -> NameTable {
        let mut table = NameTable::default();
        let mut paths: Vec<Box<str>> = Vec::new();
        for (file, (path, outline)) in (0..).zip(files) {
            table.add(file, path, outline);
            paths.push(path.into());
        }
        table.file_endings = PathSuffixIndex::new(paths);
        table.folder_endings = PathSuffixIndex::new(table.folders.keys().cloned().collect());
        table
    }

    fn add(&mut self, file: u32, path: &str, outline: &Outline) {
        push(&mut self.folders, split_path(path).0, file);
        for namespace in outline.namespaces.iter().filter(|namespace| !namespace.is_empty()) {
            push(&mut self.namespaces, namespace, file);
        }
        for (position, definition) in (0..).zip(&outline.definitions) {
            push(&mut self.definitions, &definition.name, DefinitionRef { file, position });
            if let Some(owner) = &definition.owner {
                push(&mut self.members_by_type, simple_name(owner), DefinitionRef { file, position });
            }
        }
        for (position, extension) in (0..).zip(&outline.extensions) {
            push(&mut self.extensions, simple_name(&extension.of), DefinitionRef { file, position });
        }
        let globals = (0..).zip(&outline.imports).filter(|(_, import)| import.is_global);
        self.global_imports.extend(globals.map(|(position, _)| DefinitionRef { file, position }));
    }

    /// Returns the definitions with this name.
    pub(crate) fn definitions(&self, name: &str) -> &[DefinitionRef] {
        list(&self.definitions, name)
    }

    /// Returns definitions declared as members of a type with this simple name.
    pub(crate) fn members_of_type(&self, type_name: &str) -> &[DefinitionRef] {
        list(&self.members_by_type, type_name)
    }

    /// Returns extensions of a type with this simple name.
    pub(crate) fn extensions(&self, type_name: &str) -> &[DefinitionRef] {
        list(&self.extensions, type_name)
    }

    /// Returns the files with definitions in this namespace.
    pub(crate) fn namespace(&self, namespace: &str) -> &[u32] {
        list(&self.namespaces, namespace)
    }

    /// Returns the files directly in this folder.
    pub(crate) fn folder(&self, folder: &str) -> &[u32] {
        list(&self.folders, folder)
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

fn push<T: PartialEq>(lists: &mut Lists<T>, key: &str, item: T) {
    match lists.get_mut(key) {
        Some(list) if list.last() == Some(&item) => {}
        Some(list) => list.push(item),
        None => drop(lists.insert(key.into(), vec![item])),
    }
}

fn list<'a, T>(lists: &'a Lists<T>, key: &str) -> &'a [T] {
    lists.get(key).map_or(&[], Vec::as_slice)
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
