//! Images round-trip, and corrupt ones are rejected.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::{Language, SourceFile};

use super::*;

fn file(path: &str, text: &str) -> SourceFile {
    let language = Language::from_path(path).unwrap();
    SourceFile { path: path.into(), language, text: text.into() }
}

fn corpus() -> Corpus {
    Corpus::build(&[
        file("a.py", "def area(self):\n    return 'ß', 2 ** n\n"),
        file("lib/copy.py", "def area(self):\n    return 'ß', 2 ** n\n"),
        file("lib/b.rs", "fn main() {\n\tlet x = 1.5;\r\n}\n"),
        file("lib/c.ts", "const f = async (x?: number) => `${x ?? 0x1f}` // so\n\n\nexport default /a+/g\n"),
        file("lib/d.go", "func f(a ...int) {\n\ta[0] <- 'x'\n}\n"),
        file("lib/E.java", "class E<T> { @Override int f() { return 1_000L >>> 2; } }\n"),
        file("lib/F.cs", "string s = $@\"{a}\"; /* so */ var t = u?.V ?? default!;\n"),
        file("lib/g.hpp", "#include <map>\ntemplate <class T> auto f(T&& t) -> int;\n"),
        file("empty.c", ""),
    ])
}

/// Bytes aligned to four, like those of a cache.
struct Mapped(Vec<u32>, usize);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

fn mapped(bytes: &[u8]) -> SharedBytes {
    let mut numbers = vec![0; bytes.len().div_ceil(4)];
    bytemuck::cast_slice_mut(&mut numbers)[..bytes.len()].copy_from_slice(bytes);
    Arc::new(Mapped(numbers, bytes.len()))
}

fn read(bytes: &[u8]) -> Result<Corpus, CorpusImageError> {
    Corpus::from_image(mapped(bytes))
}

/// Sets the correct length and checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = (bytes.len() as u64).to_ne_bytes();
    bytes[16..24].copy_from_slice(&length);
    let checksum = blake3::hash(&bytes[HEADER_BYTES..]);
    bytes[CHECKSUM_RANGE].copy_from_slice(checksum.as_bytes());
    bytes
}

#[test]
fn corpus_image_round_trips() {
    let corpus = corpus();
    let image = corpus.image().concat();
    assert_eq!(image.len() % ALIGNMENT, 0);
    let again = read(&image).unwrap();
    assert_eq!((again.stats(), again.image().concat()), (corpus.stats(), image));
    assert_eq!(again.stats().files, 8, "one of nine is a copy");
}

#[test]
fn image_contains_the_base_without_changes() {
    let changed =
        corpus().with_changes(&[file("a.py", "new = 1\n"), file("new.py", "")], &["lib/b.rs".into()]);
    assert_eq!(changed.image().concat(), corpus().image().concat());
}

/// Increment the version when this hash changes: images of the former version contain other tokens.
#[test]
fn image_hash_is_pinned_to_the_version() {
    let image = blake3::hash(&corpus().image().concat()).to_hex();
    let expected: Expect = expect!["4 f53b37651e1c86d3"];
    expected.assert_eq(&format!("{VERSION} {}", &image[..16]));
}

#[test]
fn damaged_or_foreign_image_is_rejected() {
    let image = corpus().image().concat();
    for end in [0, 10, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 5, image.len() - 1] {
        assert!(matches!(read(&image[..end]), Err(CorpusImageError::Damaged(_))), "{end}");
    }
    for at in [30, 40, HEADER_BYTES, HEADER_BYTES + 40, image.len() - 1] {
        let mut bytes = image.clone();
        bytes[at] ^= 1;
        let damaged = if at == 30 {
            read(&bytes).is_ok()
        } else {
            matches!(read(&bytes), Err(CorpusImageError::Damaged(_)))
        };
        assert!(damaged, "{at}");
    }
    let mut newer = image.clone();
    newer[8] ^= 1;
    assert_eq!(read(&newer).err(), Some(CorpusImageError::Foreign));
    assert_eq!(
        read(&sealed([image, vec![0; 4]].concat())).err(),
        Some(CorpusImageError::Damaged("something follows it"))
    );
}

proptest! {
    /// No content of an image makes reading it or completing with it panic.
    #[test]
    fn corrupt_image_with_valid_checksum_does_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = corpus().image().concat();
        for (at, byte) in changes {
            let at = HEADER_BYTES + at.index(bytes.len() - HEADER_BYTES);
            bytes[at] = byte;
        }
        if let Ok(corpus) = read(&sealed(bytes)) {
            let before = "def area(self):\n    return ";
            let open = crate::OpenFile::new("lib/new.py", Language::Python, before, "\n");
            let open = crate::OpenFile { hidden: &["a.py"], ..open };
            let settings = crate::BuiltinSettings { min_probability: None, ..crate::BuiltinSettings::for_replay() };
            corpus.view(&open).complete(&settings, &mut || true);
            let files = [file("lib/b.rs", "fn new() {}\n")];
            drop(corpus.synced_to(&files).rebuilt(&files).image());
        }
    }
}
