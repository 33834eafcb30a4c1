//! What became of suggestions.

use cases::{AcceptedPart, LossReason, OutcomeKind, SurvivalAge, SurvivalKind};

use super::*;

fn suggested(text: &str) -> (Session, String) {
    let mut session = Session::python("def f():\n    return \n");
    let id = session.request(20);
    session.answer(&[("a", text)]);
    (session, id)
}

#[test]
fn suggestions_count_as_shown_after_a_while() {
    let (mut session, id) = suggested("total * 2");
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::NotShown);
    session.wait(1_000);
    let outcome = &session.row(&id).outcome;
    assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Shown, true));
    session.type_at(20, "0");
    let outcome = &session.row(&id).outcome;
    assert_eq!((outcome.kind, outcome.visible), (OutcomeKind::Ignored, Some(1_100.0)));
    session.wait(11_000);
    assert_eq!(session.row(&id).exposure, Exposure::Shown);
}

#[test]
fn a_developer_who_is_faster_has_seen_nothing() {
    let (mut session, id) = suggested("total * 2");
    session.type_at(20, "0");
    session.wait(11_000);
    let row = session.row(&id);
    assert_eq!((row.outcome.kind, row.exposure), (OutcomeKind::NotShown, Exposure::None));
    assert_eq!(row.rhythm.until_next_key, Some(100.0));
}

#[test]
fn reports_of_the_client_are_not_inferred() {
    let (mut session, id) = suggested("total * 2");
    session.send(EventKind::Shown { item: 10 });
    session.send(EventKind::Shown { item: 999 });
    session.edit(20..20, "total ");
    session.send(EventKind::Accepted { item: 10, is_partial: true });
    session.send(EventKind::Accepted { item: 999, is_partial: false });
    let outcome = &session.row(&id).outcome;
    assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Accepted, false));
    assert_eq!((&outcome.parts[..], outcome.arm.as_deref()), (&[AcceptedPart::Word][..], Some("a")));
    let (mut session, id) = suggested("total * 2");
    session.send(EventKind::Shown { item: 10 });
    let dismissed = |item| EventKind::Dismissed { document: "a".into(), item, kind: OutcomeKind::Rejected };
    session.send(dismissed(Some(999)));
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Shown, "an unknown item");
    session.send(dismissed(Some(10)));
    session.type_at(20, "t");
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Rejected);
    session.send(EventKind::Dismissed { document: "a".into(), item: None, kind: OutcomeKind::Ignored });
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Rejected, "it was decided before");
}

#[test]
fn closing_cancels_and_another_place_ignores() {
    let (mut session, id) = suggested("total");
    session.wait(1_000);
    session.send(EventKind::Closed { document: "a".into() });
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Cancelled);
    let (mut session, id) = suggested("total");
    session.wait(1_000);
    session.request(0);
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Ignored);
}

#[test]
fn a_late_answer_to_an_earlier_request_is_not_offered() {
    let mut session = Session::python("han = \nx = ha\n");
    let id = session.request(13);
    session.ask();
    session.type_at(13, "n");
    session.request(14);
    session.answer(&[("a", "dshake anyway")]);
    // The client has taken the answer to its later request, which was recorded first.
    session.answer_request(1, &[("a", "dshake anyway")]);
    session.edit(11..14, "handshake anyway");
    session.send(EventKind::Accepted { item: 20, is_partial: false });
    session.wait(11_000);
    let outcome = &session.row(&id).outcome;
    assert_eq!((outcome.kind, outcome.accepted_chars), (OutcomeKind::Accepted, 13));
    assert_eq!(
        spans(session.truth(&id, TruthStage::Settled)),
        [("n", "typed"), ("dshake anyway", "accepted")]
    );
}

