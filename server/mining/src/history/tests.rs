//! Cases from commits.

use cases::OriginKind;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::hunks::hunks;
use super::*;

const STORE: &str = "SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]\n\n\ndef load(path):\n    items = read(path)\n    check(items)\n    return items\n\n\ndef save(path, items):\n    write(path, items)\n";

fn change(path: &str, before: &str, after: &str) -> FileChange {
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    FileChange {
        path: path.into(),
        old_path: None,
        language: Language::from_path(path).unwrap(),
        before: text(before),
        after: text(after),
    }
}

fn cases_of(files: &[FileChange]) -> CommitCases {
    let origin = Origin::new(OriginKind::History, "parent");
    commit_cases(&CommitFiles { id: "c1", files, origin, tags: Tags::new() }, 1)
}

/// Shows each case as its scenario and the lines around its truth, and then the reasons of the others.
#[track_caller]
fn check(files: &[FileChange], expected: &Expect) {
    let found = cases_of(files);
    let mut text = String::new();
    for case in &found.cases {
        let variant = case.task.variant().unwrap_or_default();
        let before = case.prefix.rsplit('\n').next().unwrap();
        let after: Vec<&str> = case.suffix.lines().take(2).collect();
        text += &format!("{}/{variant}: {before}⟦{}⟧{}\n", case.scenario(), case.truth, after.join("⏎"));
    }
    for (reason, number) in &found.left_out {
        text += &format!("{number} {}\n", reason.name());
    }
    expected.assert_eq(&text);
}

