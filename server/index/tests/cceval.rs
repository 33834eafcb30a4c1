//! Agreement with CrossCodeEval's retriever, row by row.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with its inputs and outputs; without it these tests say so and check nothing.

#![expect(clippy::print_stderr, reason = "says how many rows were read, or why none")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use index::cceval::{
    self, ChunkCandidates, ChunkHit, ChunkQuery, ChunkRanking, FileChunks, LocalPromptSettings,
};
use index::cceval::{RetrievalSetting, ServerPromptSettings};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use syntax::{Language, SourceFile};

/// How far a score may be from the original's.
const TOLERANCE: f64 = 1e-9;

/// Places of the ranking that the rows list.
const LISTED: usize = 10;

/// All rows of a golden file, `None` when no folder is named.
fn rows(file: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN") else {
        eprintln!("{file}: skipped, GHOSTBENCH_GOLDEN is not set");
        return None;
    };
    let path = PathBuf::from(folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a row of JSON")).collect();
    assert!(!rows.is_empty(), "{file} has no rows");
    eprintln!("{file}: {} rows", rows.len());
    Some(rows)
}

/// The repositories by their ids.
fn repositories() -> Option<HashMap<String, Vec<SourceFile>>> {
    let rows = rows("cceval_repos.jsonl")?;
    Some(rows.iter().map(|row| (text(row, "id").to_owned(), source_files(row))).collect())
}

fn source_files(repository: &Value) -> Vec<SourceFile> {
    let files = repository["files"].as_object().expect("files of a repository");
    files
        .iter()
        .map(|(path, text)| SourceFile {
            path: path.as_str().into(),
            language: language(repository),
            text: text.as_str().expect("a text").into(),
        })
        .collect()
}

fn find<'a>(files: &'a [SourceFile], path: &str) -> &'a SourceFile {
    files.iter().find(|file| *file.path == *path).unwrap_or_else(|| panic!("no file {path}"))
}

fn language(row: &Value) -> Language {
    Language::from_name(text(row, "lang")).expect("a supported language")
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{}: no text `{key}`", row["id"]))
}

fn integer(row: &Value, key: &str) -> usize {
    row[key].as_u64().unwrap_or_else(|| panic!("no integer `{key}` in {row}")) as usize
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|item| item.as_str().expect("a string")).collect()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fails with the first differences and how many there are.
#[track_caller]
fn assert_no_differences(differences: &[String]) {
    let first = differences.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} differences, such as\n{first}", differences.len());
}

/// Collects what differs in one row.
struct Check<'a> {
    id: &'a str,
    differences: &'a mut Vec<String>,
}

impl Check<'_> {
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            let id = self.id;
            self.differences.push(format!("{id}: {what} is\n  {found:?}, not\n  {expected:?}"));
        }
    }

    fn scores(&mut self, what: &str, found: &[f64], expected: &[&Value]) {
        let expected: Vec<f64> = expected.iter().map(|score| score.as_f64().expect("a score")).collect();
        if found.len() != expected.len()
            || !found.iter().zip(&expected).all(|(one, other)| (one - other).abs() <= TOLERANCE)
        {
            self.equal(what, found, &expected);
        }
    }
}

fn cut(file: &SourceFile) -> Arc<FileChunks> {
    Arc::new(FileChunks::new(file.path.clone(), &file.text))
}

fn nearest(files: &[Arc<FileChunks>], path: &str, language: Language) -> Vec<Arc<FileChunks>> {
    cceval::nearest(path, language, files.iter().map(|file| (&**file.path(), file.clone())))
}

#[test]
fn golden_cceval_tokenize() {
    let Some(rows) = rows("cceval_tokenize.jsonl") else { return };
    let mut differences = Vec::new();
    for row in &rows {
        let mut check = Check { id: text(row, "id"), differences: &mut differences };
        check.equal(text(row, "text"), cceval::tokenize(text(row, "text")), strings(&row["tokens"]));
    }
    assert_no_differences(&differences);
}