#[test]
fn survival_is_measured_by_age() {
    let (mut session, id) = suggested("total(items) * 2");
    session.wait(1_000);
    session.edit(20..20, "total(items) * 2");
    session.wait(31_000);
    session.edit(33..36, "");
    session.wait(120_000);
    session.edit(20..33, "");
    session.wait(200_000);
    session.type_at(0, "# top\n");
    session.wait(300_000);
    session.save();
    session.commit();
    assert_eq!(
        survival(&session, &id),
        [
            (SurvivalAge::Seconds30, SurvivalKind::Kept, 16),
            (SurvivalAge::Minutes2, SurvivalKind::Edited, 13),
            (SurvivalAge::Minutes5, SurvivalKind::Deleted, 0),
            (SurvivalAge::Minutes10, SurvivalKind::Deleted, 0),
            (SurvivalAge::Commit, SurvivalKind::Deleted, 0),
        ]
    );
}

fn survival(session: &Session, id: &str) -> Vec<(SurvivalAge, SurvivalKind, u32)> {
    let measured = session.row(id).outcome.survival.iter();
    measured.map(|survival| (survival.age, survival.kind, survival.retained_chars)).collect()
}

#[test]
fn every_age_is_measured_after_an_early_commit() {
    let (mut session, id) = suggested("total(items) * 2");
    session.edit(20..20, "total(items) * 2");
    session.save();
    session.wait(1_000);
    session.commit();
    assert_eq!(survival(&session, &id), [(SurvivalAge::Commit, SurvivalKind::Kept, 16)]);
    session.wait(60_000);
    // The truth is that of the commit; what is edited later shows in the survival.
    session.edit(32..36, "");
    session.save();
    session.wait(600_000);
    session.commit();
    assert_eq!(
        survival(&session, &id),
        [
            (SurvivalAge::Seconds30, SurvivalKind::Kept, 16),
            (SurvivalAge::Minutes2, SurvivalKind::Edited, 12),
            (SurvivalAge::Minutes5, SurvivalKind::Edited, 12),
            (SurvivalAge::Minutes10, SurvivalKind::Edited, 12),
            (SurvivalAge::Commit, SurvivalKind::Kept, 16),
        ]
    );
    let row = session.row(&id);
    let truth = row.truth().expect("there is one");
    assert_eq!((truth.stage, &*truth.text), (TruthStage::Commit, "total(items) * 2"));
    assert_eq!((row.lost, row.outcome.survival_lost), (None, None));
    assert_eq!(session.recorder.open_opportunities(), 0);
}

#[test]
fn accepted_text_that_is_replaced_with_its_surroundings_is_measured() {
    let (mut session, id) = suggested("total(items) * 2");
    session.edit(20..20, "total(items) * 2");
    session.wait(31_000);
    session.edit(0..session.text.len(), "class C:\n    pass");
    assert_eq!(session.row(&id).lost, Some(LossReason::Replaced));
    session.wait(600_000);
    let kinds: Vec<SurvivalKind> = survival(&session, &id).into_iter().map(|(_, kind, _)| kind).collect();
    use SurvivalKind::{Deleted, Kept};
    assert_eq!(kinds, [Kept, Deleted, Deleted, Deleted]);
    assert_eq!(session.row(&id).outcome.survival_lost, None);
}

#[test]
fn survival_continues_after_a_restart() {
    let (mut session, id) = suggested("total(items) * 2");
    session.wait(1_000);
    session.edit(20..20, "total(items) * 2");
    session.wait(31_000);
    session.save();
    session.commit();
    assert_eq!(session.row(&id).outcome.accepted_at, Some(1_000.0));
    // Three minutes after the acceptance.
    let text = format!("import x\n{}", session.text);
    let mut next = Session::python(&text);
    assert_eq!(next.recorder.resume("a", earlier(&session, 181_000), next.time), []);
    let end = next.at("total(items)") + 12;
    next.edit(end..end + 4, "");
    next.wait(420_000);
    assert_eq!(
        survival(&next, &id),
        [
            (SurvivalAge::Seconds30, SurvivalKind::Kept, 16),
            (SurvivalAge::Minutes2, SurvivalKind::Kept, 16),
            (SurvivalAge::Minutes5, SurvivalKind::Edited, 12),
            (SurvivalAge::Minutes10, SurvivalKind::Edited, 12),
            (SurvivalAge::Commit, SurvivalKind::Kept, 16),
        ]
    );
    assert_eq!(next.truth(&id, TruthStage::Commit).text, "total(items) * 2");
    assert_eq!((next.row(&id).lost, next.row(&id).outcome.survival_lost), (None, None));
}

