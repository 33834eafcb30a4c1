//! Tests of the replaced range for a cursor at `$0`; `«»` is the range of the popup's item.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{InlineItem, PopupItem, apply_popup, inline_item};

/// The document, the cursor and the popup's range of a fixture.
fn parse(fixture: &str) -> (String, usize, std::ops::Range<usize>) {
    let place = |mark: &str| {
        let before = fixture.split(mark).next().unwrap_or_default();
        before.replace("$0", "").replace(['«', '»'], "").len()
    };
    (fixture.replace("$0", "").replace(['«', '»'], ""), place("$0"), place("«")..place("»"))
}

fn render(text: &str, InlineItem { range, text: inserted }: &InlineItem) -> String {
    format!("{:?} -> {:?}", &text[range.clone()], inserted)
}

#[track_caller]
fn check(fixture: &str, suggestion: &str, expect: Expect) {
    let (text, cursor, _) = parse(fixture);
    let item = inline_item(&text, cursor, suggestion, None);
    assert_eq!(item.range.end, cursor);
    expect.assert_eq(&render(&text, &item));
}

#[track_caller]
fn check_popup(fixture: &str, inserted: &str, suggestion: &str, expect: Expect) {
    let (text, cursor, range) = parse(fixture);
    let Some(popup) = PopupItem::at(&text, cursor, range, inserted) else {
        return expect.assert_eq("no popup");
    };
    let (virtual_text, place) = apply_popup(&text, &popup);
    let (before, after) = virtual_text.split_at(place);
    let item = inline_item(&text, cursor, suggestion, Some(&popup));
    expect.assert_eq(&format!("{:?}\n{}", [before, "$0", after].concat(), render(&text, &item)));
}

#[test]
fn item_repeats_the_typed_word_at_the_end_of_a_line() {
    check("x = pri$0\ny", "nt(a)", expect![[r#""pri" -> "print(a)""#]]);
    check("x = pri$0  \r\ny", "nt(a)", expect![[r#""pri" -> "print(a)""#]]);
    check("größe_1$0", "0 = 1", expect![[r#""größe_1" -> "größe_10 = 1""#]]);
    check("x = f($0\n", "a)", expect![[r#""" -> "a)""#]]);
    check("if x:\n    $0", "y()\n    z()", expect![[r#""" -> "y()\n    z()""#]]);
    check("$0", "import a", expect![[r#""" -> "import a""#]]);
    check("a.b$0", "c()", expect![[r#""b" -> "bc()""#]]);
}

#[test]
fn item_range_is_empty_before_code() {
    check("x = f(na$0)\ny", "me", expect![[r#""" -> "me""#]]);
    check("x = f(na$0 )\ny", "me", expect![[r#""" -> "me""#]]);
    check("$0 # comment", "x = 1", expect![[r#""" -> "x = 1""#]]);
}

#[test]
fn inserted_line_ends_are_lf() {
    check("if x:$0\r\n", "\r\n    y()\r\n    z()", expect![[r#""" -> "\n    y()\n    z()""#]]);
    check("if x:$0\r", "\r    y()", expect![[r#""" -> "\n    y()""#]]);
}

#[test]
fn selected_popup_item_is_treated_as_inserted() {
    check_popup(
        "x = os.«pa$0»\n",
        "path",
        ".join(a)",
        expect![[r#"
            "x = os.path$0\n"
            "pa" -> "path.join(a)""#]],
    );
    check_popup(
        "f(«na$0xy»)\n",
        "name",
        "",
        expect![[r#"
            "f(name$0)\n"
            "naxy" -> "name""#]],
    );
    check_popup(
        "x = os.«$0»\r\n",
        "path",
        "\r\n",
        expect![[r#"
            "x = os.path$0\r\n"
            "" -> "path\n""#]],
    );
}

#[test]
fn selections_other_than_popup_items_are_ignored() {
    check_popup("«x = a» + $0\n", "x = a", "b", expect!["no popup"]);
    check_popup("$0x «= a»\n", "= a", "b", expect!["no popup"]);
    check_popup("«a = 1\nb = 2$0»\n", "a = 1\nb = 2", "b", expect!["no popup"]);
    check_popup("«a\rb$0»", "a\rb", "b", expect!["no popup"]);
}

#[test]
fn invalid_popup_ranges_are_ignored() {
    for (start, end) in [(0, 9), (1, 2), (2, 0)] {
        assert_eq!(PopupItem::at("é", 2, start..end, "x"), None);
    }
}

proptest! {
    /// Accepting an item yields the document with the suggestion at the cursor.
    #[test]
    fn accepting_inserts_the_suggestion(
        before in "[a_é .(\n\r]{0,8}",
        after in "[a) \n\r]{0,6}",
        suggestion in "[b(é\n]{0,6}",
    ) {
        let (mut text, cursor) = ([&*before, &after].concat(), before.len());
        let InlineItem { range, text: inserted } = inline_item(&text, cursor, &suggestion, None);
        prop_assert!(!text[range.clone()].contains(['\n', '\r']));
        text.replace_range(range, &inserted);
        prop_assert_eq!(text, [&*before, &suggestion, &after].concat());
    }
}
