//! Saves an index as blocks, from which a later process creates the same index without deriving, decoding or copying its data.
//!
//! ```text
//! files block:  texts, arrays of each file · description: one entry per file
//! array blocks: the data of a layer about all its files together, three of them
//! layers block: no data · description: the files and array blocks of each layer; the last block
//! ```
//!
//! Blocks are verified where they are read, so this module does not defend against hostile bytes, only against blocks that do not fit
//! together: every length and every reference is checked, while entries of postings and outlines are not decoded. A file of a block
//! that no layer refers to is of no use to an index, but can be used alone ([`load_files`]).

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use stored::{BlockCursor, BlockStore, LoadedBlock, SavedBlock, StoredData, parts};
use syntax::{Language, SourceFile};

use crate::index_layer::IndexLayer;
use crate::segment::{Segment, StoredSegment};
use crate::{ContentHash, FileIndex, Index};

/// Bytes of text in a block of files: few blocks, which several threads load.
const BLOCK_TEXT_BYTES: u64 = if cfg!(test) { 64 } else { 16 << 20 };

/// A file of a saved index.
#[derive(Clone, Debug)]
pub struct SavedFile {
    /// Its data, in place in its block.
    pub index: Arc<FileIndex>,
    /// The caller's note.
    pub note: Vec<u8>,
}

/// Where a file is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlace {
    /// Number of its block.
    pub block: u32,
    /// Its position in the block.
    pub position: u32,
}

/// Content of a block.
#[derive(Serialize, Deserialize)]
enum Description<'a> {
    #[serde(borrow)]
    Files(Vec<FileDescription<'a>>),
    /// Lengths in bytes.
    Arrays(Vec<u64>),
    Layers(Vec<LayerDescription>),
}

/// A file without its text and its arrays.
#[derive(Serialize, Deserialize)]
struct FileDescription<'a> {
    path: &'a str,
    note: &'a [u8],
    language: &'a str,
    hash: [u8; ContentHash::BYTES],
    is_too_complex: bool,
    functions: Vec<(u32, u32)>,
    /// Lengths in bytes.
    text: u64,
    arrays: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct LayerDescription {
    /// In the order of their paths.
    files: Vec<FilePlace>,
    /// Positions of the files that are absent.
    absent: Vec<u32>,
    /// Blocks of windows, functions and names.
    arrays: [u32; 3],
}

impl Description<'_> {
    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a description has nothing that cannot be written")
    }
}

/// Returns a block of files with the caller's notes.
pub fn save_files<'a>(files: impl IntoIterator<Item = (&'a FileIndex, Vec<u8>)>) -> SavedBlock {
    let mut block = SavedBlock::default();
    let files: Vec<(&FileIndex, Vec<u8>)> = files.into_iter().collect();
    let describe = |(file, note): &'_ (&'a FileIndex, Vec<u8>)| {
        block.push_text(&file.file().text);
        (block.push_arrays(&mut FileIndex::clone(file)), note.clone())
    };
    let arrays: Vec<(Vec<u64>, Vec<u8>)> = files.iter().map(describe).collect();
    let described = files.iter().zip(&arrays).map(|((file, _), (arrays, note))| FileDescription {
        path: file.path(),
        note,
        language: file.language().name(),
        hash: *file.hash().bytes(),
        is_too_complex: file.is_too_complex(),
        functions: file.functions().iter().map(|function| (function.start, function.end)).collect(),
        text: file.text().len() as u64,
        arrays: arrays.clone(),
    });
    block.description = Description::Files(described.collect()).to_bytes();
    block
}

/// Returns the files of a block; `None` if it is no block of files.
pub fn load_files(block: &LoadedBlock) -> Option<Vec<SavedFile>> {
    let Description::Files(files) = postcard::from_bytes(&block.description).ok()? else { return None };
    let mut cursor = BlockCursor::new(block);
    files.iter().map(|file| load_file(&mut cursor, file)).collect()
}

