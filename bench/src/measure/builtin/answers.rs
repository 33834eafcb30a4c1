//! Runs every method on every case, and evaluates the answers as the engine's feasibility study did.

use std::time::Instant;

use builtin::{BuiltinSettings, Completion, Corpus, Method, Models, OpenFile};
use index::{CopyIndex, RemovedCode};
use scoring::similarity::Similarity;
use syntax::{Language, SourceFile};
use workspace::Snapshot;

use super::cases::{StudyCase, StudyScenario, mine};
use super::{CASES_PER_SCENARIO, SEED, significant};
use crate::measure::repositories::Repo;

/// The methods, in the order of the tables.
pub(super) const METHODS: [Method; 5] =
    [Method::Empty, Method::NearestLine, Method::LongestMatch, Method::Mixed, Method::Hybrid];

/// An evaluated answer.
pub(super) struct AnswerRow {
    /// Unique over all repositories; the same for all methods.
    pub(super) case: String,
    pub(super) repo: &'static str,
    /// The repository's measured language.
    pub(super) language: Language,
    pub(super) scenario: StudyScenario,
    /// Whether the near-duplicates of the case's file were hidden.
    pub(super) hidden: bool,
    pub(super) method: Method,
    /// Whether the tokens equal the truth's, ignoring line ends and comments.
    pub(super) exact: bool,
    /// Indel similarity without surrounding blanks, 0 to 1.
    pub(super) similarity: f64,
    /// Time from the text to the answer, including the view.
    pub(super) milliseconds: f64,
    /// Whether the answer is empty.
    pub(super) silent: bool,
    pub(super) trust: f64,
    pub(super) continuation: f64,
}

/// The best possible result at a case, and the reason why it was missed.
pub(super) struct UpperBound {
    pub(super) repo: &'static str,
    pub(super) language: Language,
    pub(super) scenario: StudyScenario,
    /// Whether the truth also occurs elsewhere, ignoring blanks.
    pub(super) occurs_elsewhere: bool,
    /// Whether any proposal is exactly right, and the greatest similarity of any proposal.
    pub(super) best_exact: bool,
    pub(super) best_similarity: f64,
    /// The line before the cursor, the truth, and the engine's answer.
    pub(super) line: String,
    pub(super) truth: String,
    pub(super) answer: String,
    pub(super) exact: bool,
}

/// Build time of a repository's corpus.
pub(super) struct CorpusBuildTime {
    pub(super) tokens: usize,
    pub(super) bytes: usize,
    pub(super) seconds: f64,
}

/// All results of a repository.
pub(super) struct RepositoryAnswers {
    pub(super) rows: Vec<AnswerRow>,
    pub(super) ceilings: Vec<UpperBound>,
    pub(super) build: CorpusBuildTime,
}

/// Mines the repository's cases in the measured language and runs every method on them.
pub(super) fn collect(repo: &Repo, snapshot: &Snapshot) -> RepositoryAnswers {
    let files: Vec<SourceFile> =
        snapshot.files().iter().filter(|file| repo.pinned.measures(file.language)).cloned().collect();
    let start = Instant::now();
    let corpus = Corpus::build(&files);
    let seconds = start.elapsed().as_secs_f64();
    let stats = corpus.stats();
    let build = CorpusBuildTime { tokens: stats.tokens, bytes: stats.bytes, seconds };
    let copies = CopyIndex::new(&files);
    let dense = files.iter().map(|file| without_blanks(&file.text) + "\0").collect();
    let asked = BenchRepository { repo, files: &files, corpus: &corpus, copies: &copies, dense };
    let cases = mine(&files, CASES_PER_SCENARIO, SEED);
    let rows = cases.iter().enumerate().flat_map(|(number, case)| asked.answers(number, case)).collect();
    let ceilings = cases.iter().filter(|case| case.scenario != StudyScenario::CompleteBody);
    RepositoryAnswers { rows, ceilings: ceilings.map(|case| asked.ceiling(case)).collect(), build }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A repository with its cases.
struct BenchRepository<'a> {
    repo: &'a Repo,
    files: &'a [SourceFile],
    corpus: &'a Corpus,
    copies: &'a CopyIndex,
    /// All files without blanks.
    dense: String,
}

