//! Provenance of the text of truths.

use cases::{LossReason, Provenance};

use super::*;

#[test]
fn every_part_of_a_truth_has_its_provenance() {
    let mut session = Session::python("def f():\n    \n");
    let id = session.request(13);
    session.type_at(13, "res");
    session.edit(13..16, "result");
    session.type_at(19, " = ");
    session.edit(22..22, "https.get(\"https://a.example\")");
    session.edit(22..31, "");
    session.edit(22..22, "https.get");
    session.wait(11_000);
    assert_eq!(
        spans(session.truth(&id, TruthStage::Settled)),
        [
            ("res", "typed"),
            ("ult", "popup"),
            (" = ", "typed"),
            ("https.get", "undo"),
            ("(\"https://a.example\")", "pasted")
        ]
    );
}

#[test]
fn a_formatter_keeps_regions_and_marks_its_own_text() {
    let mut session = Session::new(Some(Language::Rust), "fn f() {\nlet x = \n}\nfn g() {}\n");
    let at = session.at("x = ") + 4;
    let id = session.request(at);
    session.type_at(at, "g(a,b);");
    let text = "fn f() {\n    let x = g(a, b);\n}\nfn g() {}\n";
    session.edit(0..session.text.len(), text);
    session.save();
    let truth = session.truth(&id, TruthStage::Save);
    assert_eq!(truth.text, "g(a, b);");
    assert_eq!(spans(truth), [("g(a,", "typed"), (" ", "formatter"), ("b);", "typed")]);
}

#[test]
fn sorting_imports_on_save_is_formatting() {
    let mut session = Session::python("import b\n\nx = 1\n");
    let id = session.request(9);
    session.type_at(9, "import a");
    session.time += 3_000;
    session.edit(0..17, "import a\nimport b");
    session.save();
    session.wait(11_000);
    let row = session.row(&id);
    let is_typed = |truth: &Truth| spans(truth).iter().all(|(_, name)| *name == "typed");
    assert!(
        row.lost.is_some() || row.truths.iter().all(|truth| !truth.text.contains('b') || !is_typed(truth)),
        "{row:?}"
    );
}

#[test]
fn text_changed_on_disk_is_external_in_either_order() {
    for is_reported_first in [true, false] {
        let mut session = Session::python("def f():\n    \n\n\ndef g():\n    pass\n");
        let id = session.request(13);
        session.type_at(13, "x = 1");
        session.time += 3_000;
        let disk = EventKind::ChangedOnDisk { document: "a".into() };
        if is_reported_first {
            session.send(disk.clone());
        }
        session.edits(&[(13..18, "y = 2\n    z = 3"), (0..0, "# agent\n")]);
        if !is_reported_first {
            session.send(disk);
        }
        session.wait(11_000);
        let row = session.row(&id);
        let by_hand = |truth: &Truth| {
            spans(truth).iter().any(|(text, name)| *name == "typed" && text.contains("y = 2"))
        };
        assert!(row.lost.is_some() || !row.truths.iter().any(by_hand), "{row:?}");
    }
}

#[test]
fn a_checkout_that_changes_one_character_is_external_in_either_order() {
    for is_reported_first in [true, false] {
        let mut session = Session::python("x = \n");
        let id = session.request(4);
        session.type_at(4, "\"an issue\"");
        session.save();
        session.send(EventKind::ChangedOnDisk { document: "a".into() });
        session.wait(31_000);
        let disk = EventKind::ChangedOnDisk { document: "a".into() };
        if is_reported_first {
            session.send(disk.clone());
        }
        session.edit(13..13, ".");
        if !is_reported_first {
            session.send(disk);
        }
        session.wait(31_000);
        let row = session.row(&id);
        assert_eq!(row.lost, Some(LossReason::External), "{is_reported_first}");
        assert!(row.truths.iter().all(|truth| truth.text == "\"an issue\""), "{row:?}");
    }
}

