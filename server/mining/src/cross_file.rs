//! The scenario `cross_file`: CrossCodeEval's construction from any repository.
//!
//! ```text
//! files in random order, some at a time
//!   --uses--> names that only other files define; the first use of each in a file
//!   --statement--> holes: from a random token before the name to the end of its statement
//!   --filters--> the same hole without context, with retrieved context, and with context retrieved with the truth in the query
//! ```
//!
//! Filters: enough lines before the cursor; a truth of 3 to 30 tokens that does not occur verbatim in another file; the judge
//! does not answer the case from the file alone. The drawer rejects truths that are already in the suite.

use std::collections::BTreeSet;
use std::ops::Range;

use cases::{
    Case, CompletionTask, ContextItem, CrossFileContext, DEFINED_TAG, DefinitionLocation, ENTITY_TAG,
    JUDGE_TAG, RESOLVED_TAG, Scenario, Tags,
};
use index::{CrossFileUse, RetrievalQuery, Searcher, Strategy, TokenBudget};
use rayon::prelude::*;
use syntax::{Language, SourceFile};

use crate::cut_case::{CaseDraft, MiningRepository, context_item};
use crate::seeded_random::SeededRandom;
use crate::unanswerable::{LeftOut, UnanswerableReason};
use crate::{Judge, MiningOptions};
use statement::Statements;

mod statement;
#[cfg(test)]
mod tests;

/// Cases cut from one hole: `in_file`, `retrieval` and `oracle`.
pub(crate) const VARIANT_COUNT: usize = 3;
/// Retrieval strategy of the variants `retrieval` and `oracle`.
const STRATEGY: Strategy = Strategy::Hybrid;
/// Context budget in tokens: CrossCodeEval's, of a prompt of 2,048 tokens.
const BUDGET: TokenBudget = TokenBudget { tokens: 512 };
/// Files per batch: a few per core, and a small share of a repository with thousands of files. The resulting cases depend on
/// it.
const BATCH: usize = 64;
/// Tokens of a truth, as in CrossCodeEval.
const TRUTH_TOKENS: std::ops::RangeInclusive<usize> = 3..=30;

/// Returns the minimum number of lines with code before the cursor's line, as in CrossCodeEval.
fn min_prompt_lines(language: Language) -> usize {
    match language {
        Language::Python => 10,
        Language::Java => 20,
        Language::TypeScript | Language::Tsx | Language::JavaScript => 30,
        Language::CSharp => 5,
        Language::Rust | Language::Go | Language::C | Language::Cpp => 10,
    }
}

/// A hole that begins at or before a name that only other files define.
#[derive(Clone, Debug)]
pub(crate) struct CrossFileHole {
    /// Index of the file.
    pub(crate) file: usize,
    /// Removed range, in bytes.
    pub(crate) range: Range<usize>,
    /// Use of the target name.
    name_use: CrossFileUse,
}

/// Mines `cross_file` cases.
pub(crate) struct CrossFileMiner<'a> {
    repository: &'a MiningRepository<'a>,
    options: &'a MiningOptions,
    judge: Option<&'a Judge<'a>>,
    /// Texts of the files without whitespace, in the order of the files.
    texts_without_whitespace: Vec<String>,
    /// Indices of the files in random order.
    order: Vec<usize>,
}

