//! Tests that are written beside the code that they test. Finds no tests by the names of files: those are the caller's to know.

use std::ops::Range;

use tree_sitter::Node;

use crate::outline::SourceText;
use crate::tree::Tree;
use crate::walk::TreeWalk;

/// What a node says about tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestCode {
    /// Nothing.
    No,
    /// It is test code, with everything in it.
    Test,
    /// The next sibling that says nothing is test code: this node is an attribute of it.
    Next,
    /// It may be between such an attribute and its test: another attribute, or a comment.
    Between,
}

impl Tree {
    /// Returns the ranges of tests and their modules and classes, in order and without overlaps; attributes before a test belong to it.
    pub fn test_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let (rules, source) = (self.language().spec().rules, SourceText { text });
        let mut ranges: Vec<Range<usize>> = Vec::new();
        // Start of an attribute, and the end of its parent, after which it belongs to nothing.
        let mut attribute: Option<(usize, usize)> = None;
        let mut walk = TreeWalk::new(self.root());
        while let Some(node) = walk.node() {
            let code = rules.test_code(node, source);
            let (start, end) = (node.start_byte(), node.end_byte());
            let before = attribute.filter(|(_, parent_end)| start < *parent_end);
            let is_test =
                code == TestCode::Test || code == TestCode::No && before.is_some() && node.is_named();
            match code {
                TestCode::Next if before.is_none() => {
                    let parent_end = walk.parent().map_or(text.len(), |parent| parent.end_byte());
                    attribute = Some((start, parent_end));
                }
                TestCode::Next | TestCode::Between => {}
                TestCode::No | TestCode::Test if is_test => {
                    ranges.push(before.map_or(start, |(start, _)| start)..end);
                    attribute = None;
                }
                TestCode::No | TestCode::Test => attribute = before,
            }
            walk.advance(code == TestCode::No && !is_test);
        }
        ranges
    }
}

/// Whether one of the words of an attribute or annotation, which may be qualified, is among those of test frameworks.
pub(crate) fn names_test(node: Node<'_>, source: SourceText<'_>, words: &[&str]) -> bool {
    let text = source.text_of(node);
    let name =
        text.trim_start_matches(['#', '!', '[', '@']).split(['(', ']', '=']).next().unwrap_or_default();
    let last = name.rsplit([':', '.']).next().unwrap_or_default();
    words.contains(&last.trim())
}

#[cfg(test)]
mod tests {
    use crate::{Language, parse};

    /// Tests are between `«` and `»`.
    #[track_caller]
    fn check(language: Language, marked: &str) {
        let text = marked.replace(['«', '»'], "");
        let mut expected = Vec::new();
        for (number, part) in marked.split('«').enumerate() {
            if let (1.., Some((test, _))) = (number, part.split_once('»')) {
                expected.push(test.to_owned());
            }
        }
        let tree = parse(language, &text);
        let found: Vec<&str> = tree.test_ranges(&text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{language:?}");
    }

    #[test]
    fn rust_tests_have_attributes() {
        check(
            Language::Rust,
            "#[inline]\nfn a() {}\n«#[cfg(test)]\n// Comment.\n#[must_use]\nmod tests { fn helper() {} #[test] fn b() {} }»\n\
             «#[tokio::test]\nasync fn c() {}»\nmod d { «#[test]\nfn e() {}» fn f() {} }\n#[cfg(all(unix, feature = \"x\"))]\nfn g() {}\n\
             «#[cfg(all(test, unix))]\nuse x;»\nfn testing() {}\n",
        );
    }

    #[test]
    fn attribute_at_the_end_of_a_module_belongs_to_nothing() {
        check(Language::Rust, "mod a { fn b() {} #[test] }\nfn c() {}\n");
    }

    #[test]
    fn python_tests_derive_from_test_cases() {
        check(
            Language::Python,
            "def test_connection():\n    return 1\n\n\n«class PriceTests(unittest.TestCase):\n    def test_a(self):\n        pass»\n",
        );
    }

    #[test]
    fn scripts_call_their_test_runner() {
        for language in [Language::JavaScript, Language::TypeScript, Language::Tsx] {
            check(
                language,
                "export function test(a) { return a; }\ntest(1);\n«if (import.meta.vitest) { const a = 1; }»\n\
                 «describe('a', () => { it('b', () => {}); });»\n«it.each([1])('c', (a) => {});»\n",
            );
        }
    }

    #[test]
    fn java_and_csharp_tests_have_annotations() {
        check(
            Language::Java,
            "class A { int a() { return 1; } «@Test\n void b() {}» «@org.junit.Test(timeout = 1) void c() {}» }\n",
        );
        check(
            Language::CSharp,
            "class A { int B() { return 1; } «[Fact]\n void C() {}» «[Theory, X(1)] void D() {}» }\n",
        );
    }

    #[test]
    fn c_tests_are_macros() {
        check(
            Language::Cpp,
            "int a() { return 1; }\n«TEST(A, b) { a(); }»\n«TEST_F(A, c) { a(); }»\nint TESTS() { return 2; }\n",
        );
        check(Language::Cpp, "int a() { return 1; }\n«TEST_CASE(\"b\") { a(); }»\nint c() { return 2; }\n");
    }

    #[test]
    fn deep_and_broken_code_is_walked() {
        let text = format!("{}#[test]{}", "mod a {".repeat(5_000), "}".repeat(100));
        parse(Language::Rust, &text).test_ranges(&text);
    }
}
