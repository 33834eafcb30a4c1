//! Data derived from one file, and its encoding.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::Language;

use super::*;
use crate::codec::{seal, unseal, write_varint};

fn index(path: &str, text: &str) -> FileIndex {
    let language = Language::from_path(path).unwrap();
    FileIndex::new(SourceFile { path: path.into(), language, text: text.into() })
}

/// A file that is in no segment.
struct LoneFile {
    index: Arc<FileIndex>,
    lazy: LazyFields,
}

impl LoneFile {
    fn new(index: FileIndex) -> LoneFile {
        LoneFile { index: Arc::new(index), lazy: LazyFields::default() }
    }

    fn as_of_segment(&self) -> SegmentFile<'_> {
        SegmentFile { index: &self.index, lazy: &self.lazy }
    }
}

const PYTHON: &str = "\
import os

def read_user(path):
    # The user's file.

    return parse(path)
";

#[track_caller]
fn check(index: &FileIndex, expected: Expect) {
    let window = |window: u32| {
        let lines: Vec<String> = index
            .window_lines(window)
            .iter()
            .map(|line| format!("{}:{}", line.number, index.line_text(line)))
            .collect();
        format!("{window}: {lines:?}\n")
    };
    expected.assert_eq(&(0..index.windows() as u32).map(window).collect::<String>());
}