#[test]
fn survival_that_is_not_known_has_a_reason() {
    // The text changed while no server ran.
    let (mut session, id) = suggested("total(items) * 2");
    session.edit(20..20, "total(items) * 2");
    session.wait(31_000);
    session.save();
    session.commit();
    let mut next = Session::python(&session.text.replace("items", "goods"));
    let lost = next.recorder.resume("a", earlier(&session, 60_000), next.time);
    let [row] = &lost[..] else { panic!("{lost:?}") };
    assert_eq!((row.lost, row.outcome.survival_lost), (None, Some(LossReason::Interrupted)));
    // The document gets lost, or another program writes it.
    session.send(EventKind::Desynchronized { document: "a".into() });
    assert_eq!(session.row(&id).outcome.survival_lost, Some(LossReason::Inconsistent));
    assert_eq!(session.row(&id).lost, None, "its truths are complete");
    let (mut session, id) = suggested("total(items) * 2");
    session.edit(20..20, "total(items) * 2");
    session.wait(31_000);
    session.send(EventKind::ChangedOnDisk { document: "a".into() });
    session.edit(0..session.text.len(), "x = 1\ny = 2\n");
    let row = session.row(&id);
    assert_eq!(
        (row.lost, row.outcome.survival_lost),
        (Some(LossReason::External), Some(LossReason::External))
    );
}

#[test]
fn moved_text_survives() {
    let (mut session, id) = suggested("total(items) * 2");
    session.edit(20..20, "total(items) * 2");
    session.edit(20..36, "");
    session.edit(0..0, "x = total(items) * 2\n");
    session.wait(31_000);
    let survival = session.row(&id).outcome.survival[0];
    assert_eq!((survival.kind, survival.retained_chars), (SurvivalKind::Moved, 16));
}

#[test]
fn a_suggestion_shown_inside_of_an_earlier_region_exposes_it() {
    let mut session = Session::python("def f():\n    \n");
    let first = session.request(13);
    session.time += 4_000;
    session.type_at(13, "x = g(");
    let second = session.request(19);
    session.answer(&[("a", "1)")]);
    session.send(EventKind::Shown { item: 20 });
    session.type_at(19, "2)");
    session.wait(11_000);
    assert_eq!(
        (session.row(&first).exposure, session.row(&second).exposure),
        (Exposure::Shown, Exposure::Shown)
    );
    assert_eq!(session.truth(&first, TruthStage::Settled).text, "x = g(2)");
}

/// Requests again at a cursor and gets another answer of the same arm.
fn answer_again(session: &mut Session, offset: usize, text: &str) {
    session.time += 200;
    session.request(offset);
    session.answer(&[("a", text)]);
}

#[test]
fn another_answer_replaces_a_suggestion_that_was_visible() {
    let (mut session, id) = suggested("total * 2");
    session.wait(1_000);
    session.type_at(20, "t");
    answer_again(&mut session, 21, "ax(rate)");
    session.type_at(21, "0");
    session.wait(11_000);
    let row = session.row(&id);
    assert_eq!((row.outcome.kind, row.exposure), (OutcomeKind::Replaced, Exposure::Shown));
    assert_eq!((row.outcome.visible, row.outcome.typed_chars), (Some(1_300.0), 1));
}

#[test]
fn an_acceptance_outlasts_another_answer() {
    let (mut session, id) = suggested("total * 2");
    session.edit(20..20, "total ");
    answer_again(&mut session, 26, "+ rate");
    session.type_at(26, "+ 1");
    session.wait(31_000);
    let outcome = &session.row(&id).outcome;
    assert_eq!((outcome.kind, outcome.accepted_chars), (OutcomeKind::Accepted, 6));
    assert_eq!((outcome.survival[0].kind, outcome.survival[0].retained_chars), (SurvivalKind::Kept, 6));
    assert_eq!(spans(session.truth(&id, TruthStage::Settled))[0], ("total ", "accepted"));
}

