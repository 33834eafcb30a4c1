//! The arms of a live trial: which of them answer, which is shown, and what is counted.

use cases::{
    ArmAnswer, ArmRole, AssignmentUnit, DecisionKind, Opportunity, OutcomeKind, Status, TrialArm,
    TrialDefinition, TrialMode,
};
use mock::{Latch, MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use tests::{Project, wait_until};

use super::editor::{Editor, find, items, setup};
use super::exposure::accept;
use super::handshake::wait_until_ready;
use super::trial::{SHOP, SUGGESTION, definition, folder, rows};
use crate::settings::user_file;

/// What the arm in shadow suggests.
const RIVAL: &str = "return price * rate";

fn event(piece: &str, is_last: bool) -> Vec<u8> {
    format!("data: {}\n\n", json!({"content": piece, "stop": is_last})).into_bytes()
}

fn answer() -> Reply {
    Reply::stream("text/event-stream").chunk(&event(RIVAL, false)).chunk(&event("", true)).end()
}

/// A server that answers when the latch is open.
fn slow_server() -> (MockServer, Latch) {
    let latch = Latch::default();
    let gate = latch.clone();
    (MockServer::scripted(move |_| answer().preceded_by(ReplyStep::Wait(gate.clone()))), latch)
}

fn engine(name: &str, url: &str) -> String {
    format!(
        "[[engine]]\nname = \"{name}\"\nkind = \"llama-cpp\"\nurl = \"{url}\"\nfim = \"server\"\ncontext_window = 8192\n"
    )
}

fn arm(name: &str, requests_per_day: u32) -> TrialArm {
    TrialArm { requests_per_day: Some(requests_per_day), ..TrialArm::new(name.to_owned()) }
}

fn start(project: &Project, definition: &TrialDefinition) {
    trial::definition::write_definition(&folder(project), definition).expect("the definition is written");
}

fn stop(project: &Project, editor: &Editor, definition: &TrialDefinition) {
    start(
        project,
        &TrialDefinition { stopped_at: Some("2026-01-02T00:00:00Z".to_owned()), ..definition.clone() },
    );
    wait_until("no trial runs", || editor.status()["trial"] == Value::Null);
}

/// An editor with the scripted engine, in whose project a trial runs.
fn editor(project: &Project) -> Editor {
    let files = ["shop.py", "till.py", "a.py", "b.py", "c.py", "d.py", "e.py", "f.py"];
    let rules: Vec<Value> = files.iter().map(|path| json!({"path": path, "text": SUGGESTION})).collect();
    let editor = Editor::start(project, &["--scripted", &json!(rules).to_string()], setup(project));
    // An answer is not used again once the workspace is read.
    wait_until_ready(&editor);
    wait_until("the trial runs", || editor.status()["trial"]["name"] == "first");
    editor
}

/// Asks in a new document, and returns the items.
fn ask(editor: &Editor, path: &str) -> Vec<Value> {
    let buffer = editor.open(path, SHOP);
    let asked = editor.ask(&buffer, find(SHOP, "    \n") + 4);
    items(&editor.client.wait(asked).expect("it is answered"))
}

fn row_of(project: &Project, path: &str) -> Option<Opportunity> {
    rows(project).into_iter().find(|row| row.cursor.path == path)
}

fn answer_of(project: &Project, path: &str, arm: &str) -> Option<ArmAnswer> {
    row_of(project, path)?.answers.into_iter().find(|answer| answer.arm == arm)
}

/// Waits until an arm's answer in a file is stored.
fn stored(project: &Project, path: &str, arm: &str) -> ArmAnswer {
    wait_until("the answer is stored", || answer_of(project, path, arm).is_some());
    answer_of(project, path, arm).expect("it is stored")
}

#[test]
fn arms_in_shadow_answer_the_same_and_delay_nothing() {
    let project = Project::new("");
    let (slow, latch) = slow_server();
    let failing = MockServer::scripted(|_| Reply::json(400, &json!({"error": "no"})));
    user_file(&project, &[engine("slow", &slow.url()), engine("failing", &failing.url())].concat());
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("slow", 10), arm("failing", 10)],
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    // The slow arm has not answered, and cannot before the latch is open.
    assert_eq!(ask(&editor, "shop.py").len(), 1);
    wait_until("it is asked", || slow.log().requests == 1);
    let failed = stored(&project, "shop.py", "failing");
    assert_eq!((failed.role, failed.status), (ArmRole::Shadow, Status::Error));
    assert_eq!(ask(&editor, "till.py").len(), 1);
    assert_eq!(answer_of(&project, "shop.py", "slow"), None);
    latch.open();
    let answer = stored(&project, "shop.py", "slow");
    assert_eq!((answer.role, answer.status, &*answer.text), (ArmRole::Shadow, Status::Ok, RIVAL));
    assert!(answer.ms.total > 0.0 && !answer.cached, "{answer:?}");
    // The second question has waited for the first one.
    assert_eq!(stored(&project, "till.py", "slow").text, RIVAL);
    editor.client.exit();
    let row = row_of(&project, "shop.py").expect("it is stored");
    let found: Vec<_> = row.answers.iter().map(|answer| (&*answer.arm, answer.role)).collect();
    assert_eq!(found[0], ("scripted", ArmRole::Shown));
    assert_eq!((found.len(), row.mode, &*row.answers[0].text), (3, TrialMode::Shadow, SUGGESTION));
    assert_eq!(slow.log().requests, 2);
}

