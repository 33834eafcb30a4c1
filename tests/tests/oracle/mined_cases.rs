//! Cases mined from real code, with the code around them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use cases::{Case, Origin, OriginKind};
use index::Index;
use mining::{HoleCandidates, MiningInput, MiningOptions, Mix, SCENARIOS, UnanswerableReason};
use rayon::prelude::*;
use syntax::{Block, BlockKind, Language, Projects, SourceFile};

use crate::answers::TAB;
use crate::histories::check_out;

/// Cases requested per repository and seed.
const CASES: usize = 700;
/// One of this many cases may be omitted because no cut is possible.
const MAX_LEFT_OUT: usize = 100;
/// Why no cut could serve a case.
const UNSERVED: [UnanswerableReason; 6] = [
    UnanswerableReason::InsideWord,
    UnanswerableReason::NoEnd,
    UnanswerableReason::OuterStatement,
    UnanswerableReason::PartOfBlock,
    UnanswerableReason::Repeated,
    UnanswerableReason::OtherIndentation,
];
/// Holes of one suite do not overlap, so more cases need more suites.
const SEEDS: [u64; 2] = [1, 2];

/// A case with its file.
pub(crate) struct MinedCase {
    pub(crate) case: Case,
    pub(crate) language: Language,
    /// The text after the truth in the file, even if the case omits it.
    pub(crate) rest: String,
    /// Indentation of the line on which the enclosing function begins, or of the cursor's line if there is none.
    pub(crate) outer: String,
    /// Columns of the line on which the statement around the cursor begins.
    statement_column: usize,
    /// Whether the truth ends inside a statement or before the body of a block.
    ends_inside: bool,
    repository: String,
}

/// A case with other line ends.
pub(crate) struct LineEndVariant {
    prefix: String,
    suffix: String,
    pub(crate) truth: String,
}

impl LineEndVariant {
    pub(crate) fn parts(&self) -> (&str, &str, &str) {
        (&self.prefix, &self.suffix, &self.truth)
    }
}

impl MinedCase {
    pub(crate) fn with_line_ends(&self, line_end: &str) -> LineEndVariant {
        let rewrite = |text: &str| text.replace("\r\n", "\n").replace('\n', line_end);
        let Case { prefix, suffix, truth, .. } = &self.case;
        LineEndVariant { prefix: rewrite(prefix), suffix: rewrite(suffix), truth: rewrite(truth) }
    }

    /// Returns the cursor's line up to the cursor.
    pub(crate) fn line(&self) -> &str {
        self.case.prefix.rsplit('\n').next().unwrap_or_default()
    }

