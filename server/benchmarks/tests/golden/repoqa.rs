//! RepoQA.

use std::collections::BTreeMap;

use benchmarks::repoqa::{
    AnswerScores, CommentCleaning, CommentMode, ContextRequest, FindScore, Needle, Needles, RepoqaDataset,
    THRESHOLDS, ThresholdCurve, build_context, dependency_order, function_table, remove_comments,
};
use serde_json::{Value, json};
use test_fixture::golden_rows;

use super::{Differences, RULES, count, language, list, number, sha256, text, texts};

#[test]
fn golden_repoqa_topo() {
    let (Some(graphs), Some(repos)) = (golden_rows("repoqa_topo.jsonl"), golden_rows("repoqa_repos.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    for row in &graphs {
        let rows: Vec<_> = list(row, "graph").iter().map(|pair| import_row(&pair[0], &pair[1])).collect();
        differences.compare(row, "order", dependency_order(&rows), &row["expected"]);
    }
    for row in &repos {
        let object = row["dependency"].as_object().expect("an object");
        let rows: Vec<_> = object.iter().map(|(file, names)| import_row(&json!(file), names)).collect();
        differences.compare(row, "order", dependency_order(&rows), &row["topological_order"]);
    }
    differences.assert_none();
}

/// A data set of the repositories is read, and each has the original's order of files.
#[test]
fn golden_repoqa_repos_are_a_data_set() {
    let Some(rows) = golden_rows("repoqa_repos.jsonl") else { return };
    let mut languages: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for row in &rows {
        languages.entry(text(row, "language")).or_default().push(row);
    }
    let dataset = RepoqaDataset::read(json!(languages).to_string().as_bytes()).expect("a data set");
    let in_order = languages.values().flatten();
    for (read, row) in dataset.repositories().zip(in_order) {
        let (_, repository) = read.expect("a usable repository");
        let order: Vec<&str> = repository.ordered_files().into_iter().map(|(path, _)| path).collect();
        assert_eq!(order, texts(row, "topological_order"));
    }
    let mut written = Vec::new();
    dataset.write(&mut written).expect("written");
    assert_eq!(serde_json::from_slice::<Value>(&written).expect("JSON"), json!(languages));
}

fn import_row(file: &Value, imported: &Value) -> (String, Vec<String>) {
    let name = |value: &Value| value.as_str().expect("a file").to_owned();
    (name(file), imported.as_array().expect("a list").iter().map(name).collect())
}

#[test]
fn golden_repoqa_functions() {
    let (Some(files), Some(repos)) =
        (golden_rows("repoqa_functions.jsonl"), golden_rows("repoqa_repos.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    let mut found = 0;
    for row in &files {
        let Some(repo) =
            repos.iter().find(|repo| repo["repo"] == row["repo"] && repo["language"] == row["language"])
        else {
            continue;
        };
        found += 1;
        let ours = functions_of(repo, text(row, "path"));
        differences.compare(row, "functions", ours, &row["expected_functions"]);
    }
    assert!(found > 0, "no file belongs to a repository of the set");
    differences.assert_none();
}

/// Returns the functions of a file as the original writes them.
fn functions_of(repo: &Value, path: &str) -> Value {
    let order = texts(repo, "topological_order");
    let files: Vec<(&str, &str)> = order.iter().map(|path| (*path, text(&repo["content"], path))).collect();
    let table = function_table(language(repo), &files);
    let of_file = table.0.iter().find(|(of, _)| of == path).map(|(_, functions)| functions);
    json!(of_file.expect("the file is in the order"))
}

#[test]
fn golden_repoqa_remove_comments() {
    let Some(rows) = golden_rows("repoqa_remove_comments.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        let ours = remove_comments(language(row), text(row, "source"));
        differences.compare(row, "code", &*ours, &row["expected"]);
    }
    differences.assert_none();
}

const MODES: [(CommentMode, &str); 2] =
    [(CommentMode::Compare, "ignore_comments_false"), (CommentMode::Ignore, "ignore_comments_true")];

fn needles(row: &Value) -> Needles {
    let needles = list(row, "needles").iter();
    let needles = needles.map(|needle| Needle { name: text(needle, "name"), code: text(needle, "code") });
    Needles::new(language(row), needles)
}

fn scored(row: &Value, needles: &Needles) -> AnswerScores {
    needles.score(text(row, "ground_truth"), text(row, "model_output"), RULES)
}

#[test]
fn golden_repoqa_scores() {
    let Some(rows) = golden_rows("repoqa_scores.jsonl") else { return };
    let mut differences = Differences::default();
    let mut recovered = 0;
    for row in &rows {
        let needles = needles(row);
        let ours = scored(row, &needles);
        for ((comments, key), score) in MODES.into_iter().zip(&ours.scores) {
            let expected = &row["expected"][key];
            if !depends_on_parser(row, key, &ours.code) {
                let similarities = needles.similarities(comments, &score.compared);
                differences.compare(row, "sanitized", &*ours.code, &expected["sanitized_output"]);
                differences.compare(row, "bleu", similarities, &expected["bleu"]);
                compare_score(&mut differences, row, score, expected);
            }
        }
        let is_unflagged = row["grammar_sensitive"] != true;
        recovered += usize::from(is_unflagged && depends_on_parser(row, MODES[0].1, &ours.code));
    }
    differences.assert_none();
    assert!(recovered * 100 <= rows.len(), "{recovered} rows of broken code differ");
}

/// Whether versions of the parser disagree about the row: it is flagged, or its code is broken and our parser recovers from the
/// error with another function.
fn depends_on_parser(row: &Value, key: &str, code: &str) -> bool {
    let expected = text(&row["expected"][key], "sanitized_output");
    let is_broken = || syntax::parse(language(row), expected).has_error();
    row["grammar_sensitive"] == true || code != expected && is_broken()
}

/// Returns our score, or the expected one where it depends on the version of the parser.
fn score_as_expected(row: &Value, mode: usize, key: &str) -> FindScore {
    let AnswerScores { code, scores, .. } = scored(row, &needles(row));
    let ours = scores[mode].clone();
    if !depends_on_parser(row, key, &code) {
        return ours;
    }
    let expected = &row["expected"][key];
    FindScore {
        similarity: number(expected, "best_similarity"),
        is_right: expected["verdict"] == "best_match",
        ..ours
    }
}

fn compare_score(differences: &mut Differences, row: &Value, ours: &FindScore, expected: &Value) {
    let compared = &expected["compared_output"];
    let compared = if compared.is_null() { &expected["sanitized_output"] } else { compared };
    differences.compare(row, "compared", &*ours.compared, compared);
    let verdict = if ours.is_right { "best_match" } else { "fail_match" };
    differences.compare(row, "verdict", verdict, &expected["verdict"]);
    let best = ours.best.map(|best| row["needles"][best]["name"].clone());
    differences.compare(row, "best", best.unwrap_or_default(), &expected["best_target"]);
    differences.compare(row, "similarity", ours.similarity, &expected["best_similarity"]);
    for threshold in THRESHOLDS {
        let expected = &expected["passed_at_threshold"][format!("{threshold:.1}")];
        let passes = u8::from(ours.passes(threshold));
        differences.compare(row, &format!("pass at {threshold}"), passes, expected);
    }
}

#[test]
fn golden_repoqa_aggregate() {
    let (Some(rows), Some(aggregates)) =
        (golden_rows("repoqa_scores.jsonl"), golden_rows("repoqa_aggregate.jsonl"))
    else {
        return;
    };
    let mut scores: BTreeMap<(bool, &str), Vec<FindScore>> = BTreeMap::new();
    for row in &rows {
        for (mode, (comments, key)) in MODES.into_iter().enumerate() {
            let ignores = comments == CommentMode::Ignore;
            let score = score_as_expected(row, mode, key);
            scores.entry((ignores, "all")).or_default().push(score.clone());
            scores.entry((ignores, text(row, "language"))).or_default().push(score);
        }
    }
    let mut differences = Differences::default();
    for row in &aggregates {
        let ignores = row["ignore_comments"].as_bool().expect("a mode");
        let curve = ThresholdCurve::new(&scores[&(ignores, text(row, "language"))], 0);
        for (threshold, ours) in THRESHOLDS.into_iter().zip(curve.pass_at_1()) {
            let expected = &row["expected"][format!("{threshold:.1}")]["pass@1"];
            differences.compare(row, &format!("pass@1 at {threshold}"), ours, expected);
        }
    }
    differences.assert_none();
}

/// Counts the tokens of the goldens' tokenizer: runs of ASCII word characters, runs of spaces and tabs, and single characters.
fn count_tokens(text: &str) -> usize {
    let class = |c: char| match c {
        '_' => 1,
        _ if c.is_ascii_alphanumeric() => 1,
        ' ' | '\t' => 2,
        _ => 0,
    };
    let mut previous = 0;
    let starts = text.chars().filter(|&c| {
        let is_start = class(c) == 0 || class(c) != previous;
        previous = class(c);
        is_start
    });
    starts.count()
}

#[test]
fn golden_repoqa_context() {
    let (Some(rows), Some(repos)) = (golden_rows("repoqa_context.jsonl"), golden_rows("repoqa_repos.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    let mut found = 0;
    let mut recovered = 0;
    for row in &rows {
        let Some(repo) =
            repos.iter().find(|repo| repo["repo"] == row["repo"] && repo["language"] == row["language"])
        else {
            continue;
        };
        found += 1;
        let mut of_row = Differences::default();
        compare_context(&mut of_row, row, repo);
        // A part of a file is broken code, and versions of Rust's grammar find other comments in it.
        if row["language"] == "rust" && row["clean_comments"] != "none" && !of_row.0.is_empty() {
            recovered += 1;
        } else {
            differences.0.extend(of_row.0);
        }
    }
    assert!(recovered * 100 <= rows.len(), "{recovered} contexts of Rust differ");
    assert!(found > 0, "no context belongs to a repository of the set");
    differences.assert_none();
}

fn compare_context(differences: &mut Differences, row: &Value, repo: &Value) {
    let order = texts(repo, "topological_order");
    let files: Vec<_> = order.iter().map(|&path| (path, text(&repo["content"], path))).collect();
    let needle = &row["needle"];
    let request = ContextRequest {
        language: language(row),
        files: &files,
        file: order.iter().position(|path| *path == text(needle, "path")).expect("a file"),
        start: count(needle, "start_byte"),
        end: count(needle, "end_byte"),
        size: count(row, "code_context_size"),
        position: number(row, "position_ratio"),
        cleaning: match text(row, "clean_comments") {
            "none" => CommentCleaning::Keep,
            "positional_padding" => CommentCleaning::PadPosition,
            "no_padding" => CommentCleaning::Remove,
            other => panic!("unknown cleaning {other}"),
        },
    };
    let context = build_context(&request, &count_tokens, RULES).expect("the function is in its file");
    let expected = &row["expected"];
    let needle_end = context.prefix_tokens + context.needle_tokens;
    differences.compare(row, "start", context.prefix_tokens, &expected["needle_token_start"]);
    differences.compare(row, "end", needle_end, &expected["needle_token_end"]);
    differences.compare(row, "tokens", needle_end + context.suffix_tokens, &expected["code_context_ntokens"]);
    match expected["code_context"].as_str() {
        Some(text) => differences.compare(row, "text", first_difference(&context.text, text), &json!("")),
        None => differences.compare(row, "hash", sha256(&context.text), &expected["code_context_sha256"]),
    }
}

/// Returns both texts around their first difference; empty if they are equal.
fn first_difference(ours: &str, expected: &str) -> String {
    if ours == expected {
        return String::new();
    }
    let same = ours.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(60)).take(160).collect::<String>();
    format!("{:?} instead of {:?}", around(ours), around(expected))
}
