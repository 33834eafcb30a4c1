//! Settings from the command line: sources, trust, and messages.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tests::{ProcessOutcome, Project, RunningProcess};

use crate::run_rows;

/// Two engines without installation, and an invalid key.
pub(crate) const TWO_ENGINES: &str = "\
[[engine]]
name = \"mine\"
kind = \"builtin\"

[[engine]]
name = \"plain\"
kind = \"builtin\"
method = \"nearest-line\"
";

/// Writes the user's own file and returns its path.
#[track_caller]
pub(crate) fn user_file(project: &Project, text: &str) -> PathBuf {
    let folder = if cfg!(windows) { project.home() } else { project.home().join(".config") };
    let path = folder.join("ghostbench").join("config.toml");
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the home is ours");
    fs::write(&path, text).expect("the home is ours");
    path
}

/// Runs `ghostbench doctor`; returns its JSON, and checks its exit code.
#[track_caller]
fn doctor(project: &Project, arguments: &str, code: i32) -> Value {
    let outcome = project.run(&format!("doctor --json {arguments}")).expect_code(code);
    serde_json::from_str(&outcome.stdout).expect("standard output is JSON alone")
}

/// A row of `settings`.
#[track_caller]
fn setting<'a>(report: &'a Value, key: &str) -> &'a Value {
    let settings = report["settings"].as_array().expect("a list");
    settings.iter().find(|setting| setting["key"] == key).unwrap_or_else(|| panic!("no {key} in {report}"))
}

