//! Live trials on the command line: start and stop, review, export, forget and merge.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cases::{
    ArmAnswer, ArmRole, BlockCut, Bundle, BundleConsent, Case, CompletionTask, EngineIdentity, Finish,
    Opportunity, OpportunityCursor, PredictionTimings, Status, Task, Trigger, Truth, TruthStage,
};
use serde_json::Value;
use tests::{Project, RunningProcess, check_out_history};

fn opportunity(number: usize, developer: &str) -> Opportunity {
    let prefix = format!("def total_{number}(orders):\n    count = len(orders)\n    ");
    let truth = "return count * zebra_price\n";
    Opportunity {
        trial: Some("week".to_owned()),
        developer: developer.to_owned(),
        session: "s1".to_owned(),
        opened_at: format!("2026-11-{:02}T08:00:00.000Z", number + 1),
        tree_hash: "9d2f".to_owned(),
        answers: vec![ArmAnswer {
            raw: truth.to_owned(),
            text: truth.to_owned(),
            finish: Finish::Stop,
            ms: PredictionTimings { gather: 1.0, first: None, total: 12.0 },
            ..ArmAnswer::empty(
                "builtin".to_owned(),
                EngineIdentity {
                    name: "builtin".to_owned(),
                    kind: "builtin".to_owned(),
                    model: "builtin".to_owned(),
                    fingerprint: "52e1".to_owned(),
                },
                ArmRole::Shown,
                Status::Ok,
            )
        }],
        task: Some(Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart))),
        truths: vec![Truth {
            stage: TruthStage::Save,
            at: 20_000.0,
            text: truth.to_owned(),
            region: truth.to_owned(),
            deleted: String::new(),
            deleted_before: String::new(),
            provenance: Vec::new(),
            reversals: 0,
            distance: None,
        }],
        ..Opportunity::new(
            format!("{developer:0>28}{number:04x}").replace(|c: char| !c.is_ascii_hexdigit(), "0"),
            Trigger::Automatic,
            OpportunityCursor {
                language: "python".to_owned(),
                path: format!("shop/module_{number}.py"),
                offset: prefix.len(),
                line: 2,
                character: 4,
                prefix,
                suffix: "\n\ndef other():\n    pass\n".to_owned(),
            },
        )
    }
}

pub(crate) fn bundle(project: &Project, name: &str, developer: &str, rows: usize) -> PathBuf {
    let rows = (0..rows).map(|number| opportunity(number, developer)).collect();
    let consent = BundleConsent {
        given_at: "2026-11-23T08:00:00Z".to_owned(),
        opportunities: 4,
        statement: "yes".to_owned(),
    };
    let bundle = Bundle::new(rows, Vec::new(), vec![consent]);
    let path = project.sibling_path(name);
    fs::write(&path, bundle.print()).expect("written");
    path
}

