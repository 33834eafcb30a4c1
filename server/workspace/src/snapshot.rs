//! The immutable snapshot of a workspace that all other code works on.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use stored::{BlockStore, parts};
use syntax::{Manifest, SourceFile};

use crate::{Skips, TextHash};

/// Bytes of text after which a pass over all texts releases what it has read.
const PASS_BYTES: u64 = 64 << 20;

/// The texts of a workspace at one moment; cheap to clone.
#[derive(Clone, Debug)]
pub struct Snapshot {
    root: Arc<Path>,
    files: Arc<[SourceFile]>,
    /// Hashes of the files, in their order.
    hashes: Arc<[TextHash]>,
    manifests: Arc<[Manifest]>,
    skips: Arc<Skips>,
    tree_hash: Arc<OnceLock<String>>,
    /// Where the texts are if they are many.
    store: Option<Arc<dyn BlockStore>>,
}

/// Sizes of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of files.
    pub files: usize,
    /// Number of lines.
    pub lines: usize,
    /// Number of bytes.
    pub bytes: usize,
}

impl Snapshot {
    /// Creates a snapshot of `files`, each with its hash, and `manifests`, both in the order of their paths.
    pub(crate) fn new(
        root: &Arc<Path>,
        files: Vec<SourceFile>,
        hashes: Vec<TextHash>,
        manifests: Vec<Manifest>,
        skips: Skips,
    ) -> Snapshot {
        Snapshot {
            root: root.clone(),
            files: files.into(),
            hashes: hashes.into(),
            manifests: manifests.into(),
            skips: Arc::new(skips),
            tree_hash: Arc::default(),
            store: None,
        }
    }

    /// Returns the snapshot with the place of its texts.
    #[must_use]
    pub(crate) fn in_store(self, store: Option<Arc<dyn BlockStore>>) -> Snapshot {
        Snapshot { store, ..self }
    }

    /// Returns the loaded folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns all files in the order of their paths.
    pub fn files(&self) -> &Arc<[SourceFile]> {
        &self.files
    }

    /// Returns the file at `path`, which is relative to the root, with `/` between its parts.
    pub fn get(&self, path: &str) -> Option<&SourceFile> {
        self.position(path).ok().and_then(|position| self.files.get(position))
    }

    /// Returns the project files in the order of their paths. They are not source: they are not counted or hashed.
    pub fn manifests(&self) -> &Arc<[Manifest]> {
        &self.manifests
    }

    /// Returns the skipped paths.
    pub fn skips(&self) -> &Skips {
        &self.skips
    }

    /// Returns the identity of the texts: blake3 over every path, preceded by its length in bytes, and the hash of its text, in
    /// order; 128 bits in hexadecimal. Computed once, from existing hashes: a millisecond for 10,000 files.
    pub fn tree_hash(&self) -> &str {
        self.tree_hash.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            for (file, hash) in self.files.iter().zip(&*self.hashes) {
                hasher.update(&(file.path.len() as u64).to_le_bytes());
                hasher.update(file.path.as_bytes());
                hasher.update(hash);
            }
            hasher.finalize().to_hex()[..32].to_owned()
        })
    }

    /// Counts files, lines and bytes. Reads all texts.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals { files: self.files.len(), ..Totals::default() };
        for part in parts(&self.files, PASS_BYTES, |file| file.text.len() as u64) {
            totals.lines += part.iter().map(|file| line_count(&file.text)).sum::<usize>();
            totals.bytes += part.iter().map(|file| file.text.len()).sum::<usize>();
            self.store.iter().for_each(|store| store.release_pages());
        }
        totals
    }

    fn position(&self, path: &str) -> Result<usize, usize> {
        self.files.binary_search_by(|file| (*file.path).cmp(path))
    }
}

/// As many as [`str::lines`] returns.
fn line_count(text: &str) -> usize {
    let has_open_line = !text.is_empty() && !text.ends_with('\n');
    memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(has_open_line)
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::*;
    use crate::read_files::HashedText;

    const FILES: [(&str, &str); 2] = [("a.py", "a = 1\n"), ("c.py", "c = 1\nc = 2")];

    fn snapshot(files: [(&str, &str); 2], go_module: &str) -> Snapshot {
        let language = Language::Python;
        let files = files.map(|(path, text)| SourceFile { path: path.into(), language, text: text.into() });
        let hashes = files.clone().map(|file| HashedText::new(file.text).hash);
        let manifest = Manifest { path: "go.mod".into(), text: go_module.into() };
        let root = Path::new("/project").into();
        Snapshot::new(&root, files.into(), hashes.into(), vec![manifest], Skips::default())
    }

    #[test]
    fn snapshot_finds_files_by_path_and_counts_them() {
        let snapshot = snapshot(FILES, "module a\n");
        assert_eq!(snapshot.get("c.py").map(|file| &*file.text), Some("c = 1\nc = 2"));
        assert_eq!(snapshot.get("b.py"), None);
        assert_eq!(snapshot.totals(), Totals { files: 2, lines: 3, bytes: 17 });
    }

    #[test]
    fn lines_are_counted_like_those_of_a_string() {
        for text in ["", "\n", "a", "a\n", "a\r\nb\r", "\n\n\r\nb"] {
            assert_eq!(line_count(text), text.lines().count(), "{text:?}");
        }
    }

    #[test]
    fn manifests_do_not_change_hash_or_totals() {
        let [one, other] = ["module a\n", "module b\n"].map(|text| snapshot(FILES, text));
        assert_eq!((one.tree_hash(), one.totals()), (other.tree_hash(), other.totals()));
    }

    #[test]
    fn tree_hash_distinguishes_paths_and_texts() {
        let [path, text, both] = [("ba.py", "a = 1\n"), ("a.py", "a = 2\n"), ("a.pya", " = 1\n")]
            .map(|first| snapshot([first, FILES[1]], "module a\n"));
        for changed in [path, text, both] {
            assert_ne!(changed.tree_hash(), snapshot(FILES, "module a\n").tree_hash());
        }
    }
}