#[test]
fn windows_are_two_blocks_of_nonblank_lines() {
    check(
        &index("a.py", PYTHON),
        expect![[r#"
        0: ["0:import os", "2:def read_user(path):", "3:    # The user's file.", "5:    return parse(path)"]
    "#]],
    );
    check(
        &index("a.py", "a\r\n\r\n  \nb\nc\nd\ne\nf\ng\nh"),
        expect![[r#"
        0: ["0:a", "3:b", "4:c", "5:d", "6:e", "7:f"]
        1: ["5:d", "6:e", "7:f", "8:g", "9:h"]
    "#]],
    );
    check(
        &index("a.py", "one"),
        expect![[r#"
        0: ["0:one"]
    "#]],
    );
    check(&index("a.py", " \n\n"), expect![""]);
}

#[test]
fn windows_contain_the_terms_of_their_lines() {
    let index = index("a.py", PYTHON);
    let has = |name: &str| index.window_terms(0).any(|term| term == Term::identifier(name));
    assert!(has("read_user") && has("path") && has("file") && has("The"));
    assert!(!has("user_read") && !has("def") && !has("import"));
    assert!(Term::parts("user").iter().all(|part| index.window_terms(0).any(|term| term == *part)));
}

#[test]
fn decoding_rejects_other_content_and_damaged_bytes() {
    let stored = index("a.py", PYTHON).encode();
    let decode = |path: &str, text: &str, bytes: &[u8]| {
        let language = Language::from_path(path).unwrap();
        FileIndex::decode(SourceFile { path: path.into(), language, text: text.into() }, bytes)
    };
    assert_eq!(decode("b.py", PYTHON, &stored), Ok(index("b.py", PYTHON)));
    assert_eq!(decode("a.py", "import os\n", &stored), Err(DecodeError::Content));
    assert_eq!(decode("a.js", PYTHON, &stored), Err(DecodeError::Content));
    assert_eq!(decode("a.py", PYTHON, &stored[..40]), Err(DecodeError::Damaged));
    assert_eq!(decode("a.py", PYTHON, b"\x0cfile-index 1"), Err(DecodeError::Format));
    assert_eq!(decode("a.py", PYTHON, b""), Err(DecodeError::Format));
}

/// A forged cache file has a valid checksum, too.
#[test]
fn too_deeply_nested_expression_is_rejected_as_damaged() {
    let built = index("a.py", "x = name()\n");
    let stored = built.encode();
    let payload = unseal(FileIndex::FORMAT, &stored).unwrap();
    // The steps of its value: their number, the name with its length, the call.
    let steps = b"\x02\x00\x04name\x04";
    let at = payload.windows(steps.len()).position(|bytes| bytes == steps).unwrap();
    let with_calls = |calls: u32| {
        let mut payload = payload.to_vec();
        let mut deep = Vec::new();
        write_varint(&mut deep, calls + 1);
        deep.extend_from_slice(&steps[1..steps.len() - 1]);
        deep.extend(std::iter::repeat_n(steps[steps.len() - 1], calls as usize));
        payload.splice(at..at + steps.len(), deep);
        FileIndex::decode(built.file().clone(), &seal(FileIndex::FORMAT, &payload))
    };
    assert_eq!(with_calls(1).as_ref(), Ok(&built));
    assert!(with_calls(10).is_ok());
    assert_eq!(with_calls(1_000_000), Err(DecodeError::Damaged));
}

proptest! {
    #[test]
    fn file_index_round_trips(text in "(def [a-c]{1,3}\\([a-c]*\\):\n|    return [a-cA-C_]{1,9}\\(\\)\r?\n|\n){0,30}") {
        let built = index("a.py", &text);
        let decoded = FileIndex::decode(built.file().clone(), &built.encode());
        prop_assert_eq!(decoded, Ok(built));
    }

    /// A file that another program changes under a mapping is not checked again.
    #[test]
    fn any_bytes_are_read_without_a_panic(cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let built = index("a.rs", "struct A { b: u8 }\nimpl A { fn c(&self) {} }\nfn d(e: A) -> A { e }\n");
        let mut bytes = built.outline.encoded.to_vec();
        let place = at.index(bytes.len());
        bytes[place] = value;
        bytes.truncate(cut.index(bytes.len() + 1));
        let broken = LoneFile::new(FileIndex { outline: StoredOutline::new(bytes.into()), ..built });
        let broken = broken.as_of_segment();
        for position in 0..5 {
            broken.definition(position);
            broken.definition_name(position);
            broken.definition_shape(position);
        }
        let head = broken.imports().len() + broken.namespaces().len() + broken.extensions().len();
        prop_assert!(head < 100 && broken.outline().definitions.len() <= broken.definition_count());
    }

    #[test]
    fn any_changed_byte_is_detected(at in 0_usize..400, value in any::<u8>()) {
        let built = index("a.py", PYTHON);
        let mut bytes = built.encode();
        let at = at % bytes.len();
        prop_assume!(bytes[at] != value);
        bytes[at] = value;
        prop_assert!(FileIndex::decode(built.file().clone(), &bytes).is_err());
    }
}

#[test]
fn parts_of_an_outline_are_those_of_the_whole_outline() {
    let java = "package shop.cart;\n\nimport shop.Item;\nimport static shop.Prices.*;\n\nclass Cart { Item first; }\n";
    let rust = "struct A { b: u8 }\nimpl A { fn c(&self) {} }\nimpl Clone for A {}\nmod d { pub const E: u8 = 1; }\n";
    for index in [index("a.py", PYTHON), index("Cart.java", java), index("a.rs", rust), index("empty.py", "")]
    {
        let index = LoneFile::new(index);
        let index = index.as_of_segment();
        let outline = index.outline();
        assert_eq!((index.imports(), index.namespaces()), (&*outline.imports, &*outline.namespaces));
        assert_eq!(index.extensions(), outline.extensions);
        let shapes: Vec<DefinitionShape> = index.definition_shapes().collect();
        assert_eq!((shapes.len(), index.definition_count()), (outline.definitions.len(), shapes.len()));
        for (position, definition) in (0..).zip(&outline.definitions) {
            assert_eq!(*index.definition(position), **definition);
            assert_eq!(*index.definition_name(position), *definition.name);
            let shape = DefinitionShape::of(definition);
            assert_eq!((shapes[position as usize], index.definition_shape(position)), (shape, shape));
        }
    }
}

#[test]
fn a_definition_that_does_not_exist_is_empty() {
    let index = LoneFile::new(index("a.py", PYTHON));
    let index = index.as_of_segment();
    for position in [1, u32::MAX] {
        assert_eq!((index.definition_name(position), &*index.definition(position).name), ("", ""));
        assert_eq!(index.definition_shape(position), DefinitionShape::of(index.definition(position)));
    }
}

/// A forged cache file has a valid checksum, too.
#[test]
fn entries_that_do_not_belong_to_the_definitions_are_rejected_as_damaged() {
    let built = index("a.py", "def one():\n    pass\n\ndef two():\n    pass\n");
    let stored = built.encode();
    let payload = unseal(FileIndex::FORMAT, &stored).unwrap();
    // The number of definitions, and both entries.
    let outline = payload.len() - built.outline.encoded.len();
    let mut rejected = 0;
    for at in outline..outline + 44 {
        let mut payload = payload.to_vec();
        payload[at] ^= 1;
        let decoded = FileIndex::decode(built.file().clone(), &seal(FileIndex::FORMAT, &payload));
        rejected += usize::from(decoded == Err(DecodeError::Damaged));
    }
    assert_eq!(rejected, 44);
}

/// Checks the lines in which `wanted` is mentioned outside of literals and comments.
#[track_caller]
fn check_mentions(index: FileIndex, expected: &[u32]) {
    let index = LoneFile::new(index);
    let index = index.as_of_segment();
    let has_one = |line: &&CodeLine| !index.mentions(line, "wanted").is_empty();
    let found: Vec<u32> = index.lines().iter().filter(has_one).map(|line| line.number).collect();
    assert_eq!(found, expected);
}

#[test]
fn lines_within_literals_and_comments_mention_nothing() {
    let python = "\
wanted()
'''
wanted()

def in_literal():
    wanted()
'''
def one():
    '''
    wanted()
    ''' ; wanted()
    wanted()
    def two():
        text = '''
wanted() '''
        wanted()
    wanted()
wanted()
";
    check_mentions(index("a.py", python), &[0, 10, 11, 15, 16, 17]);
    // The same far behind the start of a function.
    let far = python.replace("def one():\n", &format!("def one():\n{}", "    other()\n".repeat(3000)));
    check_mentions(index("a.py", &far), &[0, 3010, 3011, 3015, 3016, 3017]);
    let c = "\
/* wanted();
wanted(); */ wanted();
int one(void) {
    /*
     * wanted();
     */
    wanted(\"\\
wanted()\");
}
/*
wanted();
*/
";
    check_mentions(index("a.c", c), &[1, 6]);
}
