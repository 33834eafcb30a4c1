//! Work is linear in the text: files with many repetitions take about as long as others.

use std::time::Instant;

use syntax::{Expr, Language, UseKind};

/// An outline takes about as long as parsing. It would take a hundred times as long if each of these many items were compared
/// with all others. Both are measured together, so that a busy machine slows both.
const MOST_TIMES_PARSING: f64 = 20.0;

#[track_caller]
fn check(language: Language, text: &str, definitions: usize) {
    let start = Instant::now();
    let tree = syntax::parse(language, text);
    let parsing = start.elapsed();
    let start = Instant::now();
    let outline = tree.outline(text);
    let times = start.elapsed().as_secs_f64() / parsing.as_secs_f64();
    assert_eq!(outline.definitions.len(), definitions);
    assert!(times < MOST_TIMES_PARSING, "the outline took {times:.0} times as long as parsing");
}

fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect()
}

#[test]
fn outline_of_many_fields_is_linear() {
    let fields = numbered(30_000, |number| format!("        self.x{number} = {number}\n"));
    check(Language::Python, &format!("class A:\n    def __init__(self):\n{fields}"), 30_002);
}

#[test]
fn outline_of_many_exports_is_linear() {
    let names = numbered(20_000, |number| format!("const x{number} = 1;\nexport {{ x{number} }};\n"));
    check(Language::TypeScript, &names, 20_000);
}

#[test]
fn outline_of_many_namespaces_is_linear() {
    let names = numbered(30_000, |number| format!("namespace N{number} {{ class A {{ }} }}\n"));
    check(Language::CSharp, &names, 30_000);
}

#[test]
fn outline_of_nested_namespaces_is_linear() {
    let text = numbered(10_000, |number| format!("namespace N{number} {{ class A {{ }}\n"));
    let text = text + &"}".repeat(10_000);
    check(Language::CSharp, &text, 10_000);
    let outline = syntax::parse(Language::CSharp, &text).outline(&text);
    assert!(outline.namespaces.iter().all(|name| name.len() < 300));
    assert_eq!(&*outline.namespaces[3], "N0.N1.N2");
}

#[test]
fn very_long_member_chains_are_truncated() {
    let name = "a.".repeat(5_000) + "a";
    let text = format!("match x:\n    case {name}():\n        y = {name}\n");
    for one in syntax::parse(Language::Python, &text).uses(&text) {
        let UseKind::Member(mut object) = one.kind else { continue };
        let mut dots = 0;
        while let Expr::Member(inner, _) = object {
            object = *inner;
            dots += 1;
        }
        assert!(dots < 100, "{dots} dots");
    }
}
