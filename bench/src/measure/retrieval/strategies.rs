//! The compared strategies, and their output within the budget.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cases::Case;
use index::cceval::{
    self, ChunkCandidates, ChunkHit, ChunkRanking, FileChunks, LocalPromptSettings, RetrievalSetting,
};
use index::{Hit, RetrievalQuery, Searcher, Strategy, TokenBudget};
use syntax::{Language, Projects, SourceFile};

use super::mined_repository::MinedRepository;
use super::{BUDGET_TOKENS, CHARACTERS_PER_TOKEN};

/// A row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RetrievalVariant {
    None,
    Rg1,
    Oracle,
    Functions,
    Symbols,
    SymbolsPrefix,
    Hybrid,
    HybridPrefix,
}

impl RetrievalVariant {
    pub(super) const ALL: [RetrievalVariant; 8] = [
        RetrievalVariant::None,
        RetrievalVariant::Rg1,
        RetrievalVariant::Oracle,
        RetrievalVariant::Functions,
        RetrievalVariant::Symbols,
        RetrievalVariant::SymbolsPrefix,
        RetrievalVariant::Hybrid,
        RetrievalVariant::HybridPrefix,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            RetrievalVariant::None => "none",
            RetrievalVariant::Rg1 => "bm25-chunks, RG-1",
            RetrievalVariant::Oracle => "bm25-chunks, oracle",
            RetrievalVariant::Functions => "functions",
            RetrievalVariant::Symbols => "symbols",
            RetrievalVariant::SymbolsPrefix => "symbols, prefix only",
            RetrievalVariant::Hybrid => "hybrid",
            RetrievalVariant::HybridPrefix => "hybrid, prefix only",
        }
    }
}

/// Context for an engine.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownContext {
    /// The code of each item.
    pub(super) code: Vec<String>,
    /// Size of the context in a prompt: the code as comments, with its source.
    pub(super) characters: usize,
    /// The lines of which at least a part is shown, 0-based, each with its file.
    pub(super) lines: Vec<(Arc<str>, u32)>,
    /// Time of the query.
    pub(super) took: Duration,
}

/// A repository for queries.
pub(super) struct Retriever<'a> {
    searcher: Searcher,
    projects: &'a Projects,
    chunks: Vec<Arc<FileChunks>>,
}

