//! A saved index is the same index when it is loaded, and blocks that do not fit together are none.

use std::convert::Infallible;

use stored::MemoryBlocks;

use super::*;
use crate::TokenBudget;

fn file(path: &str, text: &str) -> Arc<FileIndex> {
    let (path, text) = (path.into(), text.into());
    Arc::new(FileIndex::new(SourceFile { path, language: Language::Python, text }))
}

/// Saves an index and returns its blocks.
fn blocks(index: &Index) -> Vec<LoadedBlock> {
    let mut blocks = Vec::new();
    let saved = index.save(&|file| file.path().as_bytes().to_vec(), &mut |block| {
        blocks.push(LoadedBlock::in_memory(&block));
        Ok::<u32, Infallible>(blocks.len() as u32 - 1)
    });
    saved.unwrap();
    blocks
}

fn load(blocks: &[LoadedBlock]) -> Option<(Index, Vec<SavedFile>)> {
    let store = Some(Arc::new(MemoryBlocks) as Arc<dyn BlockStore>);
    Index::load(store, blocks.len() as u32, &|number| blocks.get(number as usize).cloned())
}

/// Saves an index and loads it.
pub(crate) fn reopened(index: &Index) -> Index {
    load(&blocks(index)).unwrap().0
}

/// An index of three layers, in two of which a file is absent.
fn layered() -> Index {
    let text = |name: &str| format!("import m1\n\ndef {name}(size):\n    return m1.shared(size)\n");
    let many = (0..12).map(|number| file(&format!("m{number:02}.py"), &text(&format!("f{number}"))));
    let index = Index::from_files(many.collect());
    let index = index.apply(vec![file("m03.py", &text("g")), file("new.py", &text("h"))], &["m04.py".into()]);
    let index = index.apply(vec![file("new.py", &text("i"))], &[]);
    assert!(index.layers().len() > 1, "there are several layers");
    index
}

fn answers(index: &Index) -> String {
    let query = crate::RetrievalQuery {
        path: "query.py",
        language: Language::Python,
        prefix: "import m01\n\ndef f(size):\n    return m01.",
        suffix: "",
        recent: &[],
    };
    let searcher = index.hide(&[]);
    let budget = TokenBudget { tokens: 2_000 };
    let hits = searcher.retrieve(crate::Strategy::Hybrid, &syntax::Projects::default(), &query, budget);
    assert!(!hits.is_empty());
    let files: Vec<_> = searcher
        .files()
        .into_iter()
        .map(|file| (file.path(), file.text(), file.hash(), file.outline()))
        .collect();
    format!("{hits:#?}\n{files:#?}")
}

#[test]
fn loaded_index_has_the_files_the_layers_and_the_answers_of_the_saved_one() {
    let index = layered();
    let (loaded, files) = load(&blocks(&index)).unwrap();
    assert_eq!(answers(&loaded), answers(&index));
    let layers = |index: &Index| -> Vec<_> {
        index.layers().iter().map(|layer| (layer.absent(), layer.windows(), layer.functions())).collect()
    };
    assert_eq!(layers(&loaded), layers(&index));
    assert_eq!(files.len(), 12);
    for SavedFile { index: saved, note } in files {
        assert_eq!(note, saved.path().as_bytes());
        assert!(Arc::ptr_eq(loaded.hide(&[]).file(saved.path()).unwrap().index, &saved));
        assert!(!saved.file().text.is_in_memory());
    }
    // It can be changed and saved like any other.
    let change =
        |index: &Index| index.apply(vec![file("m05.py", "def shared(): pass\n")], &["m06.py".into()]);
    assert_eq!(answers(&reopened(&change(&loaded))), answers(&change(&index)));
}

#[test]
fn index_without_files_is_saved_too() {
    let (loaded, files) = load(&blocks(&Index::from_files(Vec::new()))).unwrap();
    assert_eq!((loaded.files(), files.len()), (0, 0));
}

#[test]
fn files_that_are_saved_already_are_not_saved_again() {
    let files = vec![file("a.py", "a = 1\n"), file("b.py", "b = a\n")];
    let old = file("a.py", "a = 0\n");
    // As a process that was killed has left it: an old version is there too.
    let mut blocks = vec![
        LoadedBlock::in_memory(&save_files([(&*old, Vec::new())])),
        LoadedBlock::in_memory(&save_files([(&*files[1], Vec::new()), (&*files[0], vec![1])])),
    ];
    let place = |position: u32| FilePlace { block: 1, position };
    let places = [("a.py".into(), place(1)), ("b.py".into(), place(0))].into_iter().collect();
    let index = Index::from_files(files);
    let saved = index.save_with(&places, &mut |block| {
        blocks.push(LoadedBlock::in_memory(&block));
        Ok::<u32, Infallible>(blocks.len() as u32 - 1)
    });
    saved.unwrap();
    assert_eq!(blocks.len(), 6);
    let (loaded, saved) = load(&blocks).unwrap();
    assert_eq!(loaded.hide(&[]).file("a.py").unwrap().text(), "a = 1\n");
    assert_eq!(saved.iter().map(|file| file.note.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(load_files(&blocks[0]).unwrap()[0].index.text(), "a = 0\n");
    assert!(load_files(&blocks[5]).is_none(), "it is no block of files");
}

#[test]
fn blocks_that_do_not_fit_together_are_no_index() {
    let all = blocks(&layered());
    assert!(load(&[]).is_none());
    for missing in 0..all.len() {
        let without: Vec<LoadedBlock> = all
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != missing)
            .map(|(_, block)| block.clone())
            .collect();
        assert!(load(&without).is_none(), "without block {missing}");
    }
    // The blocks of another index, in which files have other lengths.
    let other = blocks(&Index::from_files(vec![file("m00.py", &"def a():\n    pass\n".repeat(5))]));
    for number in 0..all.len() - 1 {
        for foreign in &other {
            let mut mixed = all.clone();
            mixed[number] = foreign.clone();
            assert!(load(&mixed).is_none(), "with another block {number}");
        }
    }
}

#[test]
fn truncated_descriptions_are_rejected() {
    let all = blocks(&layered());
    for number in 0..all.len() {
        for length in 0..all[number].description.len() {
            let mut truncated = all.clone();
            truncated[number].description.truncate(length);
            assert!(load(&truncated).is_none(), "block {number} with {length} bytes");
        }
    }
}