fn read(path: &Path) -> Bundle {
    Bundle::parse(&fs::read_to_string(path).expect("a file")).expect("a bundle")
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Returns whether any file of Ghostbench's data folder contains the text.
fn is_stored(project: &Project, text: &str) -> bool {
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }
    files(&project.home()).iter().any(|path| {
        let bytes = fs::read(path).expect("readable");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn rows_are_reviewed_exported_imported_and_forgotten() {
    let project = Project::generated(4);
    project.write("LICENSE", "MIT License\n\nCopyright\n");
    bundle(&project, "in.jsonl", "d1", 4);
    project.run("trial review").expect_code(2);
    assert_eq!(json(&project.run("trial import ../in.jsonl --json").expect_code(0).stdout)["imported"], 4);

    let refused = project.run("trial export --out ../out.jsonl --yes").expect_code(2);
    assert!(refused.stderr.contains("trial review --full"), "{}", refused.stderr);
    let short = project.run("trial review").expect_code(0);
    assert!(short.stdout.contains("zebra_price") && short.stderr.contains("in short"));
    project.run("trial export --out ../out.jsonl --yes").expect_code(2);
    let full = project.run("trial review --full --until 2026-11-03").expect_code(0);
    assert!(
        full.stdout.contains("def other():") && full.stderr.contains("2 are reviewed"),
        "{}",
        full.stderr
    );

    project.run("trial export --out ../out.jsonl").expect_code(2);
    let outcome = project.run("trial export --out ../out.jsonl --yes --consent agreed").expect_code(0);
    assert!(outcome.stderr.contains("2 are left out"), "{}", outcome.stderr);
    let exported = read(&project.sibling_path("out.jsonl"));
    assert_eq!(exported.rows, [opportunity(0, "d1"), opportunity(1, "d1")]);
    assert_eq!(exported.datasheet.licences, ["MIT"]);
    assert_eq!(exported.datasheet.consents[0].statement, "agreed");

    // Export, import and export again: the same rows.
    let other = Project::generated(4);
    fs::copy(project.sibling_path("out.jsonl"), other.sibling_path("in.jsonl")).expect("copied");
    other.run("trial import ../in.jsonl").expect_code(0);
    other.run("trial review --full --json").expect_code(0);
    other.run("trial export --out ../again.jsonl --yes").expect_code(0);
    assert_eq!(read(&other.sibling_path("again.jsonl")).rows, exported.rows);

    project.run("trial export --out ../hidden.jsonl --level structure --yes").expect_code(0);
    let hidden = fs::read_to_string(project.sibling_path("hidden.jsonl")).expect("a file");
    assert!(!hidden.contains("zebra") && !hidden.contains("shop") && hidden.contains("\"structure\":2"));

    project.run("trial forget").expect_code(2);
    project.run("trial forget . --yes --json").expect_code(2).expect_message(&["--all"]);
    project.run("trial forget --path shop/module_0.py").expect_code(2);
    let gone = project.run("trial forget --path shop/module_0.py --yes --json").expect_code(0);
    assert_eq!(json(&gone.stdout)["forgotten"], 1);
    assert!(!is_stored(&project, "def total_0(orders)") && is_stored(&project, "zebra"));
    project.run("trial forget --all --yes").expect_code(0);
    assert!(!is_stored(&project, "zebra"));
    let status = json(&project.run("trial status --json").expect_code(0).stdout);
    assert_eq!((&status["opportunities"], &status["reviewed"]), (&0.into(), &0.into()));
}

#[test]
fn opportunities_become_cases_that_replay() {
    let project = Project::generated(4);
    bundle(&project, "in.jsonl", "d1", 4);
    project.run("trial import ../in.jsonl").expect_code(0);
    project.run("trial review --full").expect_code(0);
    project.run("trial export --suite ../cases.jsonl").expect_code(0);
    let suite = fs::read_to_string(project.sibling_path("cases.jsonl")).expect("a suite");
    let cases = cases::parse_lines::<Case>(&suite).expect("cases").rows;
    assert_eq!(cases.len(), 4);
    assert!(cases.iter().all(|case| case.id == case.compute_id() && case.tags["developer"] == "d1"));
    project
        .run("replay ../cases.jsonl --workspace . --engine builtin --engine empty --out ../run")
        .expect_code(0);
    project.run("report ../run --format json").expect_code(0);
}

#[test]
fn bundles_of_developers_are_merged_with_their_developers() {
    let project = Project::generated(2);
    let (ann, bob) = (bundle(&project, "a.jsonl", "a", 3), bundle(&project, "b.jsonl", "b", 2));
    project.run("trial merge ../a.jsonl ../b.jsonl ../a.jsonl --out ../team.jsonl").expect_code(0);
    let team = read(&project.sibling_path("team.jsonl"));
    assert_eq!((team.datasheet.opportunities, team.datasheet.developers), (5, 2));
    assert!(team.rows.is_sorted_by_key(|row| row.opened_at.clone()));
    assert_eq!(read(&ann).rows.len() + read(&bob).rows.len(), team.rows.len());
    let cut = fs::read_to_string(&ann).expect("a bundle");
    fs::write(&ann, &cut[..cut.len() - 20]).expect("written");
    let failed = project.run("trial merge ../a.jsonl ../b.jsonl --out ../team.jsonl").expect_code(3);
    assert!(failed.stderr.contains("incomplete"), "{}", failed.stderr);
    project.run("trial merge ../b.jsonl ../none.jsonl --out ../team.jsonl").expect_code(2);
    fs::write(&ann, "{}\n").expect("written");
    let failed = project.run("trial merge ../b.jsonl ../a.jsonl --out ../team.jsonl").expect_code(3);
    assert!(failed.stderr.contains("must be a datasheet"), "{}", failed.stderr);
}

#[test]
fn a_trial_names_engines_that_send_code_and_asks_once() {
    let project = Project::generated(2);
    project.write("../far.toml", "[[engine]]\nname = \"far\"\nkind = \"openai\"\nurl = \"https://models.example\"\nmodel = \"m\"\nprice_in = 1\nprice_out = 2\n[[engine]]\nname = \"near\"\nkind = \"llama-cpp\"\nurl = \"http://127.0.0.1:9\"\n");
    let start = "trial start --config ../far.toml --mode shadow --arm builtin --arm far --requests-per-day far=300 --budget-per-day far=1.5";
    let refused = project.run(start).expect_code(2);
    let line = "far: sends the file at the cursor and code of other files to models.example; at most 60 requests a minute and 300 requests a day, costs money: at most 1.5 a day";
    assert!(refused.stderr.contains(line) && refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert!(
        json(&project.run("trial status --json").expect_code(0).stdout)["trials"]
            .as_array()
            .is_some_and(Vec::is_empty)
    );
    project.run(&format!("{start} --name one --yes")).expect_code(0);
    let status = json(&project.run("trial status --json").expect_code(0).stdout);
    assert_eq!(status["trials"][0]["arms"][1]["requests_per_day"], 300);
    assert!(!project.root().join("trial.json").exists(), "nothing is written to the workspace");
    let running = project.run("trial start --arm builtin").expect_code(2);
    assert!(running.stderr.contains("trial `one` is running"), "{}", running.stderr);
    project.run("trial stop").expect_code(0);
    project.run("trial stop").expect_code(2);
    project.run("trial start --arm builtin --name one").expect_code(2);
    // Nothing leaves the machine: there is nothing to confirm.
    project.run("trial start --config ../far.toml --arm builtin --arm near --mode assign").expect_code(0);
    let status = project.run("trial status").expect_code(0).stdout;
    assert!(status.contains("(assign), running since") && status.contains("nothing is recorded"), "{status}");
    for wrong in [
        "trial start --arm builtin --arm empty",
        "trial start --arm builtin --mode shadow",
        "trial start --arm builtin --mode duel",
        "trial start --arm nothing",
        "trial start --arm builtin --weight empty=2",
        "trial start --arm builtin --holdout 1",
        "trial start",
        "trial",
    ] {
        project.run("trial stop");
        project.run(wrong).expect_code(2);
    }
}

#[test]
fn dev_data_of_continue_is_read_and_written() {
    let project = Project::generated(2);
    let root = project.root().canonicalize().expect("a folder");
    let event = |path: String, name: &str| {
        format!(
            r#"{{"eventName":"{name}","timestamp":"2026-11-20T08:00:00Z","accepted":true,"time":90,"prefix":"x = ","suffix":"\n","completion":"total()","modelName":"qwen","filepath":"{path}","completionId":"{path}"}}"#
        )
    };
    let inside = format!("file://{}/shop/module_0.py", root.display());
    let lines = [
        event(inside.clone(), "autocomplete"),
        event("file:///elsewhere/a.py".to_owned(), "autocomplete"),
        event("shop/../../secret.py".to_owned(), "autocomplete"),
        event(inside, "chat"),
    ];
    fs::write(project.sibling_path("autocomplete.jsonl"), lines.join("\n")).expect("written");
    let outcome = project.run("trial import ../autocomplete.jsonl --format continue --json").expect_code(0);
    assert_eq!(json(&outcome.stdout)["imported"], 1);
    assert!(outcome.stderr.contains("left out 3 events"), "{}", outcome.stderr);
    project.run("trial review --full").expect_code(0);
    project.run("trial export --out ../out.jsonl --format continue --yes").expect_code(0);
    let written = json(&fs::read_to_string(project.sibling_path("out.jsonl")).expect("a file"));
    assert_eq!((&written["completion"], &written["accepted"]), (&"total()".into(), &true.into()));
    fs::write(project.sibling_path("autocomplete.jsonl"), "{\n").expect("written");
    let failed = project.run("trial import ../autocomplete.jsonl --format continue").expect_code(3);
    assert!(failed.stderr.contains("line 1"), "{}", failed.stderr);
}

/// A simulated developer types the commits of a real repository into the language server; the truths must be the added texts. These
/// histories together have more than 2,000 opportunities in eight languages. The server is killed once in each.
fn simulate(history: &str, language: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(tree) = check_out_history(folder.path(), history) else { return };
    let project = Project::new("");
    let command = format!("trial simulate {} --opportunities 260 --kills 1 --json", tree.display());
    let outcome = RunningProcess::start(project.ghostbench(&command))
        .wait_at_most(Duration::from_secs(580))
        .expect_code(0);
    let results: Value = serde_json::from_str(&outcome.stdout).expect("JSON alone");
    let all = &results["all"];
    let count = |counts: &Value, key: &str| counts[key].as_u64().expect("a number");
    let silently_wrong = ["wrong", "wrong_provenance", "silent"].map(|key| count(all, key));
    assert_eq!(silently_wrong, [0, 0, 0], "{results:#}");
    assert!(count(all, "right") * 100 >= count(all, "with_truth") * 95, "{all:#}");
    // A kill loses what was being written.
    assert!(count(all, "with_truth") * 100 >= count(all, "opportunities") * 80, "{all:#}");
    assert!(count(all, "right") >= 250, "{all:#}");
    assert!(count(&results["languages"][language], "right") >= 20, "{results:#}");
    assert!(results["answers"]["slow ok"].as_u64() >= Some(50), "{results:#}");
}

#[test]
fn golden_truths_are_the_commits_of_click() {
    simulate("click", "python");
}

#[test]
fn golden_truths_are_the_commits_of_fd() {
    simulate("fd", "rust");
}

#[test]
fn golden_truths_are_the_commits_of_cobra() {
    simulate("cobra", "go");
}

#[test]
fn golden_truths_are_the_commits_of_json_java() {
    simulate("JSON-java", "java");
}

#[test]
fn golden_truths_are_the_commits_of_dotnet() {
    simulate("dotnet", "csharp");
}

#[test]
fn golden_truths_are_the_commits_of_hiredis() {
    simulate("hiredis", "c");
}

#[test]
fn golden_truths_are_the_commits_of_spdlog() {
    simulate("spdlog", "cpp");
}

#[test]
fn golden_truths_are_the_commits_of_react_redux() {
    simulate("react-redux", "typescript");
}

/// Runs git in a folder.
#[track_caller]
fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false"];
    let mut command = Command::new("git");
    let outcome = command.args(identity).args(arguments).current_dir(folder).output().expect("there is git");
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
}

/// A small commit with the system's clock: the truths are the same as with a simulated one.
#[test]
fn a_simulation_in_real_time_shows_the_same() {
    let project = Project::new("");
    let repository = project.sibling_path("repository");
    fs::create_dir_all(&repository).expect("the folder is ours");
    git(&repository, &["init", "--quiet"]);
    for text in ["def cost(price):\n    return price\n", "def cost(price):\n    tax = 2\n    return tax\n"] {
        fs::write(repository.join("shop.py"), text).expect("written");
        git(&repository, &["add", "--all"]);
        git(&repository, &["commit", "--quiet", "--message", "a change"]);
    }
    let simulate = |clock: &str| {
        let limits = "--range HEAD~1..HEAD --kills 0 --seed 1 --json";
        let command = format!("trial simulate {} {limits} {clock}", repository.display());
        let outcome = RunningProcess::start(project.ghostbench(&command))
            .wait_at_most(Duration::from_secs(120))
            .expect_code(0);
        json(&outcome.stdout)["all"].take()
    };
    let simulated = simulate("");
    let real = simulate("--real-time");
    assert!(simulated["right"].as_u64() >= Some(2), "{simulated:#}");
    for counts in [&simulated, &real] {
        assert_eq!(counts["right"], counts["with_truth"], "{counts:#}");
        assert_eq!(counts["with_truth"], counts["opportunities"], "{counts:#}");
    }
    assert_eq!(real["opportunities"], simulated["opportunities"]);
}

#[test]
fn simulation_refuses_what_is_no_history() {
    let project = Project::new("");
    project.run("trial simulate .").expect_code(2).expect_message(&["git"]);
}