    /// Returns that line's indentation.
    pub(crate) fn indentation(&self) -> &str {
        let line = self.line();
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Whether the truth extends to the end of the cursor's block, so that more text could follow it there.
    pub(crate) fn is_rest_of_block(&self) -> bool {
        let is_body = matches!(self.case.task.variant(), Some("header_end" | "rest_of_block"));
        let is_cut_so = self.case.tags.get("cut").is_some_and(|cut| cut == "header_end");
        let next = self.rest.lines().skip(1).find(|line| !line.trim().is_empty());
        let column = |line: &str| line.len() - line.trim_start().len();
        let is_closed = match self.language {
            Language::Python => next.is_none_or(|next| column(next) < self.indentation().len()),
            _ => next.is_none_or(|next| next.trim_start().starts_with(['}', ')', ']'])),
        };
        let is_first =
            self.case.suffix.trim().is_empty() && self.case.prefix.trim_end().ends_with(['{', ':']);
        is_body || is_cut_so || is_first || self.line().trim().is_empty() && is_closed
    }

    /// Whether more text must follow the truth: it is the head of a block whose body follows, an annotation of the next item,
    /// or an item of a list.
    pub(crate) fn is_head(&self) -> bool {
        let truth = self.case.truth.trim_end();
        let line = [self.line(), truth].concat();
        let last = line.rsplit('\n').next().unwrap_or_default().trim_start();
        let is_annotation = last.starts_with('@') || last.starts_with("#[");
        truth.ends_with(['{', ':', ',', '('])
            || is_annotation
            || self.ends_inside
            || self.rest.trim_start().starts_with(['{', ','])
    }

    /// Whether a line of the truth begins inside a literal or comment.
    pub(crate) fn is_literal(&self) -> bool {
        let text = [&*self.case.prefix, &*self.case.truth].concat();
        let literals = syntax::multiline_tokens(self.language, &text);
        let is_inside = |at: usize| literals.iter().any(|range| range.start < at && at < range.end);
        let cursor = self.case.prefix.len();
        self.case.truth.match_indices('\n').any(|(at, _)| is_inside(cursor + at))
    }

    /// Whether the minority style of indentation, tabs or blanks, is used in more than a tenth of the indented lines around
    /// the truth, or a line of the truth has tabs after blanks.
    pub(crate) fn is_mixed(&self) -> bool {
        if self.case.truth.contains(" \t") {
            return true;
        }
        let lines = || {
            self.case.prefix.lines().chain(self.case.suffix.lines()).filter(|line| !line.trim().is_empty())
        };
        let tabs = lines().filter(|line| line.starts_with('\t')).count();
        let blanks = lines().filter(|line| line.starts_with("  ")).count();
        tabs + blanks == 0 || tabs.min(blanks) * 10 > tabs.max(blanks)
    }

    /// Returns the share of the document's indented lines that are indented by an odd number of levels of two blanks.
    pub(crate) fn share_at_odd_levels(&self) -> f64 {
        let lines = || self.case.prefix.lines().chain(self.case.suffix.lines());
        let columns = || lines().map(|line| line.len() - line.trim_start_matches(' ').len());
        let all = columns().filter(|column| *column > 1).count();
        let at_odd = columns().filter(|column| column % TAB == 2).count();
        at_odd as f64 / all.max(1) as f64
    }

    /// Whether an answer with later lines indented relative to the cursor's could be correct as it is. In brackets: no block
    /// begins before its last line, and no line is indented less than the statement around the cursor, or all are labels. By
    /// lines: none of them must be inside a block, or code further out may follow the first ones.
    pub(crate) fn allows(&self, answer: &str) -> bool {
        let own = self.indentation().len();
        let column = |line: &str| line.len() - line.trim_start().len();
        let lines = || answer.lines().skip(1).filter(|line| !line.trim().is_empty());
        let opens = |line: &str| line.trim_end().ends_with(['{', ':']);
        let is_in_place = |least: usize| lines().all(|line| column(line) >= least);
        if self.language != Language::Python {
            let least = if self.line().trim().is_empty() { own } else { own.min(self.statement_column) };
            let heads = answer.lines().count().saturating_sub(1);
            let is_label = |line: &str| line.starts_with("case ") || line.starts_with("default");
            let are_labels = is_label(answer) && lines().all(|line| column(line) > 0 || is_label(line));
            return are_labels || !answer.lines().take(heads).any(opens) && is_in_place(least);
        }
        let is_top_level = self.outer.len() == own;
        // After a blank line, or outside of functions, code further out may follow a simple statement.
        let is_left = || {
            let first: Vec<&str> = answer.lines().take(2).collect();
            let is_behind_blank = first.get(1).is_some_and(|line| line.trim().is_empty());
            !first.first().is_some_and(|line| opens(line)) && (is_top_level || is_behind_blank)
        };
        let has_heads = answer.lines().any(opens);
        is_left() || !has_heads && (is_in_place(own) || lines().all(|line| column(line) == 0))
    }

    /// Formats a case for a failure message.
    pub(crate) fn failure(&self, what: &str, answer: &str, shown: &str) -> String {
        let Case { path, line, prefix, suffix, truth, task, tags, .. } = &self.case;
        let before: Vec<&str> = prefix.split('\n').rev().take(4).collect();
        let before = before.into_iter().rev().collect::<Vec<_>>().join("\n");
        let after = suffix.split('\n').take(4).collect::<Vec<_>>().join("\n");
        let variant = task.variant().unwrap_or_default();
        let scenario = task.scenario();
        format!(
            "---- {what}: {}/{path}:{} {scenario} {variant} {tags:?}\n{before}⟦{truth}⟧{after}\n-- answer {answer:?}\n-- shown  {shown:?}",
            self.repository,
            line + 1
        )
    }
}

/// Returns the cases of all histories; `None` if there are none.
pub(crate) fn mined_cases() -> Option<Vec<MinedCase>> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let trees = check_out(folder.path())?;
    Some(
        trees
            .iter()
            .flat_map(|(name, tree)| {
                let snapshot = workspace::load(tree, &workspace::ReadLimits::standard(), &|_| {})
                    .expect("a readable tree");
                mine(name, snapshot.files(), &Projects::new(snapshot.manifests()))
            })
            .collect(),
    )
}