/// A row of `engines`.
#[track_caller]
fn engine<'a>(report: &'a Value, name: &str) -> &'a Value {
    let engines = report["engines"].as_array().expect("a list");
    engines.iter().find(|engine| engine["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// Names of the engines of a run.
fn engines_of(project: &Project, run: &str) -> Vec<String> {
    let run = run_rows::run(&project.sibling_path(run));
    run.engines.into_iter().map(|config| config.engine.name).collect()
}

#[test]
fn doctor_reports_defaults_without_settings_files() {
    let project = Project::generated(2);
    let outcome = project.run("doctor").expect_code(0);
    for word in ["completion.deadline_ms", "5000", "default", "builtin", "not there", "trust.json"] {
        assert!(outcome.stdout.contains(word), "no {word} in {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains("Problems"), "{}", outcome.stdout);
    let report = doctor(&project, "", 0);
    assert_eq!(report["problems"], serde_json::json!([]));
    assert_eq!(setting(&report, "strategy")["layer"], "default");
}

#[test]
fn setting_comes_from_the_highest_priority_layer() {
    let project = Project::generated(2);
    let user = user_file(
        &project,
        "[context]\nstrategy = \"none\"\nbudget_tokens = 1\n[completion]\ndeadline_ms = 1\n",
    );
    let workspace =
        project.write("ghostbench.toml", "[context]\nbudget_tokens = 2\n[completion]\ndeadline_ms = 2\n");
    fs::write(project.sibling_path("ci.toml"), "[completion]\nmin_confidence = 0.5\n")
        .expect("the folder is ours");
    let mut command = project.ghostbench("doctor --json --config ../ci.toml");
    command.env("GHOSTBENCH_COMPLETION_DEADLINE_MS", "3");
    let outcome = RunningProcess::start(command).wait().expect_code(0);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("standard output is JSON alone");
    let strategy = setting(&report, "strategy");
    assert_eq!((&strategy["value"], &strategy["line"]), (&"\"none\"".into(), &2.into()));
    assert_eq!(strategy["file"], user.to_str().expect("the path is text"));
    let budget = setting(&report, "budget_tokens");
    assert_eq!((&budget["value"], &budget["layer"]), (&"2".into(), &"workspace file".into()));
    let real = workspace.canonicalize().expect("the file is there");
    assert_eq!(budget["file"], real.to_str().expect("the path is text"));
    let deadline = setting(&report, "deadline_ms");
    assert_eq!(deadline["variable"], "GHOSTBENCH_COMPLETION_DEADLINE_MS");
    assert_eq!(setting(&report, "min_confidence")["layer"], "--config");
}

#[test]
fn configured_engines_run_by_default_and_by_name() {
    let project = Project::generated(3);
    user_file(&project, TWO_ENGINES);
    project.run("try . --cases 5 --out ../all").expect_code(0);
    let all = engines_of(&project, "all");
    assert_eq!(all[..2], ["mine", "plain"]);
    project.run("try . --cases 5 --engine plain --engine empty --out ../named").expect_code(0);
    assert_eq!(engines_of(&project, "named")[..2], ["plain", "empty"]);
    project.run("replay ../all/cases.jsonl --engine mine --out ../replayed").expect_code(0);
    assert_eq!(engines_of(&project, "replayed"), ["mine"]);
    let outcome = project.run("try . --engine mnie").expect_code(2);
    outcome.expect_message(&["there is no engine `mnie`", "mine, plain, builtin"]);
}

#[test]
fn engine_without_its_program_is_reported_and_skipped() {
    let project = Project::generated(3);
    user_file(
        &project,
        &format!(
            "{TWO_ENGINES}[[engine]]\nname = \"later\"\nkind = \"lsp\"\ncommand = [\"no-such-program\"]\n"
        ),
    );
    let outcome = project.run("try . --cases 5 --out ../run").expect_code(0);
    outcome.expect_message(&["engine `later` is not asked", "there is no program `no-such-program`"]);
    assert_eq!(engines_of(&project, "run")[..2], ["mine", "plain"]);
    project.run("try . --engine later").expect_code(2).expect_message(&["engine `later` cannot be asked"]);
    assert_eq!(engine(&doctor(&project, "", 0), "later")["asked"], false);
}

#[test]
fn workspace_engines_run_only_with_a_trusted_unchanged_file() {
    let project = Project::generated(3);
    let file = project.write("ghostbench.toml", TWO_ENGINES);
    let report = doctor(&project, "", 0);
    assert_eq!(
        (&engine(&report, "mine")["asked"], &report["problems"][0]["severity"]),
        (&false.into(), &"untrusted".into())
    );
    let outcome = project.run("try . --cases 5 --out ../before").expect_code(0);
    outcome.expect_message(&["is not trusted", "ghostbench trust"]);
    assert_eq!(engines_of(&project, "before")[0], "builtin");
    project
        .run("try . --engine mine")
        .expect_code(2)
        .expect_message(&["engine `mine` cannot be asked", "not trusted"]);

    let outcome = project.run("trust").expect_code(0);
    assert!(outcome.stdout.contains("mine (builtin)"), "{}", outcome.stdout);
    assert_eq!(engine(&doctor(&project, "", 0), "mine")["asked"], true);
    project.run("try . --cases 5 --out ../after").expect_code(0);
    assert_eq!(engines_of(&project, "after")[..2], ["mine", "plain"]);

    fs::write(&file, format!("{TWO_ENGINES}# changed\n")).expect("the workspace is ours");
    assert_eq!(engine(&doctor(&project, "", 0), "mine")["asked"], false, "a changed file is untrusted again");
    let outcome = project.run("try . --cases 5 --out ../changed").expect_code(0);
    outcome.expect_message(&["has changed since it was trusted"]);
    assert!(trust_list_output(&project).contains("changed since"));
    fs::write(&file, TWO_ENGINES).expect("the workspace is ours");
    assert!(trust_list_output(&project).starts_with("trusted"));

    project.run("trust --remove").expect_code(0);
    assert_eq!(engine(&doctor(&project, "", 0), "mine")["asked"], false);
    assert_eq!(trust_list_output(&project), "no trusted files\n");
    assert!(project.run("trust --remove").expect_code(0).stdout.contains("was not trusted"));
}

#[track_caller]
fn trust_list_output(project: &Project) -> String {
    project.run("trust --list").expect_code(0).stdout
}

#[test]
fn file_given_by_config_option_is_trusted() {
    let project = Project::generated(3);
    project.write("ghostbench.toml", TWO_ENGINES);
    project.run("try . --cases 5 --config ghostbench.toml --out ../run").expect_code(0);
    assert_eq!(engines_of(&project, "run")[..2], ["mine", "plain"]);
}

#[test]
fn repository_settings_apply_to_subfolders() {
    let project = Project::generated(3);
    fs::create_dir(project.root().join(".git")).expect("the workspace is ours");
    project.write("ghostbench.toml", "[context]\nbudget_tokens = 7\n");
    fs::write(project.sibling_path("ghostbench.toml"), "[context]\nbudget_tokens = 8\n")
        .expect("the folder is ours");
    assert_eq!(setting(&doctor(&project, "shop", 0), "budget_tokens")["value"], "7");
    fs::remove_file(project.root().join("ghostbench.toml")).expect("the workspace is ours");
    assert_eq!(
        setting(&doctor(&project, "shop", 0), "budget_tokens")["value"],
        "1024",
        "not beyond the repository"
    );
}

#[test]
fn settings_mistakes_are_reported_with_locations() {
    let project = Project::generated(3);
    let path = user_file(&project, "[context]\nstratgy = \"none\"\nbudget_tokens = \"many\"\n[completion\n");
    let outcome = project.run("doctor").expect_code(1);
    let problem = format!("{}:2:1: unknown key `stratgy`; did you mean `strategy`?", path.display());
    assert!(outcome.stdout.contains(&problem), "no {problem} in {}", outcome.stdout);
    assert!(outcome.stdout.contains(":3:17:") && outcome.stdout.contains(":4:12:"), "{}", outcome.stdout);
    project.run("try . --cases 5 --out ../run").expect_code(0).expect_message(&[&problem]);
    project.write("ghostbench.toml", "\u{0}");
    project.run("try . --cases 5 --out ../again").expect_code(0).expect_message(&["invalid TOML"]);
}

#[test]
fn missing_or_invalid_config_option_file_is_an_error() {
    let project = Project::generated(2);
    project
        .run("try . --config nowhere.toml")
        .expect_code(2)
        .expect_message(&["nowhere.toml", "there is no such file"]);
    project.write("broken.toml", "[context]\nbudget_tokens = -1\nstrategy = 3\n");
    let outcome = project.run("replay cases.jsonl --config broken.toml");
    assert_ne!(outcome.code(), Some(0));
    project.run("mine . --config x").expect_code(2);
    let outcome = project.run("try . --config broken.toml").expect_code(2);
    outcome.expect_message(&["broken.toml:2:17", "broken.toml:3:12"]);
    project.run("try . --config .").expect_code(2).expect_message(&["it is not a regular file"]);
}

#[test]
fn trust_reports_files_it_cannot_trust() {
    let project = Project::generated(2);
    project.run("trust").expect_code(2).expect_message(&["has no ghostbench.toml"]);
    project.run("trust nowhere").expect_code(2).expect_message(&["nowhere"]);
    project.write("ghostbench.toml", "[[engine]]\nname = 3\n");
    project.run("trust").expect_code(2).expect_message(&["ghostbench.toml:2:8", "the file is not trusted"]);
    project.run("doctor nowhere").expect_code(2).expect_message(&["is not a folder"]);
    project.run("trust --list --remove").expect_code(2);
}

#[test]
fn secrets_in_settings_are_never_printed() {
    let project = Project::generated(2);
    let path = user_file(
        &project,
        "[[engine]]\nname = \"a\"\nkind = \"openai\"\nurl = \"http://me:hidden-1@h?key=hidden-2\"\napi_key_env = \"SOME_KEY\"\n\
         headers = {X-Key = \"hidden-3\", Other = \"Bearer $OTHER_KEY\"}\nproxy = \"http://me:hidden-4@p\"\nextra_body = {key = \"hidden-5\"}\napi_key = \"hidden-6\"\n",
    );
    let mut shown = String::new();
    for arguments in
        ["doctor", "doctor --json", "try . --cases 5 --out ../run", "trust --json ../config.toml"]
    {
        fs::copy(&path, project.sibling_path("config.toml")).expect("the folder is ours");
        let mut command = project.ghostbench(arguments);
        command.env("SOME_KEY", "hidden-7").env("OTHER_KEY", "hidden-8");
        let ProcessOutcome { stdout, stderr, .. } = RunningProcess::start(command).wait();
        shown.push_str(&stdout);
        shown.push_str(&stderr);
    }
    assert!(shown.contains("SOME_KEY") && shown.contains("OTHER_KEY"), "{shown}");
    assert!(!shown.contains("hidden"), "{shown}");
}

#[test]
fn invalid_trust_list_trusts_no_file_and_is_reported() {
    let project = Project::generated(2);
    project.write("ghostbench.toml", TWO_ENGINES);
    project.run("trust").expect_code(0);
    let report = doctor(&project, "", 0);
    let folders = report["folders"].as_array().expect("a list");
    let list = folders.iter().find(|folder| folder["name"] == "list of trusted files").expect("it is used");
    fs::write(list["path"].as_str().expect("a path"), "{").expect("the home is ours");
    let report = doctor(&project, "", 1);
    assert_eq!(engine(&report, "mine")["asked"], false);
    assert!(report["problems"].to_string().contains("invalid list of trusted files"), "{report}");
    project.run("trust").expect_code(3).expect_message(&["trust.json", "remove it"]);
}

#[test]
fn config_schema_prints_the_documented_schema() {
    let project = Project::new("");
    let schema = project.run("config schema").expect_code(0).stdout;
    assert_eq!(schema, include_str!("../../../docs/ghostbench.schema.json"));
}

#[test]
fn retrieve_uses_strategy_and_budget_from_settings() {
    let project = Project::generated(3);
    user_file(&project, "[context]\nstrategy = \"symbols\"\nbudget_tokens = 64\n");
    let retrieved = |arguments: &str| -> Value {
        let outcome =
            project.run(&format!("retrieve shop/module_1.py:10:5 --json {arguments}")).expect_code(0);
        serde_json::from_str(&outcome.stdout).expect("standard output is JSON alone")
    };
    let settings = retrieved("");
    assert_eq!(settings["strategies"].as_array().map(Vec::len), Some(1));
    assert_eq!(settings["strategies"][0]["strategy"], "symbols");
    assert_eq!(settings["strategies"][0]["budget"], 64);
    let options = retrieved("--strategy hybrid --budget 100");
    assert_eq!(options["strategies"][0]["strategy"], "hybrid");
    assert_eq!(options["strategies"][0]["budget"], 100);
}

/// A repository that links its settings file to a trusted one elsewhere must not get its own programs run.
#[cfg(unix)]
#[test]
fn symlink_to_trusted_settings_uses_paths_of_the_target() {
    let project = Project::generated(2);
    let trusted = project.sibling_path("trusted");
    fs::create_dir(&trusted).expect("the folder is ours");
    let settings = "[[engine]]\nname = \"a\"\nkind = \"command\"\ncommand = [\"./run.sh\"]\n";
    fs::write(trusted.join("ghostbench.toml"), settings).expect("the folder is ours");
    project.run("trust ../trusted").expect_code(0);
    std::os::unix::fs::symlink(trusted.join("ghostbench.toml"), project.root().join("ghostbench.toml"))
        .expect("the workspace is ours");
    let report = doctor(&project, "", 0);
    let settings = engine(&report, "a")["settings"].as_array().expect("a list");
    let command = settings.iter().find(|setting| setting["key"] == "command").expect("it was set");
    let real = trusted.canonicalize().expect("the folder is there").join("run.sh");
    assert_eq!(command["value"], format!("[{:?}]", real.display().to_string()));
}

#[test]
fn oversized_settings_file_is_reported_and_not_read() {
    let project = Project::generated(2);
    project.write("ghostbench.toml", format!("[context]\nstrategy = \"none\"\n{}", "#\n".repeat(40_000)));
    let report = doctor(&project, "", 1);
    let problem = report["problems"][0]["message"].as_str().unwrap_or_default();
    assert!(problem.contains("longer than 64 KiB"), "{report}");
    assert_eq!(setting(&report, "strategy")["layer"], "default");
}