#[test]
fn golden_cceval_chunks() {
    let (Some(repositories), Some(rows)) = (repositories(), rows("cceval_chunks.jsonl")) else { return };
    let mut differences = Vec::new();
    for row in &rows {
        let mut check = Check { id: text(row, "id"), differences: &mut differences };
        let file = find(&repositories[text(row, "repo")], text(row, "file"));
        let chunks = cut(file);
        let summary = |number| {
            let text = chunks.text(number);
            let tokens = cceval::tokenize(text);
            serde_json::json!({
                "sha256": sha256(text),
                "ntokens": tokens.len(),
                "tokens_sha256": sha256(&tokens.join("\n")),
            })
        };
        let found: Vec<Value> = (0..chunks.len()).map(summary).collect();
        check.equal("the list of chunks", &found, row["chunks"].as_array().expect("chunks"));
    }
    assert_no_differences(&differences);
}

/// How many chunks the original makes before it takes the first thousand.
#[test]
fn golden_cceval_retrieval_chunks() {
    let (Some(repositories), Some(rows)) = (repositories(), rows("cceval_retrieval.jsonl")) else { return };
    let chunks: HashMap<&str, Vec<Arc<FileChunks>>> =
        repositories.iter().map(|(id, files)| (id.as_str(), files.iter().map(cut).collect())).collect();
    let mut differences = Vec::new();
    for row in &rows {
        let files = nearest(&chunks[text(row, "repo")], text(row, "file"), language(row));
        let mut check = Check { id: text(row, "id"), differences: &mut differences };
        check.equal("number of chunks", files.iter().map(|file| file.len()).sum(), integer(row, "n_chunks"));
    }
    assert_no_differences(&differences);
}

#[test]
fn golden_cceval_retrieval() {
    let (Some(repositories), Some(rows)) = (repositories(), rows("cceval_retrieval.jsonl")) else { return };
    let chunks: HashMap<&str, Vec<Arc<FileChunks>>> =
        repositories.iter().map(|(id, files)| (id.as_str(), files.iter().map(cut).collect())).collect();
    let mut prepared: HashMap<(&str, &str), ChunkCandidates> = HashMap::new();
    let mut differences = Vec::new();
    let mut prompts = 0;
    for row in &rows {
        let (repository, path) = (text(row, "repo"), text(row, "file"));
        let files = &repositories[repository];
        let candidates = prepared
            .entry((repository, path))
            .or_insert_with(|| ChunkCandidates::new(nearest(&chunks[repository], path, language(row))));
        let mut check = Check { id: text(row, "id"), differences: &mut differences };
        let query = query(row, files);
        check_ranking(&mut check, row, candidates, &query);
        let hits = candidates.retrieve(&query);
        check_hits(&mut check, row, &hits);
        check_hit_lines(&mut check, &hits, files);
        for prompt in row["prompts"].as_array().into_iter().flatten() {
            check_prompt(&mut check, row, prompt, &hits, query.prefix);
            prompts += 1;
        }
    }
    eprintln!("cceval_retrieval.jsonl: {prompts} prompts");
    assert_no_differences(&differences);
}

fn query<'a>(row: &'a Value, files: &'a [SourceFile]) -> ChunkQuery<'a> {
    let setting = match text(row, "setting") {
        "rg1" => RetrievalSetting::Rg1,
        "oracle" => RetrievalSetting::Oracle { truth: text(row, "groundtruth") },
        other => panic!("unknown setting {other}"),
    };
    let ranking = match text(row, "ranking_fn") {
        "bm25" => ChunkRanking::Bm25,
        "jaccard_sim" => ChunkRanking::Jaccard,
        other => panic!("unknown ranking {other}"),
    };
    let prefix = &find(files, text(row, "file")).text[..integer(row, "cursor_byte")];
    ChunkQuery { prefix, setting, ranking }
}

