//! What clients report and what the text shows decide an offer together.

use super::*;

const SHOWN_AFTER: u64 = 750;

fn offer(texts: &[&str]) -> Offer {
    let item =
        |(id, text): (usize, &&str)| OfferedItem { id: id as u64, arm: "a".into(), text: (*text).to_owned() };
    Offer::new(texts.iter().enumerate().map(item).collect(), 10, 100).expect("there is a text")
}

fn insertion(at: usize, text: &str) -> Edit {
    Edit { range: at..at, text: text.to_owned() }
}

fn apply(offer: &mut Offer, edit: &Edit, removed: &str, number: u64, now: u64) -> OfferedEdit {
    offer.apply(FollowedEdit { edit, removed, number, restores: false }, now)
}

fn accepts() -> OfferedEdit {
    OfferedEdit::Accepts("a".into())
}

#[test]
fn parts_of_a_suggestion_are_accepted() {
    let mut offer = offer(&["total = price * 2\nreturn total"]);
    assert!(offer.tick(900, SHOWN_AFTER) && !offer.tick(901, SHOWN_AFTER));
    assert_eq!(apply(&mut offer, &insertion(10, "total "), "", 1, 1_000), accepts());
    assert_eq!(apply(&mut offer, &insertion(16, "="), "", 2, 1_100), OfferedEdit::Follows);
    assert_eq!(apply(&mut offer, &insertion(17, " price * 2"), "", 3, 1_200), accepts());
    assert_eq!(apply(&mut offer, &insertion(27, "\r\nreturn total"), "", 4, 1_300), accepts());
    let outcome = offer.outcome(50, 5_000);
    assert_eq!(outcome.kind, OutcomeKind::Accepted);
    assert_eq!(outcome.parts, [AcceptedPart::Word, AcceptedPart::Line, AcceptedPart::Full]);
    assert_eq!((outcome.accepted_chars, outcome.typed_chars), (29, 1));
    assert_eq!((outcome.shown_at, outcome.visible, outcome.is_inferred), (Some(50.0), Some(1_200.0), true));
    assert_eq!(offer.accepted_edits(), [1, 3, 4]);
}

#[test]
fn a_report_counts_before_and_after_its_edit() {
    let mut before = offer(&["ab"]);
    assert_eq!(before.report_accepted(0, false, 200), None);
    assert_eq!(apply(&mut before, &insertion(10, "ab"), "", 1, 201), accepts());
    let mut after = offer(&["b", "abc"]);
    assert_eq!(apply(&mut after, &insertion(10, "abc"), "", 1, 200), accepts());
    assert_eq!(after.report_accepted(1, false, 201), None);
    let mut typed = offer(&["a"]);
    assert_eq!(apply(&mut typed, &insertion(10, "a"), "", 7, 200), OfferedEdit::Follows);
    assert_eq!(typed.outcome(0, 300).kind, OutcomeKind::TypedThrough);
    assert_eq!(typed.report_accepted(0, false, 201), Some((vec![7], "a".into())));
    for offer in [before, after, typed] {
        let outcome = offer.outcome(0, 300);
        assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Accepted, false));
    }
}

#[test]
fn typing_along_is_not_acceptance() {
    let mut offer = offer(&["f(x)"]);
    assert_eq!(apply(&mut offer, &insertion(10, "f"), "", 1, 200), OfferedEdit::Follows);
    assert_eq!(apply(&mut offer, &insertion(11, "()"), "", 2, 300), OfferedEdit::Follows);
    assert_eq!(apply(&mut offer, &insertion(12, "y"), "", 3, 400), OfferedEdit::Contradicts);
    offer.decide(OutcomeKind::Ignored, 400);
    assert_eq!(offer.outcome(0, 500).kind, OutcomeKind::NotShown, "the developer was faster");
}

#[test]
fn a_bracket_that_the_editor_closes_is_typed() {
    let mut offer = offer(&["()"]);
    assert_eq!(apply(&mut offer, &insertion(10, "()"), "", 1, 200), OfferedEdit::Follows);
    assert_eq!(offer.outcome(0, 300).kind, OutcomeKind::TypedThrough);
    assert_eq!(
        offer.report_accepted(0, false, 201),
        Some((vec![1], "a".into())),
        "unless the client knows better"
    );
}