#[test]
fn arms_in_shadow_are_asked_when_the_shown_arm_is_asked() {
    let project = Project::new("");
    let (slow, latch) = slow_server();
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &[engine("slow", &slow.url()), engine("rival", &rival.url())].concat());
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("slow", 10), arm("rival", 10)],
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    let first = editor.ask(&buffer, cursor);
    wait_until("both are asked before one has answered", || {
        (slow.log().requests, rival.log().requests) == (1, 1)
    });
    // The developer types along the answer that is under way: there is no other question.
    editor.change(buffer.edit(cursor..cursor, "r"));
    let second = editor.ask(&buffer, cursor + 1);
    latch.open();
    editor.client.wait(first).expect("it is answered");
    assert_eq!(items(&editor.client.wait(second).expect("it is answered")).len(), 1);
    editor.change(buffer.edit(cursor + 1..cursor + 1, "e"));
    let reused = editor.ask(&buffer, cursor + 2);
    assert_eq!(items(&editor.client.wait(reused).expect("it is answered")).len(), 1);
    stored(&project, "shop.py", "rival");
    stored(&project, "shop.py", "slow");
    editor.client.exit();
    let rows = rows(&project);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    // All arms answer at the cursor at which they were asked.
    assert_eq!((row.requests, row.cursor.offset), (3, cursor));
    let found: Vec<_> =
        row.answers.iter().map(|answer| (&*answer.arm, answer.role, &*answer.text, answer.cached)).collect();
    assert_eq!(found, [("slow", ArmRole::Shown, RIVAL, false), ("rival", ArmRole::Shadow, RIVAL, false)]);
    assert_eq!((slow.log().requests, rival.log().requests), (1, 1));
}

#[test]
fn an_answer_from_the_cache_is_paired_with_the_arms_in_shadow() {
    let project = Project::new("");
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &engine("rival", &rival.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("rival", 10)],
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    let buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    // The developer looks elsewhere, and comes back.
    for (number, place) in [cursor, SHOP.len(), cursor].into_iter().enumerate() {
        editor.client.wait(editor.ask(&buffer, place)).expect("it is answered");
        wait_until("the arm in shadow has answered", || {
            let is_paired = |row: &Opportunity| row.answers.iter().any(|answer| answer.arm == "rival");
            rows(&project).iter().filter(|row| is_paired(row)).count() == number + 1
        });
    }
    assert_eq!(editor.status()["lastCompletion"]["status"], "reused");
    editor.client.exit();
    let rows = rows(&project);
    let [first, _, again] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((first.cursor.offset, again.cursor.offset), (cursor, cursor));
    let found: Vec<_> = again
        .answers
        .iter()
        .map(|answer| (&*answer.arm, answer.role, &*answer.text, answer.cached))
        .collect();
    let expected = [("scripted", ArmRole::Shown, SUGGESTION, true), ("rival", ArmRole::Shadow, RIVAL, false)];
    assert!(expected.iter().all(|answer| found.contains(answer)) && found.len() == 2, "{found:?}");
    assert_eq!(rival.log().requests, 3);
}

