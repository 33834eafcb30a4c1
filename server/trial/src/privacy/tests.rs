//! Renamed code keeps its tokens, its syntax and which texts are equal, and is another text.

use std::collections::HashMap;

use proptest::prelude::*;
use syntax::{Token, has_syntactic_meaning, lex, parse};

use super::*;

const CODE: [(&str, &str); 10] = [
    (
        "python",
        "import os\nfrom typing import List as Liste\n\nclass Account(Base):\n    '''Money of someone.'''\n    rate = 0.25\n\n    @property\n    def total(self, *, factor: int = 10) -> float:\n        # Sum of all parts, if any.\n        message = f\"total {self.parts!r} of {factor if factor else rate}\\n\"\n        return sum(part.value * 1_000 for part in self.parts if part is not None)\n",
    ),
    (
        "typescript",
        "import { readFile } from 'node:fs';\n\nexport interface Shape<T> { readonly area: number; name?: string }\n\nexport async function load<T extends Shape<T>>(path: string): Promise<T[]> {\n  const pattern = /^[a-z]+$/g;\n  const text = `path ${await path.trim()} of ${pattern}`;\n  for (const entry of text.split(',')) { console.log(entry as unknown); }\n  return [];\n}\n",
    ),
    (
        "tsx",
        "export const Card = ({ title }: Props) => (\n  <div className=\"card\" onClick={() => open(title)}>\n    {title}\n  </div>\n);\n",
    ),
    (
        "javascript",
        "class Queue {\n  #items = [];\n  static of(...items) { const queue = new Queue(); queue.#items = items; return queue; }\n  get size() { return this.#items.length; }\n}\nmodule.exports = { Queue };\n",
    ),
    (
        "java",
        "package com.example.shop;\n\nimport java.util.List;\n\npublic final class Order implements Comparable<Order> {\n    private static final long LIMIT = 0x1FL;\n    @Override\n    public int compareTo(Order other) {\n        return switch (other.kind) { case SMALL -> 1; default -> Long.compare(this.amount, other.amount); };\n    }\n}\n",
    ),
    (
        "csharp",
        "using System.Linq;\n#region Public\nnamespace Shop.Orders\n{\n    public partial record Order(string Name, decimal Amount)\n    {\n        public string Text { get; private set; } = $\"order {nameof(Name)} of 3\";\n        public int Count => Items.Where(item => item is not null && item.Price > 10m).Count();\n    }\n}\n#endregion\n",
    ),
    (
        "rust",
        "use std::collections::HashMap;\n\n/// Counts words.\npub fn count<'a>(text: &'a str, limit: usize) -> Result<HashMap<&'a str, u64>, Error> {\n    let mut counts = HashMap::with_capacity(0x10);\n    for (index, word) in text.split(' ').enumerate() {\n        if index >= limit { return Err(Error::TooLong { at: index, name: r#\"raw \"text\"\"# }); }\n        *counts.entry(word).or_insert(0u64) += 1;\n    }\n    Ok(counts)\n}\n",
    ),
    (
        "go",
        "package main\n\nimport \"fmt\"\n\ntype Server struct {\n\tAddress string `json:\"address\"`\n}\n\nfunc (server *Server) Start(names ...string) error {\n\tfor index, name := range names {\n\t\tfmt.Println(index, name, 'x', 1.5e3)\n\t}\n\treturn nil\n}\n",
    ),
    (
        "c",
        "#include <stdio.h>\n#define LIMIT 100\n#ifdef DEBUG\nstatic const char *names[] = { \"alpha\", \"beta\" };\n#endif\n\nint main(int argc, char **argv) {\n    unsigned long total = 0UL;\n    while (argc-- > 0) { total += sizeof(struct entry) * LIMIT; }\n    printf(\"%lu\\n\", total);\n    return '\\0';\n}\n",
    ),
    (
        "cpp",
        "#include <vector>\n\nnamespace shop {\ntemplate <typename T>\nclass Stack final : public Base<T> {\npublic:\n    explicit Stack(std::size_t limit) noexcept : limit_(limit) {}\n    auto top() const -> const T& override { return items_.back(); }\nprivate:\n    std::vector<T> items_;\n    std::size_t limit_ = 10'000;\n};\n}\n",
    ),
];