#[test]
fn deleting_typed_characters_keeps_the_suggestion() {
    let mut offer = offer(&["value"]);
    apply(&mut offer, &insertion(10, "v"), "", 1, 200);
    assert_eq!(
        apply(&mut offer, &Edit { range: 10..11, text: String::new() }, "v", 2, 300),
        OfferedEdit::Follows
    );
    assert_eq!(apply(&mut offer, &insertion(0, "\n"), "", 3, 350), OfferedEdit::Elsewhere);
    assert_eq!(offer.place(), 11);
    assert_eq!(
        apply(&mut offer, &Edit { range: 9..11, text: String::new() }, "xy", 4, 400),
        OfferedEdit::Contradicts
    );
}

#[test]
fn the_rest_of_a_suggestion_is_the_same_offer() {
    let mut offer = offer(&["value"]);
    apply(&mut offer, &insertion(10, "v"), "", 1, 200);
    let rest = |text: &str| [OfferedItem { id: 9, arm: "a".into(), text: text.to_owned() }];
    assert!(!offer.extend(&rest("alue2"), 11) && !offer.extend(&rest("alue"), 10));
    assert!(offer.extend(&rest("alue"), 11) && offer.has_item(9));
    assert_eq!(apply(&mut offer, &insertion(11, "alue"), "", 2, 300), accepts());
    assert_eq!(offer.report_accepted(9, false, 310), None);
    assert!(!offer.outcome(0, 400).is_inferred);
}

/// Items of the arms `a`, `b` and so on, with the ids 0, 1 and so on.
fn duel(texts: &[&str], now: u64) -> Offer {
    let arms = ["a", "b"];
    let item = |(id, (text, arm)): (u64, (&&str, &str))| OfferedItem {
        id,
        arm: arm.into(),
        text: (*text).to_owned(),
    };
    let items = (0..).zip(texts.iter().zip(arms)).map(item).collect();
    Offer::new(items, 10, now).expect("there is a text")
}

#[test]
fn a_redo_of_typed_text_accepts_nothing() {
    let mut offer = offer(&["= f(x)"]);
    apply(&mut offer, &insertion(10, "="), "", 1, 200);
    apply(&mut offer, &insertion(11, " "), "", 2, 300);
    apply(&mut offer, &Edit { range: 10..12, text: String::new() }, "= ", 3, 400);
    let edit = insertion(10, "= ");
    let redo = FollowedEdit { edit: &edit, removed: "", number: 4, restores: true };
    assert_eq!(offer.apply(redo, 500), OfferedEdit::Follows);
    assert_eq!((offer.outcome(0, 600).kind, offer.accepted_chars()), (OutcomeKind::NotShown, 0));
    // The client knows better.
    assert_eq!(offer.report_accepted(0, true, 600), Some((vec![4], "a".into())));
    assert_eq!(offer.outcome(0, 600).kind, OutcomeKind::Accepted);
}

#[test]
fn what_was_accepted_and_visible_outlasts_another_answer() {
    let other = |text: &str| vec![OfferedItem { id: 9, arm: "b".into(), text: text.to_owned() }];
    let mut accepted = offer(&["total = price"]);
    apply(&mut accepted, &insertion(10, "total "), "", 1, 200);
    accepted.replace(other("+= 1"), 16, 300);
    apply(&mut accepted, &insertion(16, "x"), "", 2, 400);
    accepted.decide(OutcomeKind::Ignored, 400);
    let outcome = accepted.outcome(0, 500);
    assert_eq!((outcome.kind, outcome.accepted_chars), (OutcomeKind::Accepted, 6));
    assert_eq!((outcome.arm.as_deref(), accepted.accepted_edits()), (Some("a"), &[1][..]));

    let mut seen = offer(&["total = price"]);
    seen.report_shown(150);
    seen.replace(other("rate"), 10, 400);
    assert!(seen.was_shown());
    assert_eq!(seen.outcome(0, 450).kind, OutcomeKind::Replaced);
    seen.decide(OutcomeKind::Ignored, 500);
    let outcome = seen.outcome(0, 600);
    assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Replaced, false));
    assert_eq!((outcome.shown_at, outcome.visible), (Some(150.0), Some(250.0)));

    let mut again = offer(&["total = price"]);
    again.report_shown(150);
    again.replace(other("rate"), 10, 400);
    again.report_shown(450);
    again.decide(OutcomeKind::Rejected, 700);
    let outcome = again.outcome(0, 800);
    assert_eq!((outcome.kind, outcome.visible), (OutcomeKind::Rejected, Some(500.0)));

    let mut unseen = offer(&["total = price"]);
    unseen.replace(other("rate"), 10, 150);
    unseen.decide(OutcomeKind::Ignored, 200);
    assert_eq!(unseen.outcome(0, 300).kind, OutcomeKind::NotShown);
    unseen.replace(Vec::new(), 10, 300);
    assert_eq!(unseen.outcome(0, 300).kind, OutcomeKind::NotShown);
}