impl BenchRepository<'_> {
    fn answers(&self, number: usize, case: &StudyCase) -> Vec<AnswerRow> {
        let file = &self.files[case.file];
        let before = case.before(file);
        let copies = self.copies.files_with_copy(&RemovedCode {
            path: &file.path,
            language: file.language,
            prefix: &before,
            removed: self.truth(case),
            suffix: &file.text[case.hole.end..],
        });
        let copies: Vec<&str> = copies.iter().map(|path| &**path).collect();
        let mut rows = Vec::new();
        for (hidden, paths) in [(false, &[][..]), (true, &copies[..])] {
            let open = OpenFile { hidden: paths, ..self.open(case, &before) };
            rows.extend(METHODS.map(|method| self.answer(number, case, &open, hidden, method)));
        }
        rows
    }

    fn open<'f>(&'f self, case: &StudyCase, before: &'f str) -> OpenFile<'f> {
        let file = &self.files[case.file];
        let (path, language, after) = (&*file.path, file.language, &file.text[case.hole.end..]);
        OpenFile::new(path, language, before, after)
    }

    fn truth(&self, case: &StudyCase) -> &str {
        &self.files[case.file].text[case.hole.clone()]
    }

    fn answer(
        &self,
        number: usize,
        case: &StudyCase,
        open: &OpenFile,
        hidden: bool,
        method: Method,
    ) -> AnswerRow {
        let start = Instant::now();
        let completion = self.corpus.view(open).complete(&ungated(method), &mut || true);
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let Completion { text, trust, continuation, .. } = completion;
        let (exact, similarity) = judge(open.language, &text, self.truth(case));
        AnswerRow {
            case: format!("{}/{number}", self.repo.pinned.name),
            repo: self.repo.pinned.name,
            language: self.repo.pinned.language,
            scenario: case.scenario,
            hidden,
            method,
            exact,
            similarity,
            milliseconds,
            silent: text.is_empty(),
            trust,
            continuation,
        }
    }

    fn ceiling(&self, case: &StudyCase) -> UpperBound {
        let before = case.before(&self.files[case.file]);
        let open = self.open(case, &before);
        let view = self.corpus.view(&open);
        let truth = self.truth(case);
        let proposed = view.training_proposals(Models::shipped());
        let judged = proposed.iter().map(|proposed| judge(open.language, &proposed.text, truth));
        let best = judged.fold((false, 0.0), |best: (bool, f64), one| (best.0 | one.0, best.1.max(one.1)));
        let answer = view.complete(&ungated(Method::Hybrid), &mut || true).text;
        UpperBound {
            repo: self.repo.pinned.name,
            language: self.repo.pinned.language,
            scenario: case.scenario,
            // The first occurrence is the hole itself.
            occurs_elsewhere: self.dense.matches(&without_blanks(truth)).nth(1).is_some(),
            best_exact: best.0,
            best_similarity: best.1,
            line: before.lines().next_back().unwrap_or_default().trim_start().to_owned(),
            exact: judge(open.language, &answer, truth).0,
            truth: truth.to_owned(),
            answer,
        }
    }
}

fn ungated(method: Method) -> BuiltinSettings {
    BuiltinSettings { method, min_probability: None, min_continuation: None }
}

/// Returns whether an answer is exactly right, and its similarity to the truth.
fn judge(language: Language, text: &str, truth: &str) -> (bool, f64) {
    let exact = significant(language, text) == significant(language, truth);
    (exact, Similarity::Indel.ratio(text.trim(), truth.trim()))
}