#[test]
fn added_lines_are_the_truth_and_later_hunks_are_missing() {
    let after = STORE
        .replace("    check(items)\n", "    check(items)\n    log(\"loaded\", path)\n")
        .replace("    write(path, items)\n", "    write(path, items)\n    log(\"saved\", path)\n");
    let files = [change("store.py", STORE, &after)];
    check(
        &files,
        &expect![[r#"
            full_block/block_start:     ⟦log("loaded", path)⟧⏎    return items
            incomplete_suffix/file_tail:     ⟦log("saved", path)⟧
        "#]],
    );
    let cases = cases_of(&files).cases;
    assert!(!cases[0].suffix.contains("saved"), "later hunk");
    assert!(cases[1].prefix.contains("log(\"loaded\", path)"), "earlier hunk");
    for case in &cases {
        assert_eq!([&*case.prefix, &case.truth, &case.suffix].concat().matches(&case.truth).count(), 1);
        assert_eq!(case.byte_range, case.prefix.len()..case.prefix.len() + case.truth.len());
        assert!(case.hole.starts_with("c1:store.py:"));
    }
}

#[test]
fn replaced_line_keeps_the_beginning_that_did_not_change() {
    let after = STORE.replace("items = read(path)", "items = read(path, limit=LIMIT)");
    check(
        &[change("store.py", STORE, &after)],
        &expect![[r#"
            full_block/mid_statement:     items = read(path⟦, limit=LIMIT)⟧⏎    check(items)
        "#]],
    );
}

#[test]
fn rest_of_a_body_and_a_body_are_one_truth() {
    let numbers = "const SIZES: [u8; 24] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24];\n\n";
    let before = "fn main() {\n    let a = first();\n}\n\nfn other() {\n}\n";
    let after = "fn main() {\n    let a = first();\n    let b = second(a);\n    show(b);\n}\n\nfn other() {\n    let c = third();\n    show(c);\n}\n";
    let [before, after] = [before, after].map(|text| [numbers, text].concat());
    check(
        &[change("main.rs", &before, &after)],
        &expect![[r#"
            incomplete_suffix/function_tail:     ⟦let b = second(a);
                show(b);⟧⏎}
            incomplete_suffix/function_tail:     ⟦let c = third();
                show(c);⟧⏎}
        "#]],
    );
}

#[test]
fn several_blocks_are_written_in_steps() {
    let after = STORE.replace(
        "def save",
        "# Counts.\ndef count(items):\n    return len(items)\n\n\ndef first(items):\n    return items[0]\n\n\ndef save",
    );
    check(
        &[change("store.py", STORE, &after)],
        &expect![[r#"
            full_block/block_start: ⟦def count(items):
                return len(items)⟧⏎
            full_block/block_start: ⟦def first(items):
                return items[0]⟧⏎
        "#]],
    );
}

#[test]
fn part_of_a_construct_has_no_clear_end() {
    let before = "COLORS = [\n    \"red\",\n    \"green\",\n]\n";
    let after = "COLORS = [\n    \"red\",\n    \"blue\",\n    \"green\",\n]\n";
    check(
        &[change("colors.py", before, after)],
        &expect![[r#"
            1 partial
        "#]],
    );
}

#[test]
fn removed_reformatted_and_moved_code_is_left_out() {
    let kept = "def keep(value):\n    return compute(value, 1)\n\n\n";
    let moved = "def relocate(value):\n    return transform(value, 2)\n\n\n";
    let before = [moved, kept, "NAME = 'a value'\n"].concat();
    let after = [kept, "NAME = \"a value\"\n"].concat();
    let files = [change("a.py", &before, &after), change("b.py", "X = 1\n", &[moved, "X = 1\n"].concat())];
    check(
        &files,
        &expect![[r#"
            1 only_removes
            1 formatting
            1 moved
        "#]],
    );
    check(
        &[change("c.py", "X = 1\n", "# A comment.\n\nX = 1\n")],
        &expect![[r#"
            1 no_code
        "#]],
    );
}

#[test]
fn commit_that_reformats_has_no_cases() {
    let lines: Vec<String> = (0..12).map(|n| format!("def f{n}(a,b):\n  return g{n}(a,b)\n")).collect();
    let before = lines.join("\n\n");
    let after =
        before.replace("(a,b)", "(a, b)").replace("  return", "    return") + "\n\nADDED = compute()\n";
    let found = cases_of(&[change("a.py", &before, &after)]);
    assert!(found.is_formatting && found.cases.is_empty());
}

#[test]
fn one_commit_gives_a_bounded_number_of_cases() {
    let new: String =
        (0..300).map(|n| format!("def f{n}(value):\n    return compute_{n}(value)\n\n\n")).collect();
    let files: Vec<FileChange> = (0..20).map(|n| change(&format!("m{n}.py"), "", &new)).collect();
    let found = cases_of(&files);
    assert!(!found.cases.is_empty() && found.cases.len() <= MAX_HUNKS * MAX_STEPS, "{}", found.cases.len());
    assert!(found.left_out[&HistoryReason::EnoughOfCommit] >= 14);
}

#[test]
fn context_is_from_the_tree_before_the_commit_with_earlier_files_applied() {
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        language: Language::from_path(path).unwrap(),
        text: text.into(),
    };
    let helper = "def resolve_price(item):\n    return item.price * RATE\n";
    let mut tree = HistoryTree::default();
    tree.apply(vec![file("helper.py", helper), file("shop.py", STORE)], Vec::new(), &[]);
    let shop = "from api import open_order\nfrom helper import resolve_price\n\n\ndef total(order):\n    return resolve_price(open_order(order))\n";
    let files = [
        change("api.py", "", "def open_order(order):\n    return connect(order.address)\n"),
        change(
            "shop.py",
            "from helper import resolve_price\n\n\nEND = 1\n",
            &[shop, "\n\nEND = 1\n"].concat(),
        ),
        change("zoo.py", "", "def later():\n    return resolve_price(open_order(canary))\n"),
    ];
    let mut cases = cases_of(&files).cases;
    let context = tree.commit(&files);
    cases.iter_mut().for_each(|case| context.add_to(case));
    let case = cases.iter().find(|case| case.truth.starts_with("def total")).unwrap();
    let paths: Vec<&str> = case.context.iter().map(|item| &*item.path).collect();
    assert!(paths.contains(&"api.py"), "earlier file: {paths:?}");
    assert!(paths.contains(&"helper.py"), "unchanged file: {paths:?}");
    assert!(!paths.contains(&"zoo.py") && !paths.contains(&"shop.py"), "later file or own file: {paths:?}");
    assert_eq!(case.id, case.compute_id());
}

#[test]
fn copy_of_the_truth_is_not_in_the_context() {
    let function = "def total(order):\n    prices = [item.price for item in order.items]\n    return sum(prices) * TAX_RATE\n";
    let copy = ["import shop\n\n\n", &function.replace("total", "total_of")].concat();
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        language: Language::Python,
        text: text.into(),
    };
    let mut tree = HistoryTree::default();
    tree.apply(vec![file("copy.py", &copy), file("shop.py", "TAX_RATE = 2\n")], Vec::new(), &[]);
    let files = [change("shop.py", "TAX_RATE = 2\n", &[function, "\n\nTAX_RATE = 2\n"].concat())];
    let mut case = cases_of(&files).cases.remove(0);
    tree.commit(&files).add_to(&mut case);
    assert_eq!(case.context, [], "{:?}", case.truth);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hunks_turn_one_text_into_the_other(
        before in "(a|b|    c = f\\(1\\)|def x\\(\\):|é|\r)?(\n(a|b|    c = f\\(1\\)|def x\\(\\):|é|\r|)){0,12}",
        after in "(a|b|    c = f\\(1\\)|def x\\(\\):|é|\r)?(\n(a|b|    c = f\\(1\\)|def x\\(\\):|é|\r|)){0,12}",
    ) {
        let found = hunks(&before, &after);
        prop_assert_eq!(found.last().map_or(&before, |hunk| &hunk.text), &after);
        let cases = cases_of(&[change("a.py", &before, &after)]);
        for case in cases.cases {
            prop_assert!(found.iter().any(|hunk| hunk.added().contains(&case.truth)));
        }
    }
}