#[test]
fn a_suggestion_is_visible_from_its_report_on() {
    let mut offer = offer(&["total"]);
    offer.report_shown(400);
    assert!(!offer.tick(2_000, SHOWN_AFTER), "it is known");
    offer.decide(OutcomeKind::Ignored, 1_000);
    let outcome = offer.outcome(50, 5_000);
    assert_eq!((outcome.shown_at, outcome.visible), (Some(350.0), Some(600.0)));
    offer.report_shown(6_000);
    assert_eq!(offer.outcome(50, 7_000), outcome, "a late report changes nothing");
}

#[test]
fn the_arm_of_the_accepted_item_is_known() {
    // Both begin with the accepted word.
    let mut offer = duel(&["total + 1", "total * 2"], 100);
    assert_eq!(apply(&mut offer, &insertion(10, "total "), "", 1, 200), accepts());
    assert_eq!(offer.report_accepted(1, true, 210), Some((vec![1], "b".into())));
    let rest = [OfferedItem { id: 7, arm: "b".into(), text: "* 2".to_owned() }];
    assert!(offer.extend(&rest, 16));
    let outcome = offer.outcome(0, 300);
    assert_eq!((outcome.item, outcome.arm.as_deref()), (Some(1), Some("b")));
    assert_eq!(apply(&mut offer, &insertion(16, "* 2"), "", 2, 400), OfferedEdit::Accepts("b".into()));
    assert_eq!(offer.report_accepted(7, false, 410), None);
    let outcome = offer.outcome(0, 500);
    assert_eq!((outcome.item, outcome.arm.as_deref(), outcome.accepted_chars), (Some(1), Some("b"), 9));
}

#[test]
fn the_client_knows_that_another_text_was_an_acceptance() {
    // The selected item of a popup is inserted with the suggestion behind it.
    let mut offer = offer(&[" * 2"]);
    assert_eq!(apply(&mut offer, &insertion(10, "ce * 2"), "", 1, 200), OfferedEdit::Contradicts);
    offer.decide(OutcomeKind::Ignored, 200);
    assert_eq!(offer.report_accepted(0, false, 220), Some((vec![1], "a".into())));
    let outcome = offer.outcome(0, 300);
    assert_eq!((outcome.kind, outcome.accepted_chars), (OutcomeKind::Accepted, 6));
    assert!(!outcome.is_inferred && outcome.shown_at.is_some());

    let mut late = duel(&["total"], 100);
    apply(&mut late, &insertion(10, "x"), "", 1, 200);
    late.decide(OutcomeKind::Ignored, 200);
    assert_eq!(late.report_accepted(0, false, 200 + REPORT_WITHIN + 1), None);
    assert_eq!(late.outcome(0, 9_000).kind, OutcomeKind::NotShown);
}

#[test]
fn an_announced_acceptance_that_does_not_come_is_forgotten() {
    let mut offer = offer(&["total"]);
    assert_eq!(offer.report_accepted(0, false, 200), None);
    let later = 200 + REPORT_WITHIN + 1;
    assert_eq!(apply(&mut offer, &insertion(10, "t"), "", 1, later), OfferedEdit::Follows);
    assert_eq!(offer.outcome(0, later).accepted_chars, 0);
}

#[test]
fn a_part_is_a_line_if_it_ends_one() {
    assert_eq!(part_of("a = 1\nb = 2", "a = 1"), AcceptedPart::Line);
    assert_eq!(part_of("a = 1\nb = 2", "a = 1\n"), AcceptedPart::Line);
    assert_eq!(part_of("a = 1\nb = 2", "a = 1\nb"), AcceptedPart::Word);
    assert_eq!(part_of("a = 1\nb = 2", "a "), AcceptedPart::Word);
    assert_eq!(part_of("a = 1\nb = 2", "a = 1\nb = 2"), AcceptedPart::Full);
}