fn check_ranking(check: &mut Check<'_>, row: &Value, candidates: &ChunkCandidates, query: &ChunkQuery<'_>) {
    let ranking = candidates.ranking(query, LISTED);
    let ids: Vec<&str> = ranking.iter().map(|ranked| ranked.id.as_str()).collect();
    let texts: Vec<String> = ranking.iter().map(|ranked| sha256(ranked.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores: Vec<f64> = ranking.iter().map(|ranked| ranked.score).collect();
    check.equal("number of candidates", candidates.len(), integer(row, "n_candidates"));
    check.equal("query", sha256(&query.text()).as_str(), text(row, "query_sha256"));
    check.equal("order of ids", ids, strings(&row["ranked_ids_top10"]));
    check.equal("order of texts", texts, strings(&row["ranked_doc_sha256_top10"]));
    check.scores(
        "scores of the ranking",
        &scores,
        &row["ranked_scores_top10"].as_array().expect("scores").iter().collect::<Vec<_>>(),
    );
}

fn check_hits(check: &mut Check<'_>, row: &Value, hits: &[ChunkHit]) {
    let expected = row["expected"].as_array().expect("expected hits");
    let found: Vec<(&str, String)> =
        hits.iter().map(|hit| (&*hit.reported_path, sha256(hit.text()))).collect();
    let named = expected.iter().map(|hit| (text(hit, "filename"), text(hit, "chunk_sha256").to_owned()));
    check.equal("results", found, named.collect());
    let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
    check.scores("scores", &scores, &expected.iter().map(|hit| &hit["score"]).collect::<Vec<_>>());
    if let Some(expected) = row["cfc_text_sha256"].as_str() {
        check.equal("context", sha256(&cceval::context_text(language(row), hits)).as_str(), expected);
    }
}

/// The lines of a hit's place, without blank ones, are its text.
fn check_hit_lines(check: &mut Check<'_>, hits: &[ChunkHit], files: &[SourceFile]) {
    for hit in hits {
        let place = hit.lines().start as usize..hit.lines().end as usize;
        let lines: Vec<&str> = find(files, hit.path()).text.split('\n').collect();
        let code: Vec<&str> = lines[place].iter().copied().filter(|line| !line.trim().is_empty()).collect();
        check.equal("text at the hit's place", code.join("\n").as_str(), hit.text());
    }
}

fn check_prompt(check: &mut Check<'_>, row: &Value, prompt: &Value, hits: &[ChunkHit], prefix: &str) {
    let kind = text(prompt, "kind");
    let language = language(row);
    let (found, tokens) = match kind {
        "eval.py prepare_features_cfc" => {
            let prompt =
                cceval::local_prompt_with_chunks(language, hits, prefix, &local(prompt), &token_ends);
            (prompt.text, Some(prompt.tokens))
        }
        "eval.py prepare_features (no cross-file)" => {
            let prompt = cceval::local_prompt(prefix, &local(prompt), &token_ends);
            (prompt.text, Some(prompt.tokens))
        }
        "vllm_inference.py prepare_prompt" => {
            let context = cceval::context_text(language, hits);
            (cceval::served_prompt(&context, prefix, &served(prompt), &token_ends), None)
        }
        "vllm_inference.py prepare_prompt, no cross-file" => {
            (cceval::served_prompt("", prefix, &served(prompt), &token_ends), None)
        }
        other => panic!("unknown kind of prompt: {other}"),
    };
    check.equal(kind, sha256(&found).as_str(), text(prompt, "text_sha256"));
    if let Some(tokens) = tokens {
        check.equal(kind, tokens, integer(prompt, "n_tokens"));
    }
    if let Some(expected) = prompt["text"].as_str() {
        check.equal(kind, found.as_str(), expected);
    }
}

fn local(prompt: &Value) -> LocalPromptSettings {
    LocalPromptSettings {
        max_tokens: integer(prompt, "max_seq_length"),
        answer_tokens: integer(prompt, "gen_length"),
        context_tokens: prompt["cfc_seq_length"].as_u64().unwrap_or(0) as usize,
        min_score: prompt["min_cfc_score"].as_f64().unwrap_or(f64::NEG_INFINITY),
    }
}

fn served(prompt: &Value) -> ServerPromptSettings {
    ServerPromptSettings {
        context_tokens: integer(prompt, "cross_file_budget"),
        prompt_tokens: integer(prompt, "prompt_budget"),
    }
}

/// The tokenizer that replaced a model's when the rows were made: runs of ASCII word characters, runs of blanks, and single other
/// characters.
fn token_ends(text: &str) -> Vec<usize> {
    #[derive(PartialEq)]
    enum Kind {
        Word,
        Blank,
        Other,
    }
    let kind = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Kind::Word,
        ' ' | '\t' => Kind::Blank,
        _ => Kind::Other,
    };
    let mut ends = Vec::new();
    let mut last = Kind::Other;
    for (at, character) in text.char_indices() {
        let kind = kind(character);
        if kind != Kind::Other && kind == last {
            ends.pop();
        }
        ends.push(at + character.len_utf8());
        last = kind;
    }
    ends
}