impl<'a> Retriever<'a> {
    pub(super) fn new(mined: &'a MinedRepository) -> Retriever<'a> {
        Retriever {
            searcher: mined.index.hide(&[]),
            projects: &mined.projects,
            chunks: mined.files.iter().map(chunks).collect(),
        }
    }

    pub(super) fn show(&self, asked: RetrievalVariant, language: Language, case: &Case) -> ShownContext {
        let of = |strategy, suffix| self.items(strategy, language, case, suffix);
        match asked {
            RetrievalVariant::None => ShownContext::default(),
            RetrievalVariant::Rg1 => self.chunks(RetrievalSetting::Rg1, language, case),
            RetrievalVariant::Oracle => {
                self.chunks(RetrievalSetting::Oracle { truth: &case.truth }, language, case)
            }
            RetrievalVariant::Functions => of(Strategy::Functions, &case.suffix),
            RetrievalVariant::Symbols => of(Strategy::Symbols, &case.suffix),
            RetrievalVariant::SymbolsPrefix => of(Strategy::Symbols, ""),
            RetrievalVariant::Hybrid => of(Strategy::Hybrid, &case.suffix),
            RetrievalVariant::HybridPrefix => of(Strategy::Hybrid, ""),
        }
    }

    fn items(&self, strategy: Strategy, language: Language, case: &Case, suffix: &str) -> ShownContext {
        let query = RetrievalQuery { path: &case.path, language, prefix: &case.prefix, suffix, recent: &[] };
        let start = Instant::now();
        let hits =
            self.searcher.retrieve(strategy, self.projects, &query, TokenBudget { tokens: BUDGET_TOKENS });
        let took = start.elapsed();
        ShownContext { took, ..render(language, &hits) }
    }

    /// CrossCodeEval's items in CrossCodeEval's format.
    fn chunks(&self, setting: RetrievalSetting<'_>, language: Language, case: &Case) -> ShownContext {
        let query = cceval::ChunkQuery { prefix: &case.prefix, setting, ranking: ChunkRanking::Bm25 };
        let start = Instant::now();
        let files = self.chunks.iter().map(|chunks| (&**chunks.path(), Arc::clone(chunks)));
        let hits = ChunkCandidates::new(cceval::nearest(&case.path, language, files)).retrieve(&query);
        let took = start.elapsed();
        let (text, fitting) = assemble(language, &hits);
        let lines_of =
            |hit: &ChunkHit| -> Vec<_> { hit.lines().map(|line| (Arc::clone(hit.path()), line)).collect() };
        ShownContext {
            code: fitting.iter().map(|hit| hit.text().to_owned()).collect(),
            characters: text.chars().count(),
            lines: fitting.iter().flat_map(lines_of).collect(),
            took,
        }
    }
}

fn chunks(file: &SourceFile) -> Arc<FileChunks> {
    Arc::new(FileChunks::new(Arc::clone(&file.path), &file.text))
}

/// The original's context of a prompt, and the chunks in it: those before the first that does not fit.
fn assemble(language: Language, hits: &[ChunkHit]) -> (String, &[ChunkHit]) {
    let settings = LocalPromptSettings { context_tokens: BUDGET_TOKENS, ..LocalPromptSettings::PAPER };
    let text = |hits| cceval::local_prompt_with_chunks(language, hits, "", &settings, &token_ends).text;
    let mut assembled = (String::new(), &hits[..0]);
    for count in 1..=hits.len() {
        let longer = text(&hits[..count]);
        if longer == assembled.0 {
            break;
        }
        assembled = (longer, &hits[..count]);
    }
    assembled
}

fn token_ends(text: &str) -> Vec<usize> {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut ends: Vec<usize> = ends.skip(CHARACTERS_PER_TOKEN - 1).step_by(CHARACTERS_PER_TOKEN).collect();
    if ends.last().copied().unwrap_or(0) < text.len() {
        ends.push(text.len());
    }
    ends
}

/// The items as comments, each under the path of its file unless the path is the same as before, up to the last line that fits.
fn render(language: Language, hits: &[Hit]) -> ShownContext {
    let sign = if language == Language::Python { "# " } else { "// " };
    let mut shown = ShownContext::default();
    let mut path = "";
    for hit in hits {
        let head = if *hit.path == *path { 0 } else { cost(sign, &hit.path) + ":".len() };
        path = &hit.path;
        let whole: Vec<u32> = (hit.start_line..hit.end_line).collect();
        let numbers = if hit.lines.is_empty() { &whole } else { &hit.lines };
        let mut left = (BUDGET_TOKENS * CHARACTERS_PER_TOKEN).saturating_sub(shown.characters + head);
        let lines: Vec<&str> = hit
            .text
            .lines()
            .take_while(|line| left.checked_sub(cost(sign, line)).map(|rest| left = rest).is_some())
            .collect();
        if lines.is_empty() {
            break;
        }
        shown.characters += head + lines.iter().map(|line| cost(sign, line)).sum::<usize>();
        shown.lines.extend(numbers.iter().take(lines.len()).map(|&number| (Arc::clone(&hit.path), number)));
        shown.code.push(lines.join("\n"));
    }
    shown
}

/// Characters of a comment line.
fn cost(sign: &str, line: &str) -> usize {
    sign.len() + line.chars().count() + "\n".len()
}

#[cfg(test)]
mod tests {
    use index::HitKind;

    use super::*;

    fn hit(path: &str, text: &str) -> Hit {
        Hit {
            path: path.into(),
            start_line: 4,
            end_line: 4 + text.lines().count() as u32,
            lines: Vec::new(),
            text: text.to_owned(),
            score: 1.0,
            strategy: "test",
            kind: HitKind::Chunk,
            reason: String::new(),
            bytes: 0,
        }
    }

    #[test]
    fn consecutive_hits_of_a_file_show_its_path_once() {
        let one = render(Language::Python, &[hit("a.py", "x = 1")]);
        assert_eq!((one.characters, one.lines), ("# a.py:\n# x = 1\n".len(), vec![("a.py".into(), 4)]));
        let two = render(Language::Java, &[hit("A.java", "x;"), hit("A.java", "y;")]);
        assert_eq!(two.characters, "// A.java:\n// x;\n// y;\n".len());
    }

    #[test]
    fn nothing_is_shown_beyond_the_budget() {
        let line = "x".repeat(97);
        let shown =
            render(Language::Python, &[hit("a.py", &vec![line.as_str(); 30].join("\n")), hit("b.py", "y")]);
        assert_eq!(
            (shown.lines.len(), shown.code.len()),
            (21, 2),
            "room for 20 lines of 100 characters, then one short one"
        );
        assert!(shown.characters <= BUDGET_TOKENS * CHARACTERS_PER_TOKEN);
    }

    #[test]
    fn the_last_token_may_be_short() {
        assert_eq!(token_ends("abcdé"), [4, 6]);
        assert_eq!(token_ends("abcd"), [4]);
        assert_eq!(token_ends(""), [] as [usize; 0]);
    }
}
