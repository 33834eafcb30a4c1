//! Truths stage by stage, and regions that follow edits.

use cases::{ContextItem, LossReason, Task};

use super::*;

const SHOP: &str = "def price(item):\n    rate = \n    return rate\n\n\ndef total():\n    return 0\n";

#[test]
fn truths_are_taken_stage_by_stage() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "item.rate * 2");
    session.wait(9_500);
    assert!(session.rows.is_empty(), "it has not settled");
    session.wait(1_000);
    assert_eq!(session.truths(&id), [(TruthStage::Settled, "item.rate * 2")]);
    session.send(EventKind::CursorMoved { document: "a".into(), offset: session.at("return 0") });
    session.wait(1_000);
    session.wait(20_000);
    session.save();
    session.send(EventKind::Closed { document: "a".into() });
    session.commit();
    let stages: Vec<TruthStage> = session.truths(&id).iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages, TruthStage::ALL);
    assert!(session.truths(&id).iter().all(|(_, text)| *text == "item.rate * 2"));
    let row = session.row(&id);
    assert_eq!((row.task.and_then(Task::variant), row.lost), (Some("mid_statement"), None));
    assert_eq!((&*row.cursor.prefix, row.cursor.line, row.cursor.character), (&SHOP[..at], 1, 11));
    assert_eq!(session.recorder.open_opportunities(), 0);
}

#[test]
fn a_later_stage_with_another_text_is_out_of_date() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "item");
    session.save();
    assert_eq!(session.truths(&id), [(TruthStage::Save, "item")]);
    session.type_at(at + 4, ".rate");
    session.wait(11_000);
    assert_eq!(session.truths(&id), [(TruthStage::Settled, "item.rate")]);
    assert_eq!(session.truth(&id, TruthStage::Settled).distance, Some(5));
}

#[test]
fn the_truth_is_one_unit_and_later_code_is_not_part_of_it() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "item.rate\n    rate += 1");
    session.wait(11_000);
    assert_eq!(session.truth(&id, TruthStage::Settled).text, "item.rate");
    session.type_at(session.at("+= 1") + 4, "\n    log(rate)");
    session.type_at(session.at("item.rate") + 9, " or 0");
    session.wait(31_000);
    assert_eq!(session.truth(&id, TruthStage::Idle).text, "item.rate or 0");
}

#[test]
fn nothing_written_is_a_truth() {
    let mut session = Session::python(SHOP);
    let id = session.request(session.at("return rate") + 11);
    session.wait(11_000);
    assert_eq!(
        (session.truths(&id), session.row(&id).task),
        (vec![(TruthStage::Settled, "")], Some(Task::EMPTY))
    );
    session.wait(30_000);
    // Another thought, a minute later.
    session.type_at(session.at("return rate") + 11, " * 2");
    session.wait(31_000);
    assert!(session.truths(&id).iter().all(|(_, text)| text.is_empty()));
}

#[test]
fn deletions_are_truths() {
    let mut session = Session::python(SHOP);
    let at = session.at("return rate") + 11;
    let id = session.request(at);
    session.edit(at - 4..at, "");
    session.type_at(at - 4, "0");
    session.wait(11_000);
    let truth = session.truth(&id, TruthStage::Settled);
    assert_eq!((&*truth.text, &*truth.region, &*truth.deleted_before), ("", "0", "rate"));
    let mut session = Session::python("x = old(1)\n");
    let id = session.request(4);
    session.edit(4..7, "");
    session.type_at(4, "new");
    session.wait(11_000);
    let truth = session.truth(&id, TruthStage::Settled);
    assert_eq!((&*truth.text, &*truth.deleted), ("new", "old"));
}

#[test]
fn text_that_is_deleted_and_typed_again_is_a_reversal() {
    let mut session = Session::python("x = va\n");
    let id = session.request(6);
    session.edit(4..6, "");
    session.type_at(4, "value");
    session.edit(8..9, "");
    session.type_at(8, "e");
    session.wait(11_000);
    let truth = session.truth(&id, TruthStage::Settled);
    assert_eq!((&*truth.text, &*truth.deleted_before, truth.reversals), ("lue", "", 1));
}

