//! Cuts cases from a repository as the engine's feasibility study did: seven scenarios, at most six cases per file.

use std::collections::BTreeMap;
use std::ops::Range;

use syntax::{Block, BlockKind, Language, SourceFile, TokenKind};
use text::SplitMix64;

/// Kind of the hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StudyScenario {
    StatementRest,
    StatementRestMidName,
    ControlStatement,
    ControlBody,
    FunctionBody,
    FunctionRest,
    CompleteBody,
}

impl StudyScenario {
    pub(crate) const ALL: [StudyScenario; 7] = [
        StudyScenario::StatementRest,
        StudyScenario::StatementRestMidName,
        StudyScenario::ControlStatement,
        StudyScenario::ControlBody,
        StudyScenario::FunctionBody,
        StudyScenario::FunctionRest,
        StudyScenario::CompleteBody,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            StudyScenario::StatementRest => "rest of a statement",
            StudyScenario::StatementRestMidName => "rest of a statement, mid-name",
            StudyScenario::ControlStatement => "control statement",
            StudyScenario::ControlBody => "control body",
            StudyScenario::FunctionBody => "function body",
            StudyScenario::FunctionRest => "rest of a function body",
            StudyScenario::CompleteBody => "complete body",
        }
    }
}

/// A hole in a file.
#[derive(Clone, Debug)]
pub(crate) struct StudyCase {
    pub(crate) scenario: StudyScenario,
    /// Index of the file.
    pub(crate) file: usize,
    pub(crate) hole: Range<usize>,
}

impl StudyCase {
    /// Returns the text before the cursor. After a complete body, the cursor is on a new line with the indentation of its last
    /// one.
    pub(crate) fn before(&self, file: &SourceFile) -> String {
        let before = &file.text[..self.hole.start];
        if self.scenario != StudyScenario::CompleteBody {
            return before.to_owned();
        }
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        format!("{before}\n{indentation}")
    }
}

/// Maximum file size in bytes; larger files are tables and tests of tables.
const MAX_FILE_BYTES: usize = 300_000;
const MAX_PER_FILE: usize = 6;
const MAX_STATEMENT_LINE_ENDS: usize = 3;
const STATEMENT_BYTES: Range<usize> = 16..200;
const MAX_BLOCK_LINE_ENDS: usize = 25;
const MAX_FUNCTION_LINE_ENDS: usize = 30;
/// Minimum length of a name in bytes.
const MIN_NAME: usize = 4;
/// Maximum typed characters of a name.
const MAX_TYPED: usize = 3;

/// Returns up to `per_scenario` cases of each scenario, spread over the files; deterministic for the same files and seed.
pub(crate) fn mine(files: &[SourceFile], per_scenario: usize, seed: u64) -> Vec<StudyCase> {
    let mut random = SplitMix64::new(seed);
    let mut pool: BTreeMap<StudyScenario, Vec<StudyCase>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate().filter(|(_, file)| file.text.len() <= MAX_FILE_BYTES) {
        for (scenario, hole) in holes(file, &mut random) {
            pool.entry(scenario).or_default().push(StudyCase { scenario, file: index, hole });
        }
    }
    pool.into_values().flat_map(|cases| sample(cases, per_scenario, &mut random)).collect()
}

fn sample(mut cases: Vec<StudyCase>, count: usize, random: &mut SplitMix64) -> Vec<StudyCase> {
    for end in (1..cases.len()).rev() {
        cases.swap(end, random.below(end + 1));
    }
    let mut of_file: BTreeMap<usize, usize> = BTreeMap::new();
    cases.retain(|case| {
        let drawn = of_file.entry(case.file).or_default();
        *drawn += 1;
        *drawn <= MAX_PER_FILE
    });
    cases.truncate(count);
    cases
}

type StudyHole = (StudyScenario, Range<usize>);

fn holes(file: &SourceFile, random: &mut SplitMix64) -> Vec<StudyHole> {
    let tree = syntax::parse(file.language, &file.text);
    // In C, macros cause parse errors in most files.
    if tree.has_error() && !matches!(file.language, Language::C | Language::Cpp) {
        return Vec::new();
    }
    let blocks = tree.blocks(&file.text);
    let sound = blocks.iter().filter(|block| !block.has_error);
    sound.flat_map(|block| holes_of(file, block, random)).collect()
}