fn load_file(cursor: &mut BlockCursor<'_>, described: &FileDescription<'_>) -> Option<SavedFile> {
    let language = Language::from_name(described.language)?;
    let text = cursor.text(described.text)?;
    let file = SourceFile { path: described.path.into(), language, text };
    let functions = described.functions.iter().map(|&(start, end)| start..end).collect();
    let mut index =
        FileIndex::without_arrays(file, described.hash.into(), functions, described.is_too_complex);
    cursor.arrays(&mut index, &described.arrays)?;
    index.has_sound_lengths().then(|| SavedFile { index: Arc::new(index), note: described.note.to_vec() })
}

/// Blocks of a saved index by their numbers; `None` if one cannot be read. Called from several threads.
type BlockLoader<'a> = dyn Fn(u32) -> Option<LoadedBlock> + Sync + 'a;

impl Index {
    /// Changes whenever the saved form of an index changes, apart from [`FileIndex::FORMAT`]. Arrays have the machine's byte order.
    pub const FORMAT: &'static str =
        if cfg!(target_endian = "little") { "index 2" } else { "index 2, big-endian" };

    /// Saves the index in blocks: `add` gets one after the other, and returns its number. `note` returns what the caller wants to know
    /// about a file that is present.
    pub fn save<E>(
        &self,
        note: &dyn Fn(&FileIndex) -> Vec<u8>,
        add: &mut dyn FnMut(SavedBlock) -> Result<u32, E>,
    ) -> Result<(), E> {
        let mut places = Vec::new();
        for layer in self.layers() {
            let mut of_layer = Vec::new();
            for files in parts(layer.segment().files(), BLOCK_TEXT_BYTES, |file| file.text().len() as u64) {
                let noted = (of_layer.len()..).zip(files).map(|(position, file)| {
                    (&**file, if layer.is_present(position) { note(file) } else { Vec::new() })
                });
                let block = add(save_files(noted))?;
                of_layer.extend((0..files.len() as u32).map(|position| FilePlace { block, position }));
            }
            places.push(of_layer);
        }
        self.save_layers(|layer| std::mem::take(&mut places[layer]), add)
    }

    /// Completes blocks in which all files are saved already, at these places by path.
    pub fn save_with<E>(
        &self,
        places: &FxHashMap<Arc<str>, FilePlace>,
        add: &mut dyn FnMut(SavedBlock) -> Result<u32, E>,
    ) -> Result<(), E> {
        let places = |layer: usize| {
            let files = self.layers()[layer].segment().files().iter();
            files.filter_map(|file| places.get(file.path()).copied()).collect()
        };
        self.save_layers(places, add)
    }

    fn save_layers<E>(
        &self,
        mut places: impl FnMut(usize) -> Vec<FilePlace>,
        add: &mut dyn FnMut(SavedBlock) -> Result<u32, E>,
    ) -> Result<(), E> {
        let mut described = Vec::new();
        for (number, layer) in self.layers().iter().enumerate() {
            let StoredSegment { mut windows, mut functions, mut names } = layer.segment().to_stored();
            let arrays = [
                add(array_block(&mut windows))?,
                add(array_block(&mut functions))?,
                add(array_block(&mut names))?,
            ];
            described.push(LayerDescription { files: places(number), absent: layer.absent(), arrays });
        }
        add(SavedBlock::new(Description::Layers(described).to_bytes()))?;
        Ok(())
    }

    /// Creates the index in `blocks` blocks, in place; `None` if one cannot be read, or if they do not fit together. Returns the files
    /// that are present too. Later changes are in `store`. Runs on the current rayon pool.
    pub fn load(
        store: Option<Arc<dyn BlockStore>>,
        blocks: u32,
        load: &BlockLoader<'_>,
    ) -> Option<(Index, Vec<SavedFile>)> {
        let last = load(blocks.checked_sub(1)?)?;
        let Description::Layers(described) = postcard::from_bytes(&last.description).ok()? else {
            return None;
        };
        let loaded = LoadedBlocks::load(&described, load)?;
        let layers: Vec<IndexLayer> =
            described.par_iter().map(|layer| loaded.layer(layer)).collect::<Option<_>>()?;
        let files = described.iter().zip(&layers).flat_map(|(described, layer)| {
            let places = described.files.iter().enumerate();
            places
                .filter(|(position, _)| layer.is_present(*position))
                .filter_map(|(_, place)| loaded.file(place))
        });
        let files: Vec<SavedFile> = files.cloned().collect();
        let is_distinct =
            files.iter().map(|file| file.index.path()).collect::<FxHashSet<_>>().len() == files.len();
        is_distinct.then(|| (Index::of_layers(layers, store), files))
    }
}