#[test]
fn text_around_a_region_that_comes_back_is_outside_again() {
    let mut session = Session::python("def f(a):\n    if g(a):\n        pass\n");
    let cursor = session.at("a):") + 1;
    let id = session.request(cursor);
    session.type_at(cursor, ", b");
    // The editor undoes the word with the bracket that was there before, and redoes it.
    let at = session.at("b):");
    session.edit(at..at + 2, "");
    session.edit(at..at, "b)");
    session.type_at(at + 2, " -> int");
    session.save();
    let truth = session.truth(&id, TruthStage::Save);
    assert_eq!((&*truth.text, &*truth.region, &*truth.deleted), (", b", ", b", ""));
    assert_eq!(session.text, "def f(a, b) -> int:\n    if g(a):\n        pass\n");
}

#[test]
fn a_region_survives_renaming_and_reopening() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "1");
    session.send(EventKind::Closed { document: "a".into() });
    session.send(EventKind::Renamed { from: "a".into(), to: "b".into() });
    let text = session.text.replacen("def price", "# moved\n\ndef price", 1);
    let language = Some(Language::Python);
    session.send(opened("b", language, &text));
    let end = text.find("rate = 1").expect("it is there") + 8;
    session.send(EventKind::Edited {
        document: "b".into(),
        edits: vec![Edit { range: end..end, text: "5".to_owned() }],
    });
    session.wait(11_000);
    assert_eq!(session.truths(&id), [(TruthStage::Settled, "15")]);
}

#[test]
fn regions_that_a_program_replaces_are_lost() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "1");
    session.wait(3_000);
    session.send(EventKind::ChangedOnDisk { document: "a".into() });
    let text = SHOP.replace("    rate = \n    return rate\n", "    return item.price\n");
    session.edit(0..session.text.len(), &text);
    assert_eq!(session.row(&id).lost, Some(LossReason::External));
    let other = session.request(session.at("return 0") + 8);
    session.edit(0..0, "# 1\n");
    session.wait(3_000);
    session.send(EventKind::ChangedOnDisk { document: "a".into() });
    session.edits(&[(0..3, "# 2"), (4..4, "import x\nimport y\n")]);
    session.wait(11_000);
    assert_eq!(session.row(&other).lost, None, "the change was at another place");
    session.send(EventKind::Desynchronized { document: "a".into() });
    assert_eq!(session.row(&other).lost, Some(LossReason::Inconsistent));
}

#[test]
fn only_text_that_is_in_a_commit_is_committed() {
    let mut session = Session::python(SHOP);
    let first = session.request(session.at("rate = ") + 7);
    session.type_at(session.at("rate = ") + 7, "item.rate");
    let staged = session.text.clone();
    let second = session.request(session.at("return 0") + 8);
    session.type_at(session.at("return 0") + 8, " + 1");
    let third = session.request(session.at("return rate") + 11);
    session.wait(11_000);
    session.commit_text(SHOP);
    session.commit_text("");
    for id in [&first, &second] {
        assert!(session.row(id).truths.iter().all(|truth| truth.stage != TruthStage::Commit));
    }
    // A part of the file is staged, with the line ends of the repository.
    session.commit_text(&staged);
    assert_eq!(session.truth(&first, TruthStage::Commit).text, "item.rate");
    assert_eq!(session.truth(&third, TruthStage::Commit).text, "", "nothing was needed");
    assert!(session.row(&second).truths.iter().all(|truth| truth.stage != TruthStage::Commit));
    let unwritten = session.request(session.at("def total"));
    session.commit();
    assert_eq!(session.truth(&second, TruthStage::Commit).text, " + 1");
    assert!(!session.rows.contains_key(&unwritten), "the developer may be thinking");
}

