//! The counts of candidates against the holes themselves.

use std::collections::BTreeMap;

use proptest::prelude::*;
use syntax::{Language, SourceFile};

use super::HoleCandidates;
use crate::holes::holes;

const PIECES: [(Language, &[&str]); 4] = [
    (
        Language::Python,
        &[
            "def load(path, *rest):\n    x = f\"{path}\\n\" + str(rest)\n    return x\n",
            "    if a:\n        b = 'é' + c\n        d = b\n",
            "    while x > 1:\n        x -= 1\n        print(f\"{x}\\t{x!r}\", x)\n",
            "import os, sys\n",
            "s = \"\\N{GREEK SMALL LETTER ALPHA} {}\".format(s)\n",
            "\n",
        ],
    ),
    (
        Language::C,
        &[
            "int f(int a) {\n  int b = a + 1;\n  g(\"%d\\n\", a, &b);\n  return b;\n}\n",
            "#if A\n",
            "#else\n",
            "#endif\n",
            "if (x) {\n  y = call(x, 'a', '\\x41');\n",
            "}\n",
        ],
    ),
    (
        Language::Tsx,
        &[
            "const view = <p>a&amp;b &lt; {name} e\u{301}</p>;\n",
            "function show(a) {\n  const text = `${a}\\n${a.b}`;\n  return text;\n}\n",
            "for (const a of b) {\n  use(a)\n  label: more(a, \"\\u{1F600}\")\n}\n",
            "if (a && b) {\r\n  c = a & b;\r\n  d(c);\r\n}\r\n",
            "👩‍👩‍👧 = 1;\n",
        ],
    ),
    (
        Language::Rust,
        &[
            "fn count(text: &str) -> usize {\n    let mut all = text.len() & 1;\n    all += 1;\n    all\n}\n",
            "fn long() {\n    let a = \"first \\\n      second\";\n    use_it(a, b\"\\x00\", '\\'');\n}\n",
            "match a {\n  1 => b(),\n  _ => { c(); d() }\n}\n",
            "}\n",
        ],
    ),
];

fn any_file() -> impl Strategy<Value = SourceFile> {
    (0..PIECES.len()).prop_flat_map(|language| {
        let (language, pieces) = PIECES[language];
        prop::collection::vec(prop::sample::select(pieces), 1..12).prop_map(move |pieces| SourceFile {
            path: "src/file".into(),
            language,
            text: pieces.concat().into(),
        })
    })
}

proptest! {
    #[test]
    fn candidates_count_the_holes_of_every_seed(file in any_file(), seed in 0_u64..50) {
        let tree = syntax::parse(file.language, &file.text);
        let mut expected = BTreeMap::new();
        for hole in holes(&file, &tree, seed) {
            *expected.entry((hole.kind, hole.shape)).or_insert(0) += 1;
        }
        let counts = HoleCandidates::new(&file, &tree).count(&file.path, seed).unwrap();
        prop_assert_eq!(counts.holes, expected);
    }

    #[test]
    fn invalid_candidates_are_no_candidates(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        // Some of them are valid by chance; none may panic.
        HoleCandidates::from_bytes(&bytes).count("src/file", 1);
    }
}

#[test]
fn truncated_candidates_are_invalid() {
    let text = "int f(int a) {\n  int b = a + 1;\n  return b;\n}\n";
    let file = SourceFile { path: "f.c".into(), language: Language::C, text: text.into() };
    let bytes = HoleCandidates::of(&file).as_bytes().to_vec();
    for length in 0..bytes.len() {
        assert_eq!(HoleCandidates::from_bytes(&bytes[..length]).count("f.c", 1), None, "{length}");
    }
}

#[test]
fn candidates_do_not_depend_on_the_path() {
    let text = "def f(a):\n    b = a + 1\n    return b\n";
    let [one, two] = ["a.py", "b/c.py"].map(|path| SourceFile {
        path: path.into(),
        language: Language::Python,
        text: text.into(),
    });
    assert_eq!(HoleCandidates::of(&one), HoleCandidates::of(&two));
}
