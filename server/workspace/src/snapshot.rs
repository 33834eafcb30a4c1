//! The immutable snapshot of a workspace that all other code works on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use syntax::{Language, Manifest, SourceFile};

use crate::read_files::HashedText;
use crate::walk::language_or_skip;
use crate::{ReadLimits, Skips, TextHash};

/// The texts of a workspace at one moment; cheap to clone.
///
/// A snapshot made with [`with_open`](Snapshot::with_buffer) or [`hiding`](Snapshot::without_files) no longer contains the replaced or
/// hidden text, so code that gets such a snapshot cannot reach it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    root: Arc<Path>,
    files: Arc<[SourceFile]>,
    /// Hashes of the files, in their order.
    hashes: Arc<[TextHash]>,
    manifests: Arc<[Manifest]>,
    skips: Arc<Skips>,
    tree_hash: Arc<OnceLock<String>>,
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
        }
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

    /// Counts files, lines and bytes.
    pub fn totals(&self) -> Totals {
        Totals {
            files: self.files.len(),
            lines: self.files.iter().map(|file| file.text.lines().count()).sum(),
            bytes: self.files.iter().map(|file| file.text.len()).sum(),
        }
    }

    /// Returns the workspace with an editor's buffer in place of the text on disk. If the walk would skip the buffer for its name
    /// or size, the file is removed from the snapshot, since neither its text nor an older one may be used.
    pub fn with_buffer(&self, path: &str, text: impl Into<Arc<str>>) -> Snapshot {
        let text = text.into();
        let is_small = text.len() as u64 <= ReadLimits::FILE_BYTES;
        match language_or_skip(path) {
            Ok(language) if is_small => self.with_file(path, language, text),
            _ if is_small && Manifest::is_at(path) => self.with_manifest(path, text),
            _ => self.without_files([path]),
        }
    }

    fn with_file(&self, path: &str, language: Language, text: Arc<str>) -> Snapshot {
        let language = self.get(path).map_or(language, |saved| saved.language);
        let HashedText { text, hash } = HashedText::new(text);
        let file = SourceFile { path: path.into(), language, text };
        let (mut files, mut hashes) = (self.files.to_vec(), self.hashes.to_vec());
        match self.position(path) {
            Ok(position) => (files[position], hashes[position]) = (file, hash),
            Err(position) => {
                files.insert(position, file);
                hashes.insert(position, hash);
            }
        }
        Snapshot { files: files.into(), hashes: hashes.into(), tree_hash: Arc::default(), ..self.clone() }
    }

    fn with_manifest(&self, path: &str, text: Arc<str>) -> Snapshot {
        let manifest = Manifest { path: path.into(), text };
        let mut manifests = self.manifests.to_vec();
        match manifests.binary_search_by(|other| (*other.path).cmp(path)) {
            Ok(position) => manifests[position] = manifest,
            Err(position) => manifests.insert(position, manifest),
        }
        Snapshot { manifests: manifests.into(), ..self.clone() }
    }

    /// Returns the workspace without the files at `paths`.
    pub fn without_files<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Snapshot {
        let hidden: BTreeSet<&str> = paths.into_iter().collect();
        let shown = self.files.iter().zip(&*self.hashes).filter(|(file, _)| !hidden.contains(&*file.path));
        let (files, hashes): (Vec<_>, Vec<_>) = shown.map(|(file, hash)| (file.clone(), *hash)).unzip();
        let manifests = self.manifests.iter().filter(|manifest| !hidden.contains(&*manifest.path)).cloned();
        Snapshot {
            files: files.into(),
            hashes: hashes.into(),
            manifests: manifests.collect(),
            tree_hash: Arc::default(),
            ..self.clone()
        }
    }

    fn position(&self, path: &str) -> Result<usize, usize> {
        self.files.binary_search_by(|file| (*file.path).cmp(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let file = |(path, text): (&str, &str)| SourceFile {
            path: path.into(),
            language: Language::Python,
            text: text.into(),
        };
        let files = [("a.py", "a = 1\n"), ("c.py", "c = 1\nc = 2")].map(file);
        let hashes = files.clone().map(|file| HashedText::new(file.text).hash);
        let manifest = Manifest { path: "go.mod".into(), text: "module a\n".into() };
        let root = Path::new("/project").into();
        Snapshot::new(&root, files.into(), hashes.into(), vec![manifest], Skips::default())
    }

    fn texts(snapshot: &Snapshot) -> Vec<(&str, &str)> {
        snapshot.files().iter().map(|file| (&*file.path, &*file.text)).collect()
    }

    #[test]
    fn an_open_buffer_replaces_the_disk_text() {
        let snapshot = snapshot();
        let open = snapshot.with_buffer("a.py", "a = 9\n");
        assert_eq!(texts(&open), [("a.py", "a = 9\n"), ("c.py", "c = 1\nc = 2")]);
        assert_eq!(
            snapshot.get("a.py").map(|file| &*file.text),
            Some("a = 1\n"),
            "the older snapshot stays as it was"
        );
        assert_ne!(open.tree_hash(), snapshot.tree_hash());
        assert_eq!(open.with_buffer("a.py", "a = 1\n").tree_hash(), snapshot.tree_hash());
    }

    #[test]
    fn a_new_buffer_takes_its_place_in_order() {
        let open = snapshot().with_buffer("b.py", "b = 1\n");
        assert_eq!(texts(&open)[1], ("b.py", "b = 1\n"));
    }

    #[test]
    fn buffers_the_walk_would_skip_are_not_let_in() {
        let snapshot = snapshot();
        for (path, text) in [("secrets.py", "key = 1"), ("notes.txt", "x"), ("a.py", &"#".repeat(2 << 20))] {
            assert_eq!(snapshot.with_buffer(path, text).get(path), None, "{path}");
        }
    }

    #[test]
    fn hidden_files_are_gone() {
        let hidden = snapshot().without_files(["a.py", "unknown.py"]);
        assert_eq!(texts(&hidden), [("c.py", "c = 1\nc = 2")]);
        assert_eq!(hidden.totals(), Totals { files: 1, lines: 2, bytes: 11 });
    }

    #[test]
    fn manifests_are_replaced_and_hidden_like_files_and_count_nowhere() {
        let snapshot = snapshot();
        let open = snapshot.with_buffer("go.mod", "module b\n").with_buffer("web/package.json", "{}");
        let manifests: Vec<_> = open.manifests().iter().map(|one| (&*one.path, &*one.text)).collect();
        assert_eq!(manifests, [("go.mod", "module b\n"), ("web/package.json", "{}")]);
        assert_eq!((open.tree_hash(), open.totals()), (snapshot.tree_hash(), snapshot.totals()));
        assert!(snapshot.without_files(["go.mod"]).manifests().is_empty());
    }

    #[test]
    fn the_tree_hash_tells_paths_from_texts() {
        let moved = snapshot().without_files(["a.py"]).with_buffer("a.pya.py", "a = 1\n");
        assert_ne!(moved.tree_hash(), snapshot().tree_hash());
    }
}