#[test]
fn similar_functions_do_not_contain_the_truth() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    let item = |path: &str, text: &str| ContextItem {
        path: path.to_owned(),
        start_line: 0,
        end_line: 1,
        text: text.to_owned(),
        strategy: "functions".to_owned(),
        score: 1.0,
    };
    let functions = ["r = item . rate*2", "a()", "b()", "c()", "d()"];
    session.send(EventKind::Gathered(Box::new(GatheredContext {
        request: 1,
        context: vec![item("pool.py", "x")],
        similar_functions: functions.map(|text| item("shop.py", text)).to_vec(),
    })));
    let texts = |session: &Session| -> Vec<String> {
        session.row(&id).similar_functions.iter().map(|item| item.text.clone()).collect()
    };
    assert_eq!(texts(&session), functions[..3]);
    session.type_at(at, "item.rate * 2");
    session.wait(11_000);
    assert_eq!(texts(&session), functions[1..4]);
    assert_eq!(session.row(&id).context[0].path, "pool.py");
}

#[test]
fn an_opportunity_stays_where_the_engine_was_asked() {
    let mut session = Session::python("x = \ny = \n");
    let id = session.request(4);
    session.ask();
    session.type_at(4, "v");
    // It waits for the answer to the first request, and shows the rest of it.
    session.request(5);
    let late = AnswerEvent {
        request: 1,
        answers: vec![arm_answer("a", "value")],
        items: Vec::new(),
        context: Vec::new(),
        decisions: Vec::new(),
    };
    session.send(EventKind::Answered(Box::new(late)));
    session.answer(&[("a", "alue")]);
    session.wait(1_000);
    session.type_at(5, "alue");
    session.wait(11_000);
    let row = session.row(&id);
    assert_eq!((row.requests, &*row.cursor.prefix, &*row.answers[0].text), (2, "x = ", "value"));
    assert_eq!((row.answers.len(), row.outcome.kind), (1, cases::OutcomeKind::TypedThrough));
}

#[test]
fn an_opportunity_moves_when_its_question_is_asked_again() {
    let mut session = Session::python("x = \ny = \n");
    let id = session.request(4);
    session.ask();
    session.type_at(4, "w");
    session.request(5);
    assert!(session.recorder.takes_answers_of(1) && !session.recorder.takes_answers_of(2));
    session.ask();
    assert!(!session.recorder.takes_answers_of(1) && session.recorder.takes_answers_of(2));
    session.answer(&[("a", "idth")]);
    session.type_at(5, "idth");
    session.wait(11_000);
    let row = session.row(&id);
    assert_eq!((row.requests, &*row.cursor.prefix, &*row.answers[0].text), (2, "x = w", "idth"));
    assert_eq!(session.truths(&id), [(TruthStage::Settled, "idth")]);
}

#[test]
fn one_thought_is_one_opportunity() {
    let mut session = Session::python("x = \ny = \n");
    let first = session.request(4);
    session.type_at(4, "v");
    session.request(5);
    session.answer(&[("a", "alue + 1")]);
    session.type_at(5, "a");
    session.request(6);
    session.answer(&[("a", "lue + 1")]);
    session.wait(1_000);
    session.type_at(6, "lue + 2");
    session.wait(11_000);
    assert_eq!(session.rows.len(), 1);
    let row = session.row(&first);
    assert_eq!((row.requests, &*row.cursor.prefix, &*row.answers[0].text), (3, "x = v", "alue + 1"));
    assert_eq!(session.truths(&first), [(TruthStage::Settled, "alue + 2")]);
    let other = session.request(session.at("y = ") + 4);
    session.wait(11_000);
    assert_eq!(session.row(&other).requests, 1);
}

#[test]
fn the_number_of_opportunities_is_bounded() {
    let mut session = Session::python(&"x = 1\n".repeat(1_000));
    for line in 0..1_000 {
        session.time += 10;
        session.request(line * 6 + 5);
        assert!(session.recorder.open_opportunities() <= RecorderSettings::default().max_open);
    }
    let lost = session.rows.values().filter(|row| row.lost == Some(LossReason::Evicted)).count();
    assert_eq!(lost, 1_000 - RecorderSettings::default().max_open);
}