#[test]
fn a_duel_asks_both_arms_or_none() {
    let project = Project::new("");
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &engine("rival", &rival.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Duel,
        arms: vec![arm("scripted", 10), arm("rival", 1)],
        salt: "salt".to_owned(),
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    assert_eq!(["a.py", "b.py", "c.py"].map(|path| ask(&editor, path).len()), [2, 0, 0]);
    let refused = ["scripted", "rival"].map(|arm| stored(&project, "c.py", arm));
    editor.client.exit();
    assert!(refused.iter().all(|answer| answer.status == Status::Gated), "{refused:?}");
    let reasons = refused.map(|answer| answer.reason.unwrap_or_default());
    assert_eq!(reasons, ["the other arm: limit of 1 request a day", "limit of 1 request a day"]);
    let usage = std::fs::read_dir(folder(&project)).expect("a folder").flatten().find_map(|entry| {
        let is_usage = entry.file_name().to_string_lossy().starts_with("usage-");
        is_usage.then(|| std::fs::read_to_string(entry.path()).expect("it can be read"))
    });
    let usage = usage.expect("requests are counted");
    let counted = ["\"scripted\"", "\"rival\""].map(|arm| usage.matches(arm).count());
    assert_eq!((counted, rival.log().requests), ([1, 1], 1), "{usage}");
}

#[test]
fn a_duel_offers_both_answers_without_names_and_records_the_choice() {
    let project = Project::new("");
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &engine("rival", &rival.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Duel,
        arms: vec![arm("scripted", 10), arm("rival", 10)],
        salt: "salt".to_owned(),
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    let files = ["a.py", "b.py", "c.py", "d.py", "e.py"];
    let cursor = find(SHOP, "    \n") + 4;
    for (number, path) in files.into_iter().enumerate() {
        let mut buffer = editor.open(path, SHOP);
        let answered = editor.client.wait(editor.ask(&buffer, cursor)).expect("it is answered");
        assert!(!answered.to_string().contains("rival") && !answered.to_string().contains("scripted"));
        let offered = items(&answered);
        let mut texts: Vec<&str> =
            offered.iter().map(|item| item["insertText"].as_str().expect("it is a text")).collect();
        editor.client.notify("textDocument/didShowCompletion", json!({"item": offered[0]}));
        // The second item is accepted, or neither.
        if number > 0 {
            editor.change(buffer.edit(cursor..cursor, texts[1]));
            accept(&editor, &offered[1]);
        } else {
            editor.change(buffer.edit(cursor..cursor, "x"));
        }
        texts.sort_unstable();
        assert_eq!(texts, [RIVAL, SUGGESTION]);
    }
    wait_until("all choices are stored", || {
        let decided =
            |row: &Opportunity| matches!(row.outcome.kind, OutcomeKind::Accepted | OutcomeKind::Ignored);
        rows(&project).iter().filter(|row| decided(row)).count() == files.len()
    });
    editor.client.exit();
    let mut firsts: Vec<String> = Vec::new();
    for row in rows(&project) {
        let [decision] = &row.decisions[..] else { panic!("{row:?}") };
        assert_eq!((decision.kind, decision.probability), (DecisionKind::Order, 0.5));
        let roles: Vec<_> = row.answers.iter().map(|answer| (answer.role, answer.status)).collect();
        assert_eq!(roles, [(ArmRole::Shown, Status::Ok), (ArmRole::Shown, Status::Ok)]);
        assert_eq!(row.answers[0].arm, decision.value, "the order is that of the items");
        let chosen = (row.cursor.path != "a.py").then(|| row.answers[1].arm.clone());
        assert_eq!(row.outcome.arm, chosen, "{row:?}");
        firsts.push(decision.value.clone());
    }
    let board =
        crate::trial::json(&project.run("trial scoreboard --metric preferred --json").expect_code(0).stdout);
    assert_eq!(board["arms"].as_array().map(Vec::len), Some(2));
    assert!(board["arms"].to_string().contains("engine 1"), "the names are hidden: {}", board["arms"]);
    assert_eq!((&board["duel"]["neither"], &board["pairs"][0]["cases"]), (&json!(1), &json!(5)));
    let stopped = project.run("trial stop").expect_code(0).stdout;
    assert!(stopped.contains("was rival") && stopped.contains("was scripted"), "{stopped}");
    let board = project.run("trial scoreboard --metric preferred").expect_code(0).stdout;
    assert!(board.contains("rival") && board.contains("neither"), "{board}");
}

#[test]
fn retrieved_code_is_recorded() {
    let project = Project::new("");
    project.write("other.py", "def cost_of_all(price, rate):\n    total = price * rate\n    return total\n");
    start(&project, &definition());
    let editor = editor(&project);
    wait_until("the files are indexed", || editor.status()["folders"][0]["files"] == 1);
    assert_eq!(ask(&editor, "shop.py").len(), 1);
    wait_until("the context is stored", || {
        row_of(&project, "shop.py").is_some_and(|row| !row.similar_functions.is_empty())
    });
    editor.client.exit();
    let row = row_of(&project, "shop.py").expect("it is stored");
    let found = &row.similar_functions[0];
    assert_eq!((&*found.path, found.start_line, &*found.strategy), ("other.py", 0, "functions"));
    assert!(found.score > 0.0 && row.context.iter().any(|item| item.path == "other.py"), "{row:?}");
}

#[test]
fn canary_questions_are_asked_once_and_contain_no_code() {
    let project = Project::new("");
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &engine("rival", &rival.url()));
    let arms = vec![TrialArm::new("rival".to_owned())];
    start(&project, &TrialDefinition { arms, ..definition() });
    for path in ["a.py", "b.py"] {
        let editor = editor(&project);
        ask(&editor, path);
        let file = folder(&project).join("canaries.jsonl");
        wait_until("the questions are answered", || file.exists());
        editor.client.exit();
        let rounds = std::fs::read_to_string(&file).expect("it can be read");
        assert_eq!(rounds.lines().count(), 1, "{rounds}");
    }
    assert_eq!(rival.log().requests, 2 + 4);
}

#[test]
fn a_limit_of_the_shown_arm_is_kept_and_named() {
    let project = Project::new("");
    let limited = TrialArm { requests_per_minute: Some(2), ..TrialArm::new("scripted".to_owned()) };
    start(&project, &TrialDefinition { arms: vec![limited], ..definition() });
    let editor = editor(&project);
    assert_eq!(["a.py", "b.py", "c.py"].map(|path| ask(&editor, path).len()), [1, 1, 0]);
    assert_eq!(editor.status()["lastCompletion"]["reason"], "a limit of requests to the engine is reached");
    let refused = stored(&project, "c.py", "scripted");
    assert_eq!(
        (refused.status, refused.reason.as_deref()),
        (Status::Gated, Some("limit of 2 requests a minute"))
    );
    editor.client.exit();
}

#[test]
fn busy_limited_and_stopped_arms_say_so() {
    let project = Project::new("");
    let (slow, latch) = slow_server();
    user_file(&project, &engine("slow", &slow.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("slow", 2)],
        ..definition()
    };
    start(&project, &definition);
    let first = editor(&project);
    ask(&first, "a.py");
    wait_until("it is asked", || slow.log().requests == 1);
    ask(&first, "b.py");
    ask(&first, "c.py");
    let busy = stored(&project, "b.py", "slow");
    assert_eq!(
        (busy.status, busy.reason.as_deref()),
        (Status::Gated, Some("busy with an earlier opportunity"))
    );
    latch.open();
    assert_eq!(stored(&project, "c.py", "slow").status, Status::Ok);
    ask(&first, "d.py");
    let limited = stored(&project, "d.py", "slow");
    assert_eq!(
        (limited.status, limited.reason.as_deref()),
        (Status::Gated, Some("limit of 2 requests a day"))
    );
    first.client.exit();
    let second = editor(&project);
    ask(&second, "e.py");
    assert_eq!(stored(&project, "e.py", "slow").status, Status::Gated, "a restart does not begin at zero");
    stop(&project, &second, &definition);
    assert_eq!(ask(&second, "f.py").len(), 1);
    second.client.exit();
    assert_eq!(row_of(&project, "f.py"), None);
    assert_eq!(slow.log().requests, 2);
}

#[test]
fn stopping_a_trial_cancels_what_is_asked() {
    let project = Project::new("");
    let (slow, _latch) = slow_server();
    user_file(&project, &engine("slow", &slow.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: vec![arm("scripted", 10), arm("slow", 10)],
        ..definition()
    };
    start(&project, &definition);
    let editor = editor(&project);
    ask(&editor, "a.py");
    wait_until("it is asked", || slow.log().requests == 1);
    stop(&project, &editor, &definition);
    wait_until("the request is cancelled", || slow.log().disconnected == 1);
    assert_eq!(stored(&project, "a.py", "slow").status, Status::Cancelled);
    ask(&editor, "b.py");
    editor.client.exit();
    assert_eq!(slow.log().requests, 1);
}

#[test]
fn a_holdout_shows_nothing_and_keeps_the_answer() {
    let project = Project::new("");
    let holdout = 0.999_999;
    start(&project, &TrialDefinition { arms: vec![arm("scripted", 10)], holdout, ..definition() });
    let editor = editor(&project);
    assert_eq!(ask(&editor, "shop.py"), Vec::<Value>::new());
    assert_eq!(editor.status()["lastCompletion"]["reason"], "held out by the trial");
    stored(&project, "shop.py", "scripted");
    editor.client.exit();
    let row = row_of(&project, "shop.py").expect("it is stored");
    let [answer] = &row.answers[..] else { panic!("{row:?}") };
    assert_eq!((answer.role, answer.status, &*answer.text), (ArmRole::Held, Status::Ok, SUGGESTION));
    assert_eq!(row.outcome.kind, OutcomeKind::NotShown);
    let [decision] = &row.decisions[..] else { panic!("{row:?}") };
    assert_eq!(
        (decision.kind, &*decision.value, decision.probability),
        (DecisionKind::Holdout, "hidden", holdout)
    );
}

#[test]
fn a_suggestion_that_was_rejected_twice_is_not_shown_and_its_answer_is_kept() {
    let project = Project::new("");
    start(&project, &TrialDefinition { arms: vec![arm("scripted", 10)], ..definition() });
    let editor = editor(&project);
    let buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    let ask = || items(&editor.client.wait(editor.ask(&buffer, cursor)).expect("it is answered")).len();
    for _ in 0..2 {
        assert_eq!(ask(), 1);
        editor.dismiss(&buffer, "rejected");
    }
    assert_eq!(ask(), 0);
    assert_eq!(editor.status()["lastCompletion"]["reason"], "it was rejected here before");
    editor.client.exit();
    let found: Vec<(OutcomeKind, ArmRole, String)> = rows(&project)
        .into_iter()
        .map(|row| (row.outcome.kind, row.answers[0].role, row.answers[0].text.clone()))
        .collect();
    let row = |kind| (kind, ArmRole::Shown, SUGGESTION.to_owned());
    assert_eq!(found, [OutcomeKind::Rejected, OutcomeKind::Rejected, OutcomeKind::NotShown].map(row));
}

#[test]
fn each_file_keeps_the_arm_it_was_assigned() {
    let project = Project::new("");
    let rival = MockServer::scripted(|_| answer());
    user_file(&project, &engine("rival", &rival.url()));
    let definition = TrialDefinition {
        mode: TrialMode::Assign,
        arms: vec![arm("scripted", 100), arm("rival", 100)],
        unit: AssignmentUnit::File,
        salt: "salt".to_owned(),
        ..definition()
    };
    start(&project, &definition);
    let files = ["shop.py", "till.py", "a.py", "b.py", "c.py", "d.py", "e.py", "f.py"];
    let mut seen: Vec<Vec<String>> = Vec::new();
    for _ in 0..2 {
        let editor = editor(&project);
        let shown = |path: &str| {
            let found = ask(&editor, path);
            let text = found[0]["insertText"].as_str().expect("it is a text").to_owned();
            (text.contains("return")).to_string()
        };
        seen.push(files.iter().copied().map(shown).collect());
        wait_until("the rows are stored", || rows(&project).len() == seen.len() * files.len());
        editor.client.exit();
    }
    assert_eq!(seen[0], seen[1], "also after a restart");
    let rows = rows(&project);
    assert_eq!(rows.len(), 2 * files.len());
    for row in &rows {
        let [decision] = &row.decisions[..] else { panic!("{row:?}") };
        assert_eq!((decision.kind, decision.probability), (DecisionKind::Assignment, 0.5));
        assert_eq!((row.answers.len(), &row.answers[0].arm), (1, &decision.value));
        let text = if decision.value == "rival" { RIVAL } else { SUGGESTION };
        assert_eq!(row.answers[0].text, text);
    }
}

#[test]
fn a_missing_arm_turns_the_trial_off_with_one_message() {
    let project = Project::new("");
    start(
        &project,
        &TrialDefinition {
            mode: TrialMode::Shadow,
            arms: vec![arm("scripted", 1), arm("gone", 1)],
            ..definition()
        },
    );
    let editor = editor(&project);
    assert_eq!(ask(&editor, "shop.py").len(), 1);
    let shown = editor.client.expect_notification("window/showMessage");
    let message = shown["message"].as_str().expect("a message is a text");
    assert!(message.contains("the trial `first` is off") && message.contains("`gone`"), "{message}");
    wait_until("no trial runs", || editor.status()["trial"] == Value::Null);
    assert_eq!(ask(&editor, "till.py").len(), 1);
    // At the end no message may be unread.
    editor.client.exit();
}
