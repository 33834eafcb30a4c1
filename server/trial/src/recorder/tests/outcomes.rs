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