/// Eight hours in files that are not committed: what the recorder keeps depends on its limits, not on the hours.
#[test]
fn a_day_of_typing_keeps_no_more_than_the_limits() {
    let mut session = Session::python("");
    for number in 0..600_u64 {
        let document: DocumentKey = format!("{number}.py").into();
        let text = format!("x_{number} = \n").repeat(200);
        session.send(opened(&document, Some(Language::Python), &text));
        for key in 0..4 {
            let (request, id) = (number * 4 + key, format!("{number}-{key}"));
            let (offset, opportunity) = (text.find('\n').unwrap_or(0), row(&id, Trigger::Automatic));
            let event = RequestEvent { request, document: document.clone(), offset, opportunity };
            session.send(EventKind::Requested(Box::new(event)));
            session.wait(4_000);
            let edits = vec![Edit { range: offset..offset, text: format!("{key} + ") }];
            session.send(EventKind::Edited { document: document.clone(), edits });
        }
        session.send(EventKind::Saved { document: document.clone() });
        session.send(EventKind::Closed { document });
        session.wait(32_000);
    }
    let recorder = &session.recorder;
    let sizes = [recorder.documents.len(), recorder.requests.len()];
    assert!(sizes[0] <= MAX_CLOSED + 1 && sizes[1] <= MAX_REQUESTS, "{sizes:?}");
    assert!(recorder.open_opportunities() <= RecorderSettings::default().max_open);
    let followed = recorder.documents.values().flat_map(|document| &document.open);
    let bytes: usize = followed.map(OpenOpportunity::bytes).sum();
    assert!(bytes <= RecorderSettings::default().max_bytes, "{bytes}");
    assert!(session.rows.values().all(|row| row.truth().is_some()), "no truth is lost");
}

#[test]
fn a_clock_that_goes_backwards_takes_no_truth_early() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "1");
    for time in [50, u64::MAX / 2, 70, 80, 9_000] {
        session.time = time;
        session.send(EventKind::Tick);
    }
    session.wait(40_000);
    let row = session.row(&id);
    assert!(row.truths.iter().all(|truth| truth.text == "1" && truth.at >= 0.0), "{row:?}");
}

#[test]
fn opportunities_continue_after_a_restart() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "item.rate");
    session.wait(11_000);
    let unwritten = session.request(session.at("return rate") + 11);
    session.answer(&[("a", "+ 1")]);
    let half_written = session.request(session.at("return 0") + 8);
    session.answer(&[("a", "+ 1")]);
    session.type_at(session.at("return 0") + 8, " + 2");
    let rows = earlier(&session, 60_000);
    let mut text = session.text.clone();
    text.insert_str(0, "import x\n");
    let mut next = Session::python(&text);
    let lost = next.recorder.resume("a", rows, 2_000);
    assert_eq!(
        lost.iter().map(|row| (&*row.id, row.lost)).collect::<Vec<_>>(),
        [(&*half_written, Some(LossReason::Interrupted))],
        "whether the developer has written it is not known"
    );
    next.type_at(next.at("return rate") + 11, " * 3");
    next.type_at(next.at("item.rate") + 4, "s[0]");
    next.wait(11_000);
    assert_eq!(next.truths(&id), [(TruthStage::Settled, "items[0].rate")]);
    assert_eq!(next.truths(&unwritten), [(TruthStage::Settled, " * 3")]);
    assert!(next.truth(&id, TruthStage::Settled).at > 10_000.0);
}

#[test]
fn text_typed_at_the_end_after_a_restart_belongs_to_the_truth() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "item.ra");
    session.wait(11_000);
    assert_eq!(session.truths(&id), [(TruthStage::Settled, "item.ra")]);
    let mut next = Session::python(&session.text);
    assert_eq!(next.recorder.resume("a", earlier(&session, 60_000), next.time), []);
    next.type_at(at + "item.ra".len(), "te * 2");
    next.wait(11_000);
    assert_eq!(next.truths(&id), [(TruthStage::Settled, "item.rate * 2")]);
}

