//! The scoreboard of a live trial on the command line.

use std::fs;

use tests::Project;

use crate::trial::{bundle, json};

#[test]
fn the_scoreboard_reads_the_store_or_files() {
    let project = Project::generated(4);
    let missing = project.run("trial scoreboard").expect_code(2);
    assert!(missing.stderr.contains("no recorded opportunities"), "{}", missing.stderr);
    bundle(&project, "in.jsonl", "d1", 4);
    let of_file = json(&project.run("trial scoreboard ../in.jsonl --json").expect_code(0).stdout);
    assert_eq!((&of_file["opportunities"], &of_file["arms"][0]), (&4.into(), &"builtin".into()));
    project.run("trial import ../in.jsonl").expect_code(0);
    assert_eq!(json(&project.run("trial scoreboard --json").expect_code(0).stdout), of_file);
    let other = json(&project.run("trial scoreboard --trial other --json").expect_code(0).stdout);
    assert_eq!(other["opportunities"], 0);

    let shown = project.run("trial scoreboard --html ../page.html").expect_code(0);
    assert!(
        shown.stdout.contains("Only builtin answered") && shown.stderr.contains("page.html"),
        "{}",
        shown.stdout
    );
    let page = fs::read_to_string(project.sibling_path("page.html")).expect("a page");
    assert!(page.contains("zebra_price") && !page.contains("<script"));
    let markdown = project.run("trial scoreboard --format markdown").expect_code(0);
    assert!(markdown.stdout.starts_with("# Trial: 4 opportunities"), "{}", markdown.stdout);
}

#[test]
fn invalid_rows_are_reported_with_file_and_line() {
    let project = Project::generated(4);
    let whole = fs::read_to_string(bundle(&project, "in.jsonl", "d1", 2)).expect("a bundle");
    // A killed writer leaves an incomplete last line.
    fs::write(project.sibling_path("cut.jsonl"), &whole[..whole.len() - 40]).expect("written");
    let cut = json(&project.run("trial scoreboard ../cut.jsonl --json").expect_code(0).stdout);
    assert_eq!(cut["opportunities"], 1);
    fs::write(project.sibling_path("broken.jsonl"), format!("{whole}{{\"a\":1}}\n")).expect("written");
    let broken = project.run("trial scoreboard ../broken.jsonl").expect_code(2);
    assert!(broken.stderr.contains("broken.jsonl: line 4"), "{}", broken.stderr);
    project.run("trial scoreboard ../absent.jsonl").expect_code(3);
    project.run("trial scoreboard ../in.jsonl --metric speed").expect_code(2);
    project.run("trial scoreboard ../in.jsonl --weights 1,2").expect_code(2);
}