fn holes_of(file: &SourceFile, block: &Block, random: &mut SplitMix64) -> Vec<StudyHole> {
    match block.kind {
        BlockKind::Statement | BlockKind::Import => statement_holes(file, &block.range, random),
        BlockKind::Function => function_holes(&file.text, block, random),
        _ => control_holes(&file.text, block),
    }
}

fn statement_holes(file: &SourceFile, range: &Range<usize>, random: &mut SplitMix64) -> Vec<StudyHole> {
    let text = &file.text[range.clone()];
    let lexed = syntax::lex(file.language, text);
    let starts = |kind: Option<TokenKind>| {
        lexed.iter().skip(1).filter(move |token| match kind {
            Some(kind) => token.kind == kind,
            None => token.kind != TokenKind::Newline,
        })
    };
    let boundaries: Vec<usize> = starts(None).map(|token| token.range.start).collect();
    let is_import =
        ["import ", "from ", "use ", "using ", "#", "package "].iter().any(|word| text.starts_with(word));
    let fits = STATEMENT_BYTES.contains(&text.len()) && line_ends(text) <= MAX_STATEMENT_LINE_ENDS;
    if boundaries.len() < 3 || is_import || !fits {
        return Vec::new();
    }
    let at = boundaries[random.below(boundaries.len() - 1)];
    let mut holes = vec![(StudyScenario::StatementRest, range.start + at..range.end)];
    let names: Vec<&Range<usize>> = starts(Some(TokenKind::Word)).map(|token| &token.range).collect();
    let names: Vec<_> = names
        .iter()
        .filter(|name| {
            let word = &text[(**name).clone()];
            word.len() >= MIN_NAME && word.is_ascii() && !syntax::is_reserved(file.language, word)
        })
        .collect();
    if !names.is_empty() {
        let name = names[random.below(names.len())];
        let typed = 1 + random.below(MAX_TYPED.min(name.len() - 2));
        holes.push((StudyScenario::StatementRestMidName, range.start + name.start + typed..range.end));
    }
    holes
}

fn control_holes(text: &str, block: &Block) -> Vec<StudyHole> {
    let mut holes = Vec::new();
    let whole = &text[block.range.clone()];
    let is_part = ["elif", "else", "except", "catch", "finally"].iter().any(|word| whole.starts_with(word));
    let lines = line_ends(whole);
    if !is_part && (1..=MAX_BLOCK_LINE_ENDS).contains(&lines) && starts_line(text, block.range.start) {
        holes.push((StudyScenario::ControlStatement, block.range.clone()));
    }
    if let Some(hole) = body(text, block).filter(|_| lines <= MAX_BLOCK_LINE_ENDS) {
        holes.push((StudyScenario::ControlBody, hole));
    }
    holes
}

fn function_holes(text: &str, block: &Block, random: &mut SplitMix64) -> Vec<StudyHole> {
    let Some(hole) = body(text, block) else { return Vec::new() };
    let statements = block.body.as_ref().map(|body| body.statements.as_slice()).unwrap_or_default();
    if line_ends(&text[hole.clone()]) > MAX_FUNCTION_LINE_ENDS {
        return Vec::new();
    }
    let mut holes = vec![(StudyScenario::FunctionBody, hole.clone())];
    if statements.len() >= 3 {
        let next = &statements[1 + random.below(statements.len() - 1)];
        if starts_line(text, next.start) {
            holes.push((StudyScenario::FunctionRest, next.start..hole.end));
        }
    }
    if statements.len() >= 2 {
        holes.push((StudyScenario::CompleteBody, hole.end..hole.end));
    }
    holes
}

/// Returns the range from the first to the last statement of the body, if the first one starts a line.
fn body(text: &str, block: &Block) -> Option<Range<usize>> {
    let statements = &block.body.as_ref()?.statements;
    let hole = statements.first()?.start..statements.last()?.end;
    (starts_line(text, hole.start) && !hole.is_empty()).then_some(hole)
}

fn starts_line(text: &str, offset: usize) -> bool {
    let line = &text[text[..offset].rfind('\n').map_or(0, |end| end + 1)..offset];
    line.trim().is_empty()
}

fn line_ends(text: &str) -> usize {
    text.matches('\n').count()
}