fn cipher() -> WordCipher {
    WordCipher::new([3; 32])
}

fn language(name: &str) -> Language {
    Language::from_name(name).expect("a language")
}

fn masked(name: &str, code: &str) -> String {
    CodeMask::new(&cipher(), Some(language(name))).mask(code, 0..code.len())
}

/// Checks that tokens keep their kinds, ranges and equalities. Equal names may come from words with different ends cut off, so only
/// words are compared both ways.
fn check_tokens(language: Language, code: &str, masked: &str) {
    let tokens = lex(language, code);
    assert_eq!(tokens, lex(language, masked), "{code}\n{masked}");
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut words: HashMap<&str, &str> = HashMap::new();
    for Token { range, .. } in tokens {
        let (word, name) = (&code[range.clone()], &masked[range]);
        assert_eq!(*names.entry(word).or_insert(name), name, "{word} has two names");
        assert_eq!(*words.entry(name).or_insert(word), word, "{name} names two words");
    }
}

#[test]
fn code_keeps_its_tokens_and_parses_in_every_language() {
    for (name, code) in CODE {
        let renamed = masked(name, code);
        check_tokens(language(name), code, &renamed);
        assert!(!parse(language(name), code).has_error(), "the sample of {name} is right");
        assert!(!parse(language(name), &renamed).has_error(), "{name}: {renamed}");
        let kinds = |text: &str| parse(language(name), text).identifiers();
        assert_eq!(kinds(code), kinds(&renamed), "{name}");
        for Token { range, kind } in lex(language(name), code) {
            let word = &code[range.clone()];
            if kind == syntax::TokenKind::Word
                && !has_syntactic_meaning(language(name), word.trim_start_matches('\''))
            {
                assert_ne!(word, &renamed[range], "{name}");
            }
        }
        assert_eq!(masked(name, code), renamed, "the same every time");
    }
}

#[test]
fn comments_and_literals_show_no_word() {
    let code = "x = 'if the secret is not told'  # not for the public, or from me\n";
    let renamed = masked("python", code);
    for word in ["if", "the", "secret", "not", "told", "for", "public", "from", "me"] {
        let mut words = renamed.split(|c: char| !c.is_alphanumeric());
        assert!(words.all(|found| found != word), "{word}: {renamed}");
    }
    assert_eq!(renamed.len(), code.len());
}

#[test]
fn unknown_languages_are_masked_as_a_whole() {
    let code = "let größe = 10;\n";
    let renamed = CodeMask::new(&cipher(), None).mask(code, 0..code.len());
    assert_eq!(
        (renamed.len(), renamed.contains("let"), renamed.contains("größe")),
        (code.len(), false, false)
    );
    assert!(renamed.ends_with(";\n"));
}

proptest! {
    /// Any sequence of tokens, also nonsense, cut anywhere: the parts are masked as parts of the whole.
    #[test]
    fn any_tokens_keep_kinds_ranges_and_equalities(
        words in proptest::collection::vec("[a-z]{1,3}|[A-Za-z_][A-Za-z0-9_]{0,9}|[1-9][0-9]{0,3}|0x[0-9a-f]{2}|\"[a-z %]{0,8}\"|[-+*/=(){};.]|#|\n", 1..60),
        index in 0..10usize,
    ) {
        let (name, _) = CODE[index];
        let code = words.join(" ");
        let renamed = masked(name, &code);
        prop_assert_eq!(renamed.len(), code.len());
        check_tokens(language(name), &code, &renamed);
    }

    /// No input is too strange.
    #[test]
    fn any_text_keeps_its_length_and_lines(text in "\\PC{0,80}|[\\\\\"'`a-z{}$#/\n\r*é名]{0,80}", cut in 0..80usize, index in 0..10usize) {
        let cut = text.floor_char_boundary(cut.min(text.len()));
        let mask = CodeMask { cipher: &cipher(), language: Some(language(CODE[index].0)) };
        let whole = mask.mask(&text, cut..text.len());
        prop_assert_eq!(whole.len(), text.len() - cut);
        prop_assert_eq!(whole.lines().count(), text[cut..].lines().count());
    }
}
