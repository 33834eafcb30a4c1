//! Origin of a suggestion, for the terminal.

use expect_test::expect;
use report::terminal::Style;

use super::*;
use crate::views::explanation::{CopiedPart, ExplanationView};

const PLAIN: Style = Style { color: false, width: 90, unicode: true };

fn suggestion(parts: Vec<CopiedPart>) -> CompletionView {
    CompletionView {
        engine: vec!["builtin".to_owned()],
        status: "ok".to_owned(),
        first_line: 3,
        before: "def area(self):\n    return ".to_owned(),
        text: "self.side ** 2\n    x = 1".to_owned(),
        explanation: Some(ExplanationView {
            parts,
            remarks: vec!["it ends there because\nthe block is complete".to_owned()],
        }),
        ..CompletionView::default()
    }
}

fn parts() -> Vec<CopiedPart> {
    vec![
        CopiedPart {
            range: 0..9,
            place: "src/circle.py:6:12".to_owned(),
            from: "",
            same: 11,
            alike: 25,
            probability: 0.9,
            renamed: vec![("radius".to_owned(), "side".to_owned())],
        },
        CopiedPart {
            range: 10..24,
            place: "src/with\nnew\u{202e}line.py:1:1".to_owned(),
            from: "above",
            same: 0,
            alike: 1,
            probability: 0.125,
            renamed: vec![],
        },
    ]
}

#[test]
fn copied_parts_are_numbered_and_listed_below() {
    expect![[r#"
        builtin
        ok

             3  def area(self):
             4      return {+①self.side ②** 2+}
             5  {+    x = 1+}

             text          taken from                                     same  alike    sure
          ①  self.side     src/circle.py:6:12                               11     25  90.0 %
          ②  ** 2 +1 line  src/with[U+000A]new[U+202E]line.py:1:1  above     0      1  12.5 %
          renamed: radius → side
          it ends there because[U+000A]the block is complete
        same: tokens before the part that are equal at both places. alike: the same, ignoring
        names, strings and numbers. sure: probability of the least likely token.
    "#]]
    .assert_eq(&completion_text(&suggestion(parts()), PLAIN));
}

#[test]
fn single_part_has_no_number_in_the_text() {
    let text = completion_text(&suggestion(parts().split_off(1)), Style { unicode: false, ..PLAIN });
    expect![[r#"
        builtin
        ok

             3  def area(self):
             4      return {+self.side ** 2+}
             5  {+    x = 1+}

               text          taken from                                     same  alike    sure
          [1]  ** 2 +1 line  src/with[U+000A]new[U+202E]line.py:1:1  above     0      1  12.5 %
          it ends there because[U+000A]the block is complete
        same: tokens before the part that are equal at both places. alike: the same, ignoring
        names, strings and numbers. sure: probability of the least likely token.
    "#]]
    .assert_eq(&text);
}

#[test]
fn explanation_fits_the_terminal_width() {
    let text = completion_text(&suggestion(parts()), Style { width: 76, ..PLAIN });
    assert!(text.lines().all(|line| line.chars().count() <= 76), "{text}");
    assert!(text.contains("same") && !text.contains("above"), "{text}");
}

#[test]
fn explanation_without_parts_shows_only_remarks() {
    let silent = CompletionView { text: String::new(), ..suggestion(Vec::new()) };
    expect![[r#"
        builtin
        ok

             3  def area(self):
             4      return

          it ends there because[U+000A]the block is complete
    "#]]
    .assert_eq(&completion_text(&silent, PLAIN));
}

#[test]
fn alternatives_are_listed_with_their_origins() {
    let other = |text: &str, places: Option<&str>| (text.to_owned(), places.map(str::to_owned));
    let text_of = |alternatives| {
        let text = completion_text(&CompletionView { alternatives, ..suggestion(Vec::new()) }, PLAIN);
        text.split_once("complete\n").expect("the remark").1.to_owned()
    };
    assert_eq!(
        text_of(vec![other("self.area\n    y = 1", Some("a.py:1:1, b.py:2:2")), other("0", Some(""))]),
        "  instead            taken from\n  self.area +1 line  a.py:1:1, b.py:2:2\n  0\n"
    );
    assert_eq!(text_of(vec![other("0", None)]), "  instead\n  0\n");
}

#[test]
fn more_than_20_parts_are_numbered_in_brackets() {
    let part = |index: usize| CopiedPart { range: index..index + 1, ..CopiedPart::default() };
    let many = CompletionView { text: "x".repeat(22), ..suggestion((0..22).map(part).collect()) };
    let text = completion_text(&many, PLAIN);
    assert!(text.contains("⑲x⑳x[21]x[22]x"), "{text}");
}
