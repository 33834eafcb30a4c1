//! Time of an incremental update of a tree compared with a fresh parse, for a Python file of 3,000 lines.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::BytesCount;
use syntax::Language;
use text::Edit;

const LINES: usize = 3_000;

const METHOD: &str = r#"    def load_NAME(self, path, encoding="utf-8", *, strict=False):
        """Reads the entries of one file."""
        entries = {}
        with open(path, encoding=encoding) as lines:
            for number, line in enumerate(lines):
                key, _, value = line.partition("=")
                if not key.strip() and strict:
                    raise ValueError(f"line {number} of {path} has no key")
                entries[key.strip()] = [part.strip() for part in value.split(",") if part]
        return self.merge_NAME(entries, lambda old, new: old + new)

"#;

fn main() {
    divan::main();
}

fn source() -> String {
    let methods = LINES / METHOD.lines().count();
    let methods = (0..methods).map(|number| METHOD.replace("NAME", &number.to_string()));
    ["class Store:\n".to_owned()].into_iter().chain(methods).collect()
}

/// Returns the source, and the source with one more character at the end of a name in its middle.
fn before_and_after_a_key() -> (String, String) {
    let old = source();
    let middle = old.len() / 2;
    let end = middle + old[middle..].find("entries").expect("every method has entries") + "entries".len();
    let new = [&old[..end], "x", &old[end..]].concat();
    (old, new)
}

#[divan::bench]
fn edit_between_two_texts(bencher: Bencher<'_, '_>) {
    let (old, new) = before_and_after_a_key();
    bencher.counter(BytesCount::of_str(&old)).bench(|| Edit::between(black_box(&old), black_box(&new)));
}

#[divan::bench]
fn update_after_one_key(bencher: Bencher<'_, '_>) {
    let (old, new) = before_and_after_a_key();
    let tree = syntax::parse(Language::Python, &old);
    bencher.counter(BytesCount::of_str(&old)).bench(|| tree.update(black_box(&old), black_box(&new)));
}

#[divan::bench]
fn parse_anew(bencher: Bencher<'_, '_>) {
    let text = source();
    bencher.counter(BytesCount::of_str(&text)).bench(|| syntax::parse(Language::Python, black_box(&text)));
}