fn mine(repository: &str, files: &[SourceFile], projects: &Projects) -> Vec<MinedCase> {
    let index = Index::build(files);
    let sources = MiningInput {
        files,
        index: &index,
        projects,
        copies: &OnceLock::new(),
        candidates: &files.par_iter().map(HoleCandidates::of).collect::<Vec<_>>(),
    };
    let of_seed = |seed: u64| {
        let options = MiningOptions {
            cases: CASES,
            seed,
            scenarios: SCENARIOS.to_vec(),
            mix: Mix::Even,
            first_uses_only: false,
            origin: Origin::new(OriginKind::Mined, "none"),
        };
        let mined = mining::mine(&sources, &options, None);
        let left_out: usize = UNSERVED.iter().filter_map(|obstacle| mined.left_out.get(obstacle)).sum();
        eprintln!("{repository}: {} cases, left out {:?}", mined.cases.len(), mined.left_out);
        assert!(left_out * MAX_LEFT_OUT <= mined.cases.len().max(MAX_LEFT_OUT * 4), "{:?}", mined.left_out);
        mined.cases
    };
    let mut seen = HashSet::new();
    let cases = SEEDS.into_iter().flat_map(of_seed);
    let cases: Vec<Case> = cases.filter(|case| seen.insert(case.id.clone())).collect();
    let of_cases: HashSet<&str> = cases.iter().map(|case| &*case.path).collect();
    let with_blocks = |file: &SourceFile| FileWithBlocks {
        blocks: syntax::parse(file.language, &file.text).blocks(&file.text),
        file: file.clone(),
    };
    let files = files.par_iter().filter(|file| of_cases.contains(&*file.path)).map(with_blocks);
    let files: HashMap<Arc<str>, FileWithBlocks> =
        files.map(|parsed| (Arc::clone(&parsed.file.path), parsed)).collect();
    cases.into_iter().map(|case| mined_case(repository, &files[&*case.path], case)).collect()
}

/// A file, parsed once for all of its cases.
struct FileWithBlocks {
    file: SourceFile,
    blocks: Vec<Block>,
}

fn mined_case(repository: &str, FileWithBlocks { file, blocks }: &FileWithBlocks, case: Case) -> MinedCase {
    let text = &*file.text;
    let holds =
        |range: &Range<usize>| range.start < case.byte_range.start && case.byte_range.end <= range.end;
    let indentation = |start: usize| -> String {
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        text[line..start].chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    };
    let Range { start, end } = case.byte_range;
    let function = blocks.iter().rev().find(|block| block.kind == BlockKind::Function && holds(&block.range));
    let outer = indentation(function.map_or(start, |function| function.range.start));
    let around = blocks.iter().rev().find(|block| block.range.start <= start && start < block.header.end);
    let statement_column = indentation(around.map_or(start, |block| block.range.start)).len();
    let ends_inside = around.is_some_and(|block| match &block.body {
        Some(body) => body.statements.first().is_some_and(|first| end <= first.start),
        None => end < block.range.end && !matches!(&text[end..block.range.end], ";" | ","),
    });
    let rest = text[case.byte_range.end..].to_owned();
    MinedCase {
        language: file.language,
        rest,
        outer,
        statement_column,
        ends_inside,
        repository: repository.to_owned(),
        case,
    }
}