fn array_block<D: StoredData>(data: &mut D) -> SavedBlock {
    let mut block = SavedBlock::default();
    let lengths = block.push_arrays(data);
    block.description = Description::Arrays(lengths).to_bytes();
    block
}

fn load_arrays<D: StoredData + Default>(block: &LoadedBlock) -> Option<D> {
    let Description::Arrays(lengths) = postcard::from_bytes(&block.description).ok()? else { return None };
    let mut data = D::default();
    BlockCursor::new(block).arrays(&mut data, &lengths)?;
    Some(data)
}

/// Blocks of layers by their numbers.
#[derive(Default)]
struct LoadedBlocks {
    files: FxHashMap<u32, Vec<SavedFile>>,
    arrays: FxHashMap<u32, LoadedBlock>,
}

enum Loaded {
    Files(Vec<SavedFile>),
    Arrays(LoadedBlock),
}

impl LoadedBlocks {
    /// Loads the blocks that layers refer to.
    fn load(layers: &[LayerDescription], load: &BlockLoader<'_>) -> Option<LoadedBlocks> {
        let arrays: FxHashSet<u32> = layers.iter().flat_map(|layer| layer.arrays).collect();
        let files = layers.iter().flat_map(|layer| &layer.files).map(|place| place.block);
        let files: FxHashSet<u32> = files.filter(|block| !arrays.contains(block)).collect();
        // The largest ones first.
        let numbers: Vec<(u32, bool)> = arrays
            .iter()
            .map(|&block| (block, true))
            .chain(files.iter().map(|&block| (block, false)))
            .collect();
        let loaded: Vec<(u32, Loaded)> = numbers
            .into_par_iter()
            .with_max_len(1)
            .map(|(number, is_arrays)| {
                let block = load(number)?;
                let loaded =
                    if is_arrays { Loaded::Arrays(block) } else { Loaded::Files(load_files(&block)?) };
                Some((number, loaded))
            })
            .collect::<Option<_>>()?;
        let mut blocks = LoadedBlocks::default();
        for (number, loaded) in loaded {
            match loaded {
                Loaded::Files(files) => drop(blocks.files.insert(number, files)),
                Loaded::Arrays(block) => drop(blocks.arrays.insert(number, block)),
            }
        }
        Some(blocks)
    }

    fn file(&self, place: &FilePlace) -> Option<&SavedFile> {
        self.files.get(&place.block)?.get(place.position as usize)
    }

    fn layer(&self, described: &LayerDescription) -> Option<IndexLayer> {
        let [windows, functions, names] = described.arrays;
        let block = |number: u32| self.arrays.get(&number);
        let stored = StoredSegment {
            windows: load_arrays(block(windows)?)?,
            functions: load_arrays(block(functions)?)?,
            names: load_arrays(block(names)?)?,
        };
        let files = described.files.iter().map(|place| Some(Arc::clone(&self.file(place)?.index)));
        let files: Vec<Arc<FileIndex>> = files.collect::<Option<_>>()?;
        let mut layer = IndexLayer::of(Segment::from_stored(files, stored)?);
        let absent = described.absent.iter().map(|&position| layer.segment().files().get(position as usize));
        let absent: Vec<Arc<str>> =
            absent.map(|file| Some(Arc::clone(&file?.file().path))).collect::<Option<_>>()?;
        layer.remove_all(absent.iter().map(|path| &**path));
        (!layer.is_worn()).then_some(layer)
    }
}

#[cfg(test)]
pub(crate) mod tests;