#[test]
fn programs_and_losses_cancel_a_suggestion() {
    let outcome_after = |act: &dyn Fn(&mut Session)| {
        let (mut session, id) = suggested("total");
        session.wait(1_000);
        act(&mut session);
        session.row(&id).outcome.clone()
    };
    let checked_out = outcome_after(&|session| {
        session.send(EventKind::ChangedOnDisk { document: "a".into() });
        session.edit(0..session.text.len(), "x = 1\ny = 2\n");
    });
    let formatted = outcome_after(&|session| {
        session.edits(&[(9..13, "  "), (3..4, "  ")]);
    });
    let lost = outcome_after(&|session| session.send(EventKind::Desynchronized { document: "a".into() }));
    for outcome in [checked_out, formatted, lost] {
        assert_eq!((outcome.kind, outcome.visible), (OutcomeKind::Cancelled, Some(1_000.0)), "{outcome:?}");
    }
    let (session, id) = {
        let (mut session, id) = suggested("total");
        session.wait(1_000);
        session.save();
        (session, id)
    };
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Shown);
    // The server is killed; the suggestion is gone.
    let mut next = Session::python(&session.text);
    assert_eq!(next.recorder.resume("a", earlier(&session, 60_000), next.time), []);
    next.wait(500);
    assert_eq!(next.row(&id).outcome.kind, OutcomeKind::Cancelled);
}

#[test]
fn a_suggestion_that_is_visible_at_a_commit_is_decided_later() {
    let (mut session, id) = suggested("total(items)");
    session.wait(11_000);
    session.save();
    session.commit();
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Shown);
    session.request(0);
    assert_eq!(session.row(&id).outcome.kind, OutcomeKind::Ignored);
    assert_eq!(session.truth(&id, TruthStage::Commit).text, "");

    let (mut session, id) = suggested("total(items)");
    session.wait(11_000);
    session.save();
    session.commit();
    session.edit(20..20, "total(items)");
    let row = session.row(&id);
    assert_eq!((row.outcome.kind, row.outcome.accepted_chars), (OutcomeKind::Accepted, 12));
    assert_eq!(row.truth().map(|truth| &*truth.text), Some(""), "the truth is that of the commit");
    session.wait(31_000);
    assert_eq!(survival(&session, &id)[0], (SurvivalAge::Seconds30, SurvivalKind::Kept, 12));
}

#[test]
fn a_dismissed_suggestion_was_seen_in_the_regions_around_it() {
    let mut session = Session::python("def f():\n    \n");
    let first = session.request(13);
    session.time += 4_000;
    session.type_at(13, "x = g(");
    session.request(19);
    session.answer(&[("a", "1)")]);
    let kind = OutcomeKind::Rejected;
    session.send(EventKind::Dismissed { document: "a".into(), item: Some(20), kind });
    session.type_at(19, "2)");
    session.wait(11_000);
    assert_eq!(session.row(&first).exposure, Exposure::Shown);
}

#[test]
fn redo_of_text_typed_along_a_suggestion_accepts_nothing() {
    let (mut session, id) = suggested("total = rate");
    session.wait(1_000);
    session.type_at(20, "total ");
    session.edit(20..26, "");
    session.edit(20..20, "total ");
    session.type_at(26, "+ 1");
    session.wait(11_000);
    let row = session.row(&id);
    assert_eq!((row.outcome.kind, row.outcome.accepted_chars), (OutcomeKind::Ignored, 0));
    assert_eq!(spans(session.truth(&id, TruthStage::Settled))[0], ("total ", "undo"));
}

#[test]
fn a_later_suggestion_of_a_thought_is_offered_before_the_closed_bracket() {
    let mut session = Session::python("def f():\n    return \n");
    let id = session.request(20);
    session.answer(&[("a", "")]);
    session.type_at(20, "g");
    session.edit(21..21, "()");
    session.request(22);
    session.answer(&[("a", "first_item")]);
    session.edit(22..22, "first_item");
    session.send(EventKind::Accepted { item: 20, is_partial: false });
    session.wait(11_000);
    let row = session.row(&id);
    assert_eq!((row.outcome.kind, row.outcome.accepted_chars), (OutcomeKind::Accepted, 10));
    let truth = session.truth(&id, TruthStage::Settled);
    assert_eq!(spans(truth), [("g(", "typed"), ("first_item", "accepted"), (")", "typed")]);
}