#[test]
fn a_request_after_a_restart_is_an_opportunity_of_its_own() {
    let mut session = Session::python(SHOP);
    let at = session.at("return rate") + 11;
    let first = session.request(at);
    session.answer(&[("a", " + 1")]);
    let mut next = Session::python(SHOP);
    next.requests = 1;
    assert_eq!(next.recorder.resume("a", earlier(&session, 3_000), next.time), []);
    let second = next.request(at);
    next.answer(&[("a", " + 2")]);
    next.type_at(at, " * 3");
    next.wait(11_000);
    for (id, answer) in [(&first, " + 1"), (&second, " + 2")] {
        let row = next.row(id);
        let answers: Vec<&str> = row.answers.iter().map(|answer| &*answer.text).collect();
        assert_eq!((row.requests, answers), (1, vec![answer]));
        assert_eq!(next.truths(id), [(TruthStage::Settled, " * 3")]);
    }
}

#[test]
fn exposure_outlives_a_restart() {
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.answer(&[("a", "0.2")]);
    session.send(EventKind::Shown { item: 10 });
    session.type_at(at, "item.rate");
    session.wait(11_000);
    assert_eq!(session.row(&id).exposure, Exposure::Shown);
    let mut next = Session::python(&session.text);
    next.recorder.resume("a", earlier(&session, 60_000), next.time);
    next.commit();
    assert_eq!(next.truth(&id, TruthStage::Commit).text, "item.rate");
    assert_eq!(next.row(&id).exposure, Exposure::Shown);
}

#[test]
fn a_commit_from_before_an_opportunity_is_only_checked_out() {
    let mut session = Session::python(SHOP);
    let id = session.request(session.at("return rate") + 11);
    session.wait(11_000);
    assert_eq!(session.truths(&id), [(TruthStage::Settled, "")]);
    session.commit_made_ago(SHOP, 13_000);
    assert!(session.row(&id).truths.iter().all(|truth| truth.stage != TruthStage::Commit));
    session.type_at(session.at("return rate") + 11, " * 2");
    session.wait(11_000);
    assert_eq!(session.truths(&id), [(TruthStage::Settled, " * 2")]);
    // The time of a commit has no fractions of a second.
    session.commit_made_ago(&session.text.clone(), session.time + 1);
    assert!(session.row(&id).truths.iter().all(|truth| truth.stage != TruthStage::Commit));
    session.commit_made_ago(&session.text.clone(), 1_000);
    assert_eq!(session.truth(&id, TruthStage::Commit).text, " * 2");
}

#[test]
fn text_after_a_long_pause_is_recorded() {
    let mut session = Session::python("x = \n");
    session.wait(60_000);
    let id = session.request(4);
    session.wait(2_000);
    session.type_at(4, "one");
    session.wait(11_000);
    assert_eq!(session.truth(&id, TruthStage::Settled).text, "one");
}

#[test]
fn a_missing_suggestion_waits_for_its_text() {
    let mut session = Session::python("x = \n");
    let id = session.request_as(4, Trigger::ShouldHaveSuggested);
    session.wait(120_000);
    session.type_at(4, "on");
    session.request(6);
    session.type_at(6, "e");
    session.wait(11_000);
    assert_eq!(session.truth(&id, TruthStage::Settled).text, "one");
    let row = session.row(&id);
    assert_eq!((row.trigger, row.cursor.offset), (Trigger::ShouldHaveSuggested, 4));
}

/// Counts of the process: nextest runs each test in its own.
#[test]
fn a_text_is_parsed_once_for_completions_and_truths() {
    let parses = || syntax::parse_counts().parses;
    let mut session = Session::python(SHOP);
    let at = session.at("rate = ") + 7;
    let id = session.request(at);
    session.type_at(at, "1");
    let before = parses();
    session.syntax.tree(Language::Python, &session.text.as_str().into());
    assert_eq!(parses() - before, 1);
    session.save();
    assert_eq!(session.truth(&id, TruthStage::Save).text, "1");
    assert_eq!(parses() - before, 1, "the truth is cut by the tree of the completion");

    session.type_at(at + 1, "2");
    let before = parses();
    session.save();
    assert_eq!(session.truth(&id, TruthStage::Save).text, "12");
    let text = session.text.as_str().into();
    session.syntax.tree(Language::Python, &text);
    assert_eq!(parses() - before, 1, "the completion finds the tree of the truth");
}
