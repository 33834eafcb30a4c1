//! What enters and leaves a live trial beside its own bundles: nothing that tells hidden arms, rows of Codev-Bench, examples of Zed.

use std::fs;

use cases::{BlockKind, Bundle};
use tests::Project;

use crate::settings::user_file;
use crate::trial::{bundle, json};

#[test]
fn hidden_arms_are_shown_under_other_names_and_not_exported() {
    let project = Project::generated(4);
    bundle(&project, "in.jsonl", "d1", 2);
    project.run("trial import ../in.jsonl").expect_code(0);
    project.run("trial start --arm builtin --arm empty --mode assign --name week").expect_code(0);
    for command in ["trial review --full", "trial review --full --json", "trial scoreboard --json"] {
        let shown = project.run(command).expect_code(0).stdout;
        assert!(shown.contains("engine ") && !shown.contains("builtin"), "{command}: {shown}");
    }
    for form in ["--out ../out.jsonl", "--suite ../cases.jsonl", "--otlp http://127.0.0.1:9"] {
        let refused = project.run(&format!("trial export {form} --yes")).expect_code(2);
        assert!(refused.stderr.contains("`week` is running"), "{}", refused.stderr);
    }
    assert!(!project.sibling_path("out.jsonl").exists() && !project.sibling_path("cases.jsonl").exists());
    let stopped = json(&project.run("trial stop --json").expect_code(0).stdout);
    let mut names = [0, 1].map(|arm| stopped["revealed"][arm]["name"].as_str().expect("a name").to_owned());
    names.sort_unstable();
    assert_eq!(
        (names.join(" "), &stopped["revealed"][0]["shown_as"]),
        ("builtin empty".to_owned(), &"engine 1".into())
    );
    project.run("trial export --out ../out.jsonl --yes").expect_code(0);
    let shown = project.run("trial review --trial week").expect_code(0).stdout;
    assert!(shown.contains("builtin"), "{shown}");
}

#[test]
fn cases_of_a_trial_become_rows_of_codev_bench() {
    let project = Project::generated(4);
    let path = bundle(&project, "in.jsonl", "d1", 4);
    let mut whole = Bundle::parse(&fs::read_to_string(&path).expect("a file")).expect("a bundle");
    whole.rows.iter_mut().for_each(|row| row.block_kind = Some(BlockKind::Statement));
    fs::write(&path, whole.print()).expect("written");
    project.run("trial import ../in.jsonl").expect_code(0);
    project.run("trial review --full").expect_code(0);
    project.run("trial export --suite ../cases.jsonl").expect_code(0);
    let exported =
        project.run("export ../cases.jsonl --format codev-bench --out ../rows --json").expect_code(0);
    let files = json(&exported.stdout);
    let files = files["files"].as_array().expect("a list");
    let rows: u64 = files.iter().filter_map(|file| file["rows"].as_u64()).sum();
    assert_eq!(rows, 4, "{files:?}");
    let path = project.root().join(files[0]["path"].as_str().expect("a path"));
    let text = fs::read_to_string(path).expect("a file");
    let row = json(text.lines().next().expect("a row"));
    assert_eq!(row["middle"].as_str().map(str::trim), Some("return count * zebra_price"), "{row:#}");
}

#[test]
fn examples_of_zed_are_opportunities_without_truth() {
    let project = Project::generated(2);
    let folder = project.sibling_path("evals");
    fs::create_dir(&folder).expect("created");
    let example = |path: &str| {
        format!(
            "+++\nrepository_url = \"https://host/shop\"\nrevision = \"2fec0b2\"\n+++\n\n## Cursor Position\n\n```{path}\ndef zed_total():\n    return \n    #      ^[CURSOR_POSITION]\n```\n"
        )
    };
    fs::write(folder.join("inside.md"), example("shop/module_0.py")).expect("written");
    fs::write(folder.join("outside.md"), example("../other.py")).expect("written");
    for _ in 0..2 {
        let imported = project.run("trial import ../evals --format zed --json").expect_code(0);
        assert_eq!(json(&imported.stdout)["imported"], 1);
        assert!(imported.stderr.contains("left out 1 event"), "{}", imported.stderr);
    }
    let status = json(&project.run("trial status --json").expect_code(0).stdout);
    assert_eq!(status["opportunities"], 1, "a second import replaces the row");
    let row = json(&project.run("trial review --full --json").expect_code(0).stdout);
    assert_eq!(row["cursor"]["prefix"], "def zed_total():\n    return ");
    assert_eq!((&row["commit"], row["truths"].as_array().map_or(0, Vec::len)), (&"2fec0b2".into(), 0));
    fs::write(folder.join("inside.md"), "# Nothing\n").expect("written");
    let refused = project.run("trial import ../evals --format zed").expect_code(3);
    assert!(refused.stderr.contains("inside.md") && refused.stderr.contains("line 1"), "{}", refused.stderr);
}

#[test]
fn net_values_are_those_of_the_settings_or_of_the_command_line() {
    let project = Project::generated(2);
    bundle(&project, "in.jsonl", "d1", 2);
    let weights = |command: &str| {
        let board = json(&project.run(command).expect_code(0).stdout);
        board["settings"]["weights"]["accepted"].as_f64().expect("a number")
    };
    assert_eq!(weights("trial scoreboard ../in.jsonl --json"), 0.75);
    user_file(&project, "[trial]\naccepted_value = 2\n");
    assert_eq!(weights("trial scoreboard ../in.jsonl --json"), 2.0);
    assert_eq!(weights("trial scoreboard ../in.jsonl --json --weights 3,-1,0"), 3.0);
}