#[test]
fn accepted_text_names_its_arm() {
    let mut session = Session::python("x = \n");
    let id = session.request(4);
    session.answer(&[("a", "first(1)"), ("b", "second(2)")]);
    session.wait(1_000);
    session.edit(4..4, "second(2)");
    session.type_at(13, " + 1");
    session.wait(11_000);
    let truth = session.truth(&id, TruthStage::Settled);
    assert_eq!(spans(truth), [("second(2)", "accepted"), (" + 1", "typed")]);
    assert_eq!(truth.provenance[0].arm.as_deref(), Some("b"));
    assert_eq!(session.row(&id).exposure, Exposure::Accepted);
}

#[test]
fn the_client_identifies_changes_that_look_typed() {
    for provenance in [Provenance::OtherProvider, Provenance::Popup, Provenance::Pasted, Provenance::Undo] {
        let mut session = Session::python("x = \n");
        let id = session.request(4);
        session.edit(4..4, "f(1)");
        session.send(EventKind::Identified { document: "a".into(), provenance });
        session.wait(11_000);
        session.type_at(8, "0");
        session.send(EventKind::Identified { document: "b".into(), provenance });
        session.wait(11_000);
        let truth = session.truth(&id, TruthStage::Settled);
        assert_eq!(spans(truth), [("f(1)", provenance.name()), ("0", "typed")]);
    }
}

#[test]
fn keys_in_one_message_before_a_save_are_typed() {
    let mut session = Session::python("x = \n");
    let id = session.request(4);
    session.edits(&[(4..4, "f"), (5..5, "("), (6..6, ","), (7..7, " "), (7..8, "")]);
    session.save();
    session.wait(11_000);
    let truth = session.truth(&id, TruthStage::Settled);
    assert_eq!((&*truth.text, spans(truth)), ("f(,", vec![("f(,", "typed")]));
}

#[test]
fn a_redo_of_a_suggestion_that_is_shown_again_accepts_nothing() {
    let mut session = Session::python("x = \n");
    let id = session.request(4);
    session.answer(&[("a", "first(1)")]);
    session.wait(1_000);
    session.edit(4..4, "first(1)");
    session.send(EventKind::Identified { document: "a".into(), provenance: Provenance::Undo });
    session.wait(11_000);
    let outcome = &session.row(&id).outcome;
    assert_eq!((outcome.kind, outcome.accepted_chars), (OutcomeKind::Ignored, 0));
    assert!(outcome.parts.is_empty() && outcome.arm.is_none(), "{outcome:?}");
    assert_eq!(spans(session.truth(&id, TruthStage::Settled)), [("first(1)", "undo")]);
}

#[test]
fn an_accepted_suggestion_is_never_taken_for_another_insertion() {
    let mut session = Session::python("x = \n");
    let id = session.request(4);
    session.answer(&[("a", "first(1)")]);
    session.edit(4..4, "first(1)");
    session.send(EventKind::Identified { document: "a".into(), provenance: Provenance::Pasted });
    session.wait(11_000);
    assert_eq!(spans(session.truth(&id, TruthStage::Settled)), [("first(1)", "accepted")]);
}

#[test]
fn text_between_two_looks_is_accepted_typed_or_unobserved() {
    let mut session = Session::python("x = \ny = 1\n");
    let id = session.request(4);
    session.answer(&[("a", "first(1)")]);
    session.observe("x = first(1) + 2\ny = 1\n");
    session.save();
    let truth = session.truth(&id, TruthStage::Save);
    assert_eq!(spans(truth), [("first(1)", "accepted"), (" + 2", "typed")]);
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Accepted);

    let mut session = Session::python("x = \ny = 1\nz = 1\n");
    let id = session.request(4);
    session.answer(&[("a", "first(1)")]);
    session.wait(1_000);
    // Two places and several lines at once, right before a save: neither a formatter nor another program.
    session.observe("x = other(2) + third(3)\ny = 1\nz = several()\nw = 2\n");
    session.save();
    let truth = session.truth(&id, TruthStage::Save);
    assert_eq!(spans(truth), [("other(2) + third(3)", "unobserved")]);
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Ignored);
}
