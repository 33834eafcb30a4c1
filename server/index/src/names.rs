//! Which files define which names: the tables that name resolution looks into, one for each set of files.
//!
//! Built from outlines alone; a name's meaning is found out in [`crate::resolve`].

use rustc_hash::FxHashMap;
use syntax::Outline;

/// A definition by the positions of its file and in the file's outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) file: u32,
    pub(crate) position: u32,
}

/// The names of a set of files. Lists are in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    definitions: Lists<Spot>,
    owned: Lists<Spot>,
    extensions: Lists<Spot>,
    namespaces: Lists<u32>,
    folders: Lists<u32>,
    file_names: Lists<u32>,
    global_imports: Vec<Spot>,
}

type Lists<T> = FxHashMap<Box<str>, Vec<T>>;

impl NameTable {
    /// The table of files given by path and outline, whose positions are their order.
    pub(crate) fn build<'a>(files: impl Iterator<Item = (&'a str, &'a Outline)>) -> NameTable {
        let mut table = NameTable::default();
        for (file, (path, outline)) in (0..).zip(files) {
            table.add(file, path, outline);
        }
        table
    }

    fn add(&mut self, file: u32, path: &str, outline: &Outline) {
        let (folder, name) = split_path(path);
        push(&mut self.folders, folder, file);
        push(&mut self.file_names, name, file);
        for namespace in outline.namespaces.iter().filter(|namespace| !namespace.is_empty()) {
            push(&mut self.namespaces, namespace, file);
        }
        for (position, definition) in (0..).zip(&outline.definitions) {
            push(&mut self.definitions, &definition.name, Spot { file, position });
            if let Some(owner) = &definition.owner {
                push(&mut self.owned, simple_name(owner), Spot { file, position });
            }
        }
        for (position, extension) in (0..).zip(&outline.extensions) {
            push(&mut self.extensions, simple_name(&extension.of), Spot { file, position });
        }
        let globals = (0..).zip(&outline.imports).filter(|(_, import)| import.is_global);
        self.global_imports.extend(globals.map(|(position, _)| Spot { file, position }));
    }

    /// Definitions called `name`.
    pub(crate) fn definitions(&self, name: &str) -> &[Spot] {
        list(&self.definitions, name)
    }

    /// Definitions that say they are members of a type with this simple name.
    pub(crate) fn owned(&self, type_name: &str) -> &[Spot] {
        list(&self.owned, type_name)
    }

    /// Extensions of a type with this simple name.
    pub(crate) fn extensions(&self, type_name: &str) -> &[Spot] {
        list(&self.extensions, type_name)
    }

    /// Files with something in this namespace.
    pub(crate) fn namespace(&self, namespace: &str) -> &[u32] {
        list(&self.namespaces, namespace)
    }

    /// Files directly in this folder.
    pub(crate) fn folder(&self, folder: &str) -> &[u32] {
        list(&self.folders, folder)
    }

    /// Folders whose path is `ending`, or ends with a slash and it.
    pub(crate) fn folders_ending(&self, ending: &str) -> impl Iterator<Item = &str> {
        self.folders.keys().map(|folder| &**folder).filter(move |folder| has_ending(folder, ending))
    }

    /// Files with this name in any folder.
    pub(crate) fn file_name(&self, name: &str) -> &[u32] {
        list(&self.file_names, name)
    }

    /// Imports that hold for all files.
    pub(crate) fn global_imports(&self) -> &[Spot] {
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

/// Folder and name of a path.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether `path` is `ending`, or ends with a slash and it.
pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The name of a type without its path, arguments and signs: `Map` of `&'a mut std::Map<K, V>`.
pub(crate) fn simple_name(type_text: &str) -> &str {
    let bare = type_text.split(['<', '[', '(']).next().unwrap_or_default();
    let word = bare.split(['*', '&', ' ', '?']).rfind(|word| !word.is_empty()).unwrap_or_default();
    word.rsplit(['.', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_types_simple_name_has_no_path_and_no_arguments() {
        let names = ["std::Map<K, V>", "*http.Request", "&'a mut Shape", "List[Item]", "Shape", "", "Foo?"];
        assert_eq!(names.map(simple_name), ["Map", "Request", "Shape", "List", "Shape", "", "Foo"]);
    }

    #[test]
    fn a_path_has_an_ending_at_a_slash_only() {
        assert!(has_ending("src/a/b.py", "a/b.py") && has_ending("a/b.py", "a/b.py"));
        assert!(!has_ending("src/aa/b.py", "a/b.py"));
    }
}
