//! A continued outline is the one of a whole walk, also where a definition is changed behind itself, and takes what it can.

use std::fmt::Write;
use std::sync::Arc;

use super::{KnownBeginning, OutlineRecord};
use crate::tree::end_update::EndUpdate;
use crate::{Language, parse};

/// Code in which the beginning and the end have effects on each other.
const SOURCES: [(Language, &str); 6] = [
    (
        Language::Python,
        "class A$:\n    def __init__(self):\n        self.x = None\n        self.y = None\n\n    FILL\n\n    def f(self):\n        self.x = B()\n        def g():\n            import c\n            self.z = 1\n        return self.x\n\n    FILL\n\n    @property\n    def h(self):\n        self.y = C()\n        return self.y\n",
    ),
    (
        Language::TypeScript,
        "import d from './d';\nfunction a$() { return 1; }\nFILL\nexport { a$, d };\nclass K$ {\n  constructor() { this.x = 1; }\n  FILL\n  f() { this.y = 2; return this.x; }\n}\nexport { K$ as L$ };\n",
    ),
    (
        Language::JavaScript,
        "const a$ = () => 1;\nclass K$ { constructor() { this.x = a$; } }\nFILL\nmodule.exports = { a$, K$ };\nFILL\nexports.b = function () { return new K$(); };\n",
    ),
    (
        Language::Go,
        "package a\n\ntype T$ interface {\n\tE\n\tF() int // Doc.\n}\n\nFILL\n\ntype S$ struct {\n\tT$\n\t*U\n\tx int\n}\n\nFILL\n",
    ),
    (
        Language::Cpp,
        "namespace n$ {\nclass A$ {\n  int x; // Doc x.\n  FILL\n public:\n  int f() { return x; }\n  FILL\n private:\n  MACRO(int, g)\n  int h();\n};\nFILL\nint A$::h() { return 1; }\n}\n",
    ),
    (
        Language::Rust,
        "mod m$ {\n    pub struct A { x: u8 }\n    FILL\n    impl Clone for A {\n        fn clone(&self) -> A { make!(self) }\n    }\n    thread_local! { static X: u8 = 1; }\n    FILL\n}\nimpl m$::A { pub fn f(&self) -> u8 { self.x } }\n",
    ),
];

/// Returns the source twice, with new names, and with lines in between that are longer than the text that is always parsed again.
fn long_text(language: Language, source: &str) -> String {
    let mut text = String::new();
    for number in 0..2 {
        let mut filled = source.replace('$', &number.to_string());
        while let Some(place) = filled.find("FILL") {
            let line = filled[..place].rfind('\n').map_or(0, |end| end + 1);
            let indent = filled[line..place].to_owned();
            let mut lines = String::new();
            for member in 0..20 {
                let comment = language.line_comment();
                let _ = write!(lines, "{comment} Line {member} of {place}.\n{indent}");
            }
            filled.replace_range(place..place + "FILL".len(), lines.trim_end());
        }
        text.push_str(&filled);
    }
    text
}

fn known_beginning<'a>(record: &'a OutlineRecord, update: &EndUpdate) -> KnownBeginning<'a> {
    KnownBeginning { record, same: update.same() }
}

/// Places where a text is cut, as if the cursor was there.
fn cuts(text: &str) -> Vec<&str> {
    (1..=24).map(|part| &text[..text.floor_char_boundary(text.len() * part / 24)]).collect()
}

#[test]
fn is_the_outline_of_a_whole_walk() {
    let mut continued = 0;
    for (language, source) in SOURCES {
        let text = long_text(language, source);
        for before in cuts(&text) {
            let tree = parse(language, before);
            let (outline, record) = tree.recorded_outline(before, None);
            assert_eq!(outline, tree.outline(before), "{before}");
            let Some(record) = record else { continue };
            for beginning in cuts(&text) {
                for typed in ["", "\n", "x", " = y.z(", "}"] {
                    let after = format!("{beginning}{typed}");
                    let Some(update) = tree.update_end(before, &after) else { continue };
                    let outline = update.tree.continued_outline(&after, known_beginning(&record, &update));
                    assert_eq!(outline, update.tree.outline(&after), "{before}\n---\n{after}");
                    continued += usize::from(update.same() > 0);
                }
            }
        }
    }
    assert!(continued > 1_000, "only {continued} outlines were continued");
}

#[test]
fn continued_record_is_continued_again() {
    let mut continued = 0;
    for (language, source) in SOURCES {
        let text = long_text(language, source);
        let cuts = cuts(&text);
        // Downwards and upwards, in steps of two lengths.
        for step in [1, 5] {
            let up = cuts.iter().rev().step_by(step);
            let mut texts = cuts.iter().step_by(step).chain(up).map(|cut| format!("{cut}x"));
            let mut before = texts.next().expect("there are cuts");
            let mut tree = parse(language, &before);
            let mut record = tree.recorded_outline(&before, None).1;
            for after in texts {
                let update = tree.update_end(&before, &after);
                let next =
                    update.as_ref().map_or_else(|| parse(language, &after), |update| update.tree.clone());
                let known = record
                    .as_ref()
                    .zip(update.as_ref())
                    .map(|(record, update)| known_beginning(record, update));
                let (outline, again) = next.recorded_outline(&after, known);
                assert_eq!(outline, next.outline(&after), "{before}\n---\n{after}");
                let fresh = next.recorded_outline(&after, None).1;
                let visits = |record: &Option<OutlineRecord>| {
                    record.as_ref().map(|record| format!("{:?}", record.visits))
                };
                assert_eq!(visits(&again), visits(&fresh), "{before}\n---\n{after}");
                continued += usize::from(known.is_some_and(|known| known.same > 0) && again.is_some());
                (before, tree, record) = (after, next, again);
            }
        }
    }
    assert!(continued > 150, "only {continued} records were continued");
}

#[test]
fn takes_the_definitions_before_the_cursor_from_the_record() {
    let mut shares = Vec::new();
    for (language, source) in SOURCES {
        let text = long_text(language, source);
        let tree = parse(language, &text);
        let (outline, record) = tree.recorded_outline(&text, None);
        let after = format!("{text}\n");
        let Some((mut record, update)) = record.zip(tree.update_end(&text, &after)) else { continue };
        for definition in &mut record.items.definitions {
            Arc::make_mut(definition).range.end = u32::MAX;
        }
        let continued = update.tree.continued_outline(&after, known_beginning(&record, &update));
        let taken =
            continued.definitions.iter().filter(|definition| definition.range.end == u32::MAX).count();
        shares.push((language, 100 * taken / outline.definitions.len()));
    }
    // An exported import has no record in TypeScript. In C++ the macro is an error, and the text behind it is read again.
    assert_eq!(shares.len(), SOURCES.len() - 1);
    let is_taken = |(language, share): &(Language, usize)| *share > 50 || *language == Language::Cpp;
    assert!(shares.iter().all(is_taken), "{shares:?}");
}

#[test]
fn shares_what_is_the_same_with_the_record() {
    let text: String = (0..100).map(|number| format!("def f{number}(a):\n    return a\n\n")).collect();
    let tree = parse(Language::Python, &text);
    let (outline, record) = tree.recorded_outline(&text, None);
    let after = format!("{text}x = f1");
    let (record, update) = record.zip(tree.update_end(&text, &after)).expect("it can be continued");
    let continued = update.tree.continued_outline(&after, known_beginning(&record, &update));
    let both = continued.definitions.iter().zip(&outline.definitions);
    assert!(both.filter(|(new, old)| Arc::ptr_eq(new, old)).count() > 70, "most are copied");
}
