//! Places of requests with unsaved edits, cut surroundings and lines that files share.

use proptest::prelude::*;

use super::*;

const SHOP: &str = "import math

def cost(price, rate):
    net = price * rate
    return net

def other(price):
    return price + 1
";

/// Finds the cursor `|` of a plugin's text in a file, and returns the file with the cursor; `None` if it is not found.
fn find(text: &str, sent: &str) -> Option<String> {
    let (prefix, suffix) = sent.split_once('|').expect("a cursor");
    let found = find_in_file(Surroundings { prefix, suffix }, text)?;
    Some([&found.text[..found.offset], "|", &found.text[found.offset..]].concat())
}

#[track_caller]
fn check(text: &str, sent: &str, expected: &str) {
    assert_eq!(find(text, sent).as_deref(), Some(expected), "{sent:?}");
}

#[test]
fn a_piece_of_the_file_is_found_where_it_is() {
    let expected = SHOP.replace("return net", "return |net");
    check(SHOP, &expected, &expected);
    check(SHOP, "    net = price * rate\n    return |net\n", &expected);
    check(SHOP, "st(price, rate):\n    net = price * rate\n    return |net\n\ndef ot", &expected);
}

#[test]
fn unsaved_text_between_two_known_lines_replaces_that_of_the_file() {
    let sent = "def cost(price, rate):\n    net = price * rate\n    gross = net|\n    return net\n\ndef other(price):\n";
    check(SHOP, sent, &SHOP.replace("    return net", "    gross = net|\n    return net"));
    let removed = "def cost(price, rate):\n    |\n\ndef other(price):\n    return price + 1\n";
    check(SHOP, removed, &SHOP.replace("    net = price * rate\n    return net\n", "    |\n"));
}

#[test]
fn unsaved_edits_in_several_places_are_all_taken_over() {
    let sent = SHOP
        .replace("import math\n", "import math\nimport os\n")
        .replace("    return net\n", "    return ne|t\n")
        .replace("price + 1", "price + 2\n\ndef third():\n    pass");
    let found = find(SHOP, &sent).expect("it is found");
    assert!(found.contains("import os\n") && found.contains("    return ne|t\n"), "{found}");
}

#[test]
fn code_of_other_files_before_the_prefix_is_not_taken_over() {
    let other = format!("import math\n{}def foreign():\n    pass\n", "foreign_line = 1\n".repeat(5));
    let sent = format!("{other}{}", SHOP.replace("return net", "return |net"));
    check(SHOP, &sent, &SHOP.replace("return net", "return |net"));
}

#[test]
fn comments_before_the_prefix_are_no_part_of_the_file() {
    let sent = format!(
        "# language: python\n# indentation: use 4 spaces for a tab\n{}",
        SHOP.replace("return net", "return |net")
    );
    check(SHOP, &sent, &SHOP.replace("return net", "return |net"));
}

#[test]
fn the_ends_of_a_file_need_one_anchor() {
    let sent = format!("{SHOP}\ndef third():\n    |");
    check(SHOP, &sent, &format!("{SHOP}\ndef third():\n    |"));
    let first = "import os|\nimport math\n\ndef cost(price, rate):\n    net = price * rate\n";
    check(SHOP, first, &format!("import os|\n{SHOP}"));
}

#[test]
fn a_file_without_a_last_line_end_is_found_with_one() {
    let text = SHOP.trim_end();
    let sent = SHOP.replace("return net", "return |net");
    check(text, &sent, sent.trim_end());
}

#[test]
fn uncertain_places_are_not_found() {
    // Twice in the file, too short, another file, a suffix that is not sent.
    let twice = "def f():\n    return value\n\ndef f():\n    return value\n";
    assert_eq!(find(twice, "def f():\n    return |value\n"), None);
    assert_eq!(find(SHOP, "x|"), None);
    assert_eq!(find(SHOP, "|"), None);
    assert_eq!(find(SHOP, "class Other:\n    def method(self):\n        return |self\n"), None);
    assert_eq!(find(SHOP, "import math\n\ndef cost(price, rate):\n    gross = pri|"), None);
}

#[test]
fn of_two_equal_files_neither_is_chosen() {
    let around = Surroundings {
        prefix: "def cost(price, rate):\n    net = price * rate\n    ",
        suffix: "return net\n",
    };
    let found = || find_in_file(around, SHOP).expect("it is there");
    assert_eq!(most_certain(vec![(1, found()), (2, found())]), None);
    let edited = SHOP.replace("price * rate", "price / rate");
    let less = find_in_file(around, &edited);
    let places: Vec<_> =
        [(1, Some(found())), (2, less)].into_iter().filter_map(|(n, f)| Some((n, f?))).collect();
    assert_eq!(most_certain(places).map(|(number, _)| number), Some(1));
}

proptest! {
    /// Whatever a plugin sends, the cursor is in the text, at the end of the line that was sent.
    #[test]
    fn any_text_gives_a_cursor_in_it_or_none(
        file in "([a-d]{0,6}\n){0,12}[a-d]{0,3}",
        prefix in "([a-d]{0,6}\n){0,8}[a-d]{0,3}",
        suffix in "[a-d]{0,3}(\n[a-d]{0,6}){0,8}",
    ) {
        if let Some(found) = find_in_file(Surroundings { prefix: &prefix, suffix: &suffix }, &file) {
            let head = prefix.rsplit('\n').next().unwrap_or_default();
            prop_assert!(found.text[..found.offset].ends_with(head));
        }
    }

    /// A cursor in a saved file of distinct lines is found at its place, whatever part around it is sent.
    #[test]
    fn a_saved_cursor_is_found(at in 0usize..600, before in 0usize..200, after in 0usize..200) {
        let text: String = (0..30).map(|line| format!("value_{line} = {line}{line}\n")).collect();
        let at = at.min(text.len());
        let (start, end) = (at.saturating_sub(before), (at + after).min(text.len()));
        let around = Surroundings { prefix: &text[start..at], suffix: &text[at..end] };
        if let Some(found) = find_in_file(around, &text) {
            prop_assert_eq!((found.offset, found.text), (at, text));
        } else {
            prop_assert!(end - start < 60);
        }
    }
}