impl<'a> CrossFileMiner<'a> {
    pub(crate) fn new(
        repository: &'a MiningRepository<'a>,
        options: &'a MiningOptions,
        judge: Option<&'a Judge<'a>>,
    ) -> CrossFileMiner<'a> {
        let mut order: Vec<usize> = (0..repository.files.len()).collect();
        SeededRandom::new(options.seed, Scenario::CrossFile.name()).shuffle(&mut order);
        let squeezed = repository.files.par_iter().map(|file| without_whitespace(&file.text)).collect();
        CrossFileMiner { repository, options, judge, texts_without_whitespace: squeezed, order }
    }

    /// Returns the holes in batches of files, one hole of every file in turn, with the number of rejected uses by reason.
    pub(crate) fn batches(&self) -> impl Iterator<Item = (Vec<CrossFileHole>, LeftOut)> {
        self.order.chunks(BATCH).map(|files| {
            let of_files: Vec<(Vec<CrossFileHole>, Vec<UnanswerableReason>)> =
                files.par_iter().map(|&file| self.holes(file)).collect();
            let (mut turns, mut refused) = (Vec::new(), LeftOut::new());
            for (holes, obstacles) in of_files {
                turns.extend(holes.into_iter().enumerate());
                obstacles.into_iter().for_each(|obstacle| *refused.entry(obstacle).or_default() += 1);
            }
            turns.sort_by_key(|(turn, _)| *turn);
            (turns.into_iter().map(|(_, hole)| hole).collect(), refused)
        })
    }

    /// Returns the holes of one file in random order, and the reasons of rejected uses.
    fn holes(&self, file: usize) -> (Vec<CrossFileHole>, Vec<UnanswerableReason>) {
        let source = &self.repository.files[file];
        let tree = self.repository.parse(source);
        let mut uses = self.repository.searcher.cross_file_uses(self.repository.projects, source, &tree);
        if self.options.first_uses_only {
            keep_first_uses(&mut uses);
        }
        let mut random =
            SeededRandom::new(self.options.seed, &format!("{} {}", Scenario::CrossFile, source.path));
        let statements = Statements::new(source, &tree);
        let (mut holes, mut refused) = (Vec::new(), Vec::new());
        for used in uses {
            let range = statements.hole(&used.name, &mut random).and_then(|range| accepted(source, range));
            match range {
                Ok(range) => holes.push(CrossFileHole { file, range, name_use: used }),
                Err(obstacle) => refused.push(obstacle),
            }
        }
        random.shuffle(&mut holes);
        (holes, refused)
    }

    /// Returns the cases of each hole, or why it has none: the truth occurs in another file, or the case is too easy.
    pub(crate) fn cut(
        &self,
        holes: &[CrossFileHole],
    ) -> Vec<Result<[Case; VARIANT_COUNT], UnanswerableReason>> {
        self.repository.prepare_copies();
        holes.par_iter().map(|hole| self.cut_one(hole)).collect()
    }

    fn cut_one(&self, hole: &CrossFileHole) -> Result<[Case; VARIANT_COUNT], UnanswerableReason> {
        let source = &self.repository.files[hole.file];
        let (before, after) = (&source.text[..hole.range.start], &source.text[hole.range.end..]);
        if self.occurs_in_other_file(hole.file, &source.text[hole.range.clone()]) {
            return Err(UnanswerableReason::InOtherFile);
        }
        let in_file = self.case(hole, CrossFileContext::InFile, Vec::new());
        if self.judge.is_some_and(|judge| (judge.is_right)(&in_file)) {
            return Err(UnanswerableReason::KnownFromFile);
        }
        let searcher = self.repository.searcher_without(source, &hole.range);
        let found = self.retrieve(&searcher, source, before, after);
        let items = self.retrieve(&searcher, source, &source.text[..hole.range.end], after);
        let retrieval = self.case(hole, CrossFileContext::Retrieval, found);
        let oracle = self.case(hole, CrossFileContext::Oracle, items);
        Ok([in_file, retrieval, oracle])
    }

    /// Whether the truth occurs in another file, ignoring whitespace.
    fn occurs_in_other_file(&self, file: usize, truth: &str) -> bool {
        let truth = without_whitespace(truth);
        self.texts_without_whitespace
            .iter()
            .enumerate()
            .any(|(other, text)| other != file && text.contains(&truth))
    }

    fn retrieve(
        &self,
        searcher: &Searcher,
        source: &SourceFile,
        prefix: &str,
        suffix: &str,
    ) -> Vec<ContextItem> {
        let query =
            RetrievalQuery { path: &source.path, language: source.language, prefix, suffix, recent: &[] };
        let hits = searcher.retrieve(STRATEGY, self.repository.projects, &query, BUDGET);
        hits.into_iter().map(context_item).collect()
    }

    fn case(&self, hole: &CrossFileHole, shown: CrossFileContext, context: Vec<ContextItem>) -> Case {
        let source = &self.repository.files[hole.file];
        let question = CaseDraft {
            task: CompletionTask::CrossFile(shown),
            block_kind: None,
            range: hole.range.clone(),
            prefix: source.text[..hole.range.start].to_owned(),
            suffix: &source.text[hole.range.end..],
            context,
            tags: self.tags(source, &hole.name_use),
        };
        question.into_case(source, self.repository.origin)
    }

    fn tags(&self, source: &SourceFile, used: &CrossFileUse) -> Tags {
        let defined = used.definitions.iter();
        let places: Vec<DefinitionLocation> = defined
            .map(|place| DefinitionLocation { path: place.path.to_string(), line: place.line })
            .collect();
        let resolved = if used.is_resolved { "yes" } else { "no" };
        let mut tags = Tags::from([
            (ENTITY_TAG.to_owned(), source.text[used.name.clone()].to_owned()),
            (DEFINED_TAG.to_owned(), DefinitionLocation::to_tag(&places)),
            (RESOLVED_TAG.to_owned(), resolved.to_owned()),
        ]);
        tags.extend(self.judge.map(|judge| (JUDGE_TAG.to_owned(), judge.name.to_owned())));
        tags
    }
}

/// Keeps the first use of each definition. A use of a name that already occurs before it in the file is removed.
fn keep_first_uses(uses: &mut Vec<CrossFileUse>) {
    let mut seen = BTreeSet::new();
    uses.retain(|used| seen.insert(used.definitions.first().cloned()) && used.is_first);
}

/// Returns the range of a hole with enough code before it and a truth of the usual length.
fn accepted(source: &SourceFile, range: Range<usize>) -> Result<Range<usize>, UnanswerableReason> {
    if !is_long_enough(source, range.start) {
        return Err(UnanswerableReason::FewLines);
    }
    let has_usual_length = TRUTH_TOKENS.contains(&count_tokens(&source.text[range.clone()]));
    has_usual_length.then_some(range).ok_or(UnanswerableReason::TruthLength)
}

fn is_long_enough(source: &SourceFile, cursor: usize) -> bool {
    let (lines, _) = source.text[..cursor].rsplit_once('\n').unwrap_or_default();
    let with_code = lines.lines().filter(|line| !line.trim().is_empty());
    with_code.count() >= min_prompt_lines(source.language)
}

/// Counts words and single punctuation characters, like the studies of cross-file completion; a lexer's tokens are coarser.
fn count_tokens(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = 0;
    let mut in_word = false;
    for c in text.chars() {
        tokens += usize::from(if is_word(c) { !in_word } else { !c.is_whitespace() });
        in_word = is_word(c);
    }
    tokens
}

/// Returns the text without its whitespace.
pub(crate) fn without_whitespace(text: &str) -> String {
    text.split_whitespace().collect()
}
