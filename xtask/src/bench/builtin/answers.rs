//! Asks every method about every case, and judges the answers as the engine's feasibility study did.

use std::time::Instant;

use builtin::{Completion, Corpus, Method, OpenFile, Settings};
use scoring::similarity::Similarity;
use syntax::{Language, SourceFile, TokenKind};
use workspace::{NearDuplicates, Snapshot};

use super::cases::{Case, Scenario, mine};
use super::{CASES_PER_SCENARIO, SEED};
use crate::bench::repositories::Repo;

/// The methods in the order of the tables.
pub(super) const METHODS: [Method; 4] =
    [Method::Empty, Method::NearestLine, Method::LongestMatch, Method::Hybrid];

/// One answer with its verdict.
pub(super) struct Row {
    /// Unique over all repositories; the same for all methods.
    pub(super) case: String,
    pub(super) repo: &'static str,
    pub(super) path: String,
    pub(super) scenario: Scenario,
    /// Whether the near-duplicates of the case's file were hidden.
    pub(super) hidden: bool,
    pub(super) method: Method,
    /// The tokens equal the truth's; line ends and comments do not count.
    pub(super) exact: bool,
    /// Indel similarity without surrounding blanks, 0 to 1.
    pub(super) similarity: f64,
    /// From the text to the answer, the view included.
    pub(super) milliseconds: f64,
    /// Whether nothing was written.
    pub(super) silent: bool,
    pub(super) min_probability: f64,
    pub(super) continuation: f64,
}

/// How long it took to build a repository's corpus.
pub(super) struct Build {
    pub(super) tokens: usize,
    pub(super) bytes: usize,
    pub(super) seconds: f64,
}

/// Mines the repository's cases in the measured language and lets every method answer them.
pub(super) fn collect(repo: &Repo, snapshot: &Snapshot) -> (Vec<Row>, Build) {
    let measured = |file: &&SourceFile| repo.pinned.measures(file.language);
    let files: Vec<SourceFile> = snapshot.files().iter().filter(measured).cloned().collect();
    let start = Instant::now();
    let corpus = Corpus::build(&files);
    let seconds = start.elapsed().as_secs_f64();
    let stats = corpus.stats();
    let build = Build { tokens: stats.tokens, bytes: stats.bytes, seconds };
    let duplicates = NearDuplicates::new(&files);
    let asked = Asked { repo: repo.pinned.name, files: &files, corpus: &corpus, duplicates: &duplicates };
    let cases = mine(&files, CASES_PER_SCENARIO, SEED);
    (cases.iter().enumerate().flat_map(|(number, case)| asked.answers(number, case)).collect(), build)
}

/// A repository that cases are asked about.
struct Asked<'a> {
    repo: &'static str,
    files: &'a [SourceFile],
    corpus: &'a Corpus,
    duplicates: &'a NearDuplicates,
}

impl Asked<'_> {
    fn answers(&self, number: usize, case: &Case) -> Vec<Row> {
        let file = &self.files[case.file];
        let duplicates = self.duplicates.of(&file.path);
        let duplicates: Vec<&str> = duplicates.iter().map(|duplicate| &*duplicate.path).collect();
        let before = case.before(file);
        let mut rows = Vec::new();
        for (hidden, paths) in [(false, &[][..]), (true, &duplicates[..])] {
            let after = &file.text[case.hole.end..];
            let (path, language) = (&*file.path, file.language);
            let open =
                OpenFile { path, language, before: &before, after, hints: &[], hidden: paths, typing: None };
            rows.extend(METHODS.map(|method| self.answer(number, case, &open, hidden, method)));
        }
        rows
    }

    fn answer(&self, number: usize, case: &Case, open: &OpenFile, hidden: bool, method: Method) -> Row {
        let settings = Settings { method, min_probability: None, min_continuation: None };
        let start = Instant::now();
        let completion = self.corpus.view(open).complete(&settings, &mut || true);
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let Completion { text, min_probability, continuation, .. } = completion;
        let truth = &self.files[case.file].text[case.hole.clone()];
        Row {
            case: format!("{}/{number}", self.repo),
            repo: self.repo,
            path: open.path.to_owned(),
            scenario: case.scenario,
            hidden,
            method,
            exact: tokens(open.language, &text) == tokens(open.language, truth),
            similarity: Similarity::Indel.ratio(text.trim(), truth.trim()),
            milliseconds,
            silent: text.is_empty(),
            min_probability,
            continuation,
        }
    }
}

fn tokens(language: Language, text: &str) -> Vec<&str> {
    let tokens = syntax::lex(language, text).into_iter().filter(|token| token.kind != TokenKind::Newline);
    tokens.map(|token| &text[token.range]).collect()
}
