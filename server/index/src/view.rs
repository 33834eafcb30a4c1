//! The names of an index as seen by one query: without the hidden files, and with the open file up to the cursor.

use rustc_hash::FxHashMap;
use syntax::Language;

use crate::FileIndex;
use crate::endings::{depth, has_ending, split_path};
use crate::layer::Layer;
use crate::names::{NameTable, Spot, simple_name};
use crate::resolve::{Def, Facts};

/// The visible names.
pub(crate) struct View<'a> {
    layers: &'a [Layer],
    here: Facts<'a>,
    /// Definitions of the open file, by name.
    own: FxHashMap<&'a str, Vec<u32>>,
}

impl<'a> View<'a> {
    /// Creates a view of `layers`, which must not contain the file `here`.
    pub(crate) fn new(layers: &'a [Layer], here: Facts<'a>) -> View<'a> {
        let mut own = FxHashMap::<&str, Vec<u32>>::default();
        for (position, definition) in (0..).zip(&here.outline.definitions) {
            own.entry(&definition.name).or_default().push(position);
        }
        View { layers, here, own }
    }

    /// Returns the open file.
    pub(crate) fn here(&self) -> Facts<'a> {
        self.here
    }

    /// Returns the file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<Facts<'a>> {
        if path == self.here.path {
            return Some(self.here);
        }
        self.layers.iter().find_map(|layer| layer.file(path)).map(|file| facts_of(file))
    }

    /// Returns the file nearest to the root whose path has this suffix.
    pub(crate) fn file_ending(&self, ending: &str) -> Option<Facts<'a>> {
        let own = Some(self.here).filter(|here| has_ending(here.path, ending));
        let of_layer = |layer: &'a Layer| {
            let file = layer.segment().names.file_ending(ending, |file| layer.has(file as usize))?;
            facts(layer, file)
        };
        let named = self.layers.iter().filter_map(of_layer);
        named.chain(own).min_by_key(|file| (depth(file.path), file.path))
    }

    /// Returns the folder, if a visible file is directly in it, as in that file's path.
    pub(crate) fn folder(&self, folder: &str) -> Option<&'a str> {
        let own = Some(self.here).filter(|here| split_path(here.path).0 == folder);
        let files = self.files_in(folder).next().or(own);
        files.map(|file| split_path(file.path).0)
    }

    /// Returns the folder nearest to the root whose path has this suffix.
    pub(crate) fn folder_ending(&self, ending: &str) -> Option<&'a str> {
        let of_layer =
            |layer: &'a Layer| layer.segment().names.folder_ending(ending, |file| layer.has(file as usize));
        let own = Some(split_path(self.here.path).0).filter(|folder| has_ending(folder, ending));
        let all = self.layers.iter().filter_map(of_layer).chain(own);
        all.min_by_key(|folder| (depth(folder), *folder))
    }

    /// Returns the visible files directly in a folder, without the open file.
    pub(crate) fn files_in(&self, folder: &str) -> impl Iterator<Item = Facts<'a>> + use<'a> {
        self.files(NameTable::folder, folder)
    }

    /// Returns the namespace, if a visible file declares it, as in that file.
    pub(crate) fn namespace(&self, namespace: &str) -> Option<&'a str> {
        let own = Some(self.here);
        let mut files = self.files_of_namespace(namespace).chain(own);
        files
            .find_map(|file| {
                file.outline.namespaces.iter().find(|known| ***known == *namespace && !known.is_empty())
            })
            .map(|known| &**known)
    }

    /// Returns the visible files with definitions in a namespace, without the open file.
    pub(crate) fn files_of_namespace(&self, namespace: &str) -> impl Iterator<Item = Facts<'a>> + use<'a> {
        self.files(NameTable::namespace, namespace)
    }

    /// Returns all definitions called `name`, those of the open file first.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = Def<'a>> {
        let here = self.here;
        let own = self.own.get(name).into_iter().flatten().map(move |&position| Def { file: here, position });
        own.chain(self.spots(NameTable::definitions, name))
    }

    /// Returns all definitions declared as members of a type with this simple name.
    pub(crate) fn owned(&self, type_name: &'a str) -> impl Iterator<Item = Def<'a>> {
        let here = self.here;
        let own = (0..).zip(&here.outline.definitions).filter(move |(_, definition)| {
            definition.owner.as_deref().is_some_and(|owner| simple_name(owner) == type_name)
        });
        let own = own.map(move |(position, _)| Def { file: here, position });
        own.chain(self.spots(NameTable::owned, type_name))
    }

    /// Returns the declared bases of a type with this simple name, with the declaring file.
    pub(crate) fn extensions(&self, type_name: &'a str) -> impl Iterator<Item = (Facts<'a>, &'a str)> {
        let own = self.here.outline.extensions.iter();
        let own = own.filter(move |extension| simple_name(&extension.of) == type_name);
        let here = self.here;
        let others = self.spots(NameTable::extensions, type_name);
        own.map(move |extension| (here, &*extension.base)).chain(
            others.map(|Def { file, position }| (file, &*file.outline.extensions[position as usize].base)),
        )
    }

    /// Returns the imports that apply to all files of a language, with the importing files.
    pub(crate) fn global_imports(
        &self,
        language: Language,
    ) -> impl Iterator<Item = (Facts<'a>, &'a syntax::Import)> {
        self.spots(|table, _| table.global_imports(), "")
            .filter(move |spot| spot.file.language == language)
            .map(|Def { file, position }| (file, &file.outline.imports[position as usize]))
    }

    /// Returns positions in outlines, of all visible files.
    fn spots(
        &self,
        list: fn(&'a NameTable, &str) -> &'a [Spot],
        key: &str,
    ) -> impl Iterator<Item = Def<'a>> + use<'a> {
        self.lists(list, key).into_iter().flat_map(|(layer, spots)| {
            spots
                .iter()
                .filter_map(move |spot| Some(Def { file: facts(layer, spot.file)?, position: spot.position }))
        })
    }

    /// Returns the visible files.
    fn files(
        &self,
        list: fn(&'a NameTable, &str) -> &'a [u32],
        key: &str,
    ) -> impl Iterator<Item = Facts<'a>> + use<'a> {
        self.lists(list, key)
            .into_iter()
            .flat_map(|(layer, files)| files.iter().filter_map(move |&file| facts(layer, file)))
    }

    /// Returns the entries of the layers' tables for a key.
    fn lists<T>(&self, list: fn(&'a NameTable, &str) -> &'a [T], key: &str) -> Vec<(&'a Layer, &'a [T])> {
        let lists = self.layers.iter().map(|layer| (layer, list(&layer.segment().names, key)));
        lists.filter(|(_, list)| !list.is_empty()).collect()
    }
}

/// Returns the names of a file, unless it is hidden.
fn facts(layer: &Layer, file: u32) -> Option<Facts<'_>> {
    let file = Some(file as usize).filter(|&file| layer.has(file))?;
    Some(facts_of(&layer.segment().files()[file]))
}

fn facts_of(file: &FileIndex) -> Facts<'_> {
    Facts { path: file.path(), language: file.language(), outline: file.outline() }
}
