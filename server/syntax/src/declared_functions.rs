//! Functions and documentation as RepoQA's queries find them: by the kind of node alone.
//!
//! [`Tree::functions`] finds more functions, with decorators, qualified names and the documentation above. A benchmark that compares
//! with published numbers needs the original's choice instead.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::node_fields::NodeFields;
use crate::tree::Tree;
use crate::walk::{TreeWalk, walk};

/// A function as its own node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredFunction {
    /// Its name, without qualifiers.
    pub name: Range<usize>,
    /// The node, without decorators and `export`.
    pub range: Range<usize>,
}

impl Tree {
    /// Returns the functions that RepoQA's query captures, in order of their start, outer before inner.
    ///
    /// These are functions and methods in Python and Rust, methods without constructors in Java and C#, function declarations
    /// without methods in JavaScript, TypeScript and Go, and in C and C++ definitions whose declarator is a plain name with
    /// parameters.
    pub fn declared_functions(&self) -> impl Iterator<Item = DeclaredFunction> {
        walk(self.root(), |_| true).filter_map(|node| {
            let name = declared_name(self.language, node)?;
            Some(DeclaredFunction { name: name.byte_range(), range: node.byte_range() })
        })
    }

    /// Returns the strings that are statements inside of a block, in order: Python's docstrings, except a module's, and strings
    /// used as comments. Empty in other languages.
    pub fn strings_as_statements(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        if self.language != Language::Python {
            return ranges;
        }
        let mut walk = TreeWalk::new(self.root());
        while let Some(node) = walk.node() {
            let is_in_block = walk.parent().is_some_and(|parent| parent.kind() == "block");
            if is_in_block && node.kind() == "expression_statement" {
                let mut cursor = node.walk();
                let strings = node.children(&mut cursor).filter(|child| child.kind() == "string");
                ranges.extend(strings.map(|string| string.byte_range()));
            }
            walk.advance(true);
        }
        ranges
    }
}

/// Whether a tree of `text` can have [`Tree::comments`] or [`Tree::strings_as_statements`]. A text without their signs has none, so that it
/// need not be parsed.
pub fn may_have_comments(language: Language, text: &str) -> bool {
    match language {
        Language::Python => text.contains(['#', '"', '\'']),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            // A comment of HTML is one of a script, too.
            ["//", "/*", "<!--", "-->"].iter().any(|sign| text.contains(sign))
        }
        _ => text.contains("//") || text.contains("/*"),
    }
}

/// Returns the name if the node is a function that counts.
fn declared_name(language: Language, node: Node<'_>) -> Option<Node<'_>> {
    let kind = match language {
        Language::Python | Language::C | Language::Cpp => "function_definition",
        Language::Java | Language::CSharp => "method_declaration",
        Language::TypeScript | Language::Tsx | Language::JavaScript | Language::Go => "function_declaration",
        Language::Rust => "function_item",
    };
    if node.kind() != kind {
        return None;
    }
    let name = match language {
        Language::C | Language::Cpp => {
            let declarator = node.child_in("declarator")?;
            let has_parameters = declarator.kind() == "function_declarator";
            has_parameters.then_some(declarator)?.child_in("declarator")?
        }
        _ => node.child_in("name")?,
    };
    (name.kind() == "identifier").then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::parse;

    use super::*;

    #[track_caller]
    fn check(language: Language, text: &str, expected: &[&str]) {
        let tree = parse(language, text);
        let names: Vec<_> = tree.declared_functions().map(|function| &text[function.name]).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn nested_functions_and_methods_follow_the_outer_one() {
        check(Language::Python, "class A:\n  @x\n  async def m(self):\n    def n(): pass\n", &["m", "n"]);
        check(Language::Rust, "impl A { fn m(&self) { fn n() {} } }", &["m", "n"]);
    }

    #[test]
    fn some_languages_count_methods_and_others_functions_only() {
        check(Language::Java, "class A { A() {} void m() {} }", &["m"]);
        check(Language::TypeScript, "export function f() {}\nclass A { m() {} }\nconst g = () => 1;", &["f"]);
        check(Language::Go, "package a\nfunc f() {}\nfunc (t T) m() {}\n", &["f"]);
    }

    #[test]
    fn qualified_names_and_pointer_results_do_not_count_in_cpp() {
        let text = "int f() {}\nint A::g() {}\nint *h() {}\nstruct A { int m() {} };\nTEST(a, b) {}\n";
        check(Language::Cpp, text, &["f", "TEST"]);
    }

    #[test]
    fn texts_without_signs_have_no_comments() {
        const PIECES: [&str; 13] =
            ["x", "\n", " ", "#", "/", "*", "\"", "'", "<!--", "-->", "{", "def f():\n    ", "\\"];
        for number in 0..PIECES.len().pow(3) {
            let piece = |place: u32| PIECES[number / PIECES.len().pow(place) % PIECES.len()];
            let text: String = (0..3).map(piece).collect();
            for language in [Language::Python, Language::JavaScript, Language::Rust, Language::C] {
                if !may_have_comments(language, &text) {
                    let tree = parse(language, &text);
                    assert!(tree.comments(&text).is_empty(), "{} {text:?}", language.name());
                    assert!(tree.strings_as_statements().is_empty(), "{} {text:?}", language.name());
                }
            }
        }
    }

    #[test]
    fn docstrings_of_blocks_are_statements_and_the_modules_is_not() {
        let text = "'''module'''\ndef f():\n    'doc'\n    x = 'no'\n    'a' 'b'\n    'late'\n";
        let strings = parse(Language::Python, text).strings_as_statements();
        assert_eq!(strings.into_iter().map(|range| &text[range]).collect::<Vec<_>>(), ["'doc'", "'late'"]);
    }
}
