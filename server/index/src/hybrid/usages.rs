//! Usages of the likeliest names in other files.

use rustc_hash::FxHashSet;
use syntax::{DefinitionKind, Mention};

use super::HybridQuery;
use super::definition_ranking::{DefinitionCandidate, DefinitionRanking};
use super::hit_collector::{HitCollector, HitReason, NumberedLine};
use crate::HitKind;
use crate::file_index::{CodeLine, DefinitionShape, FileIndex, SegmentFile};
use crate::occurrences::{Occurrence, OccurrenceSample};

/// Maximum candidates whose names are searched.
const MAX_CANDIDATES: usize = 14;
/// Maximum blocks of one name that are compared.
const MAX_PLACES: usize = 80;
/// Maximum blocks that are examined for examples: most are good ones, and reading a file's literals takes time.
const MAX_EXAMINED: usize = 200;
/// Maximum examples.
const MAX_SHOWN: usize = 4;
/// Maximum examples of one name.
const MAX_OF_NAME: usize = 2;
/// Lines shown before and after the one with the name.
const BEFORE: usize = 1;
const AFTER: usize = 2;
/// Relevance factor of names that occur everywhere.
const COMMON_NAME: f32 = 0.5;
/// Minimum relevance of a usage, even in dissimilar surroundings.
const MIN_RELEVANCE: f32 = 0.15;
/// Assumed rarity of terms missing in a short block, so that a single common term doesn't make it similar.
const MISSING_RARITY: f32 = 3.0;

/// A block of lines with a name.
struct UsageBlock<'a> {
    file: SegmentFile<'a>,
    block: u32,
    /// Index of the name.
    name: usize,
    relevance: f32,
}

/// A name whose usages are searched.
struct UsageTarget<'a> {
    name: &'a str,
    probability: f32,
    /// Whether it has to be accessed through a value, type or module, if it is not called.
    is_member: bool,
    /// The files that define it, whose usages belong to the implementation.
    defined_in: Vec<&'a str>,
}

/// Shows examples as long as they fit into `limit` bytes of all hits.
pub(crate) fn show(
    question: &HybridQuery<'_>,
    ranking: &DefinitionRanking<'_>,
    limit: usize,
    shown: &mut HitCollector,
) {
    let names = names(&ranking.candidates);
    let mut texts = FxHashSet::default();
    let mut of_name = vec![0; names.len()];
    let mut count = 0;
    let mut places = RankedBlocks::new(question, &names).take(MAX_EXAMINED);
    while count < MAX_SHOWN
        && shown.used() < limit
        && !question.searcher.is_cancelled()
        && let Some(place) = places.next()
    {
        if of_name[place.name] == MAX_OF_NAME {
            continue;
        }
        let wanted = &names[place.name];
        let Some(position) = first_use(place.file, place.block, wanted, shown) else { continue };
        let line = &place.file.lines()[position];
        if !texts.insert(place.file.index.line_text(line).trim()) {
            continue;
        }
        let lines = surrounding_lines(&place.file, position, shown);
        if question.is_known(&lines) {
            continue;
        }
        let reason = format!("uses {}", wanted.name);
        let about = Some((line.number, wanted.name));
        let why =
            HitReason { kind: HitKind::Use, score: f64::from(place.relevance), reason, about, min_lines: 1 };
        if shown.add(&place.file.file().path, lines, limit, why) {
            of_name[place.name] += 1;
            count += 1;
        }
    }
}

/// Returns the distinct names of the likeliest candidates. A constructor is used by its type's name.
fn names<'a>(candidates: &[DefinitionCandidate<'a>]) -> Vec<UsageTarget<'a>> {
    let mut names: Vec<UsageTarget<'a>> = Vec::new();
    for candidate in candidates.iter().take(MAX_CANDIDATES) {
        let def = candidate.def;
        let named = match (def.definition().kind, def.container()) {
            (DefinitionKind::Constructor, Some(container)) => container,
            _ => def,
        };
        let (name, is_member) = (&*named.definition().name, named.definition().is_member());
        match names.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.is_member &= is_member;
                known.defined_in.push(named.file.path());
            }
            None => names.push(UsageTarget {
                name,
                probability: candidate.probability,
                is_member,
                defined_in: vec![named.file.path()],
            }),
        }
    }
    names
}

/// The blocks with the names, most relevant first. Those of a name are compared only if one of them may be the next: most names are
/// so much less probable than the first ones that they are never needed.
struct RankedBlocks<'q> {
    question: &'q HybridQuery<'q>,
    /// Most probable first.
    names: &'q [UsageTarget<'q>],
    /// Number of names whose blocks are compared.
    compared: usize,
    /// Their blocks, most relevant last.
    blocks: Vec<UsageBlock<'q>>,
    buffer: Vec<u32>,
}

impl<'q> RankedBlocks<'q> {
    fn new(question: &'q HybridQuery<'q>, names: &'q [UsageTarget<'q>]) -> RankedBlocks<'q> {
        RankedBlocks { question, names, compared: 0, blocks: Vec::new(), buffer: Vec::new() }
    }

    /// Adds the blocks of the next name.
    fn compare(&mut self, wanted: &UsageTarget<'_>) {
        let question = self.question;
        let OccurrenceSample { sample, total } = question.searcher.sample_occurrences(
            wanted.name,
            &wanted.defined_in,
            MAX_PLACES,
            &mut self.buffer,
        );
        let common = if total < MAX_PLACES { 1.0 } else { COMMON_NAME };
        self.blocks.extend(sample.into_iter().map(|Occurrence { file, block }| {
            let relevance = relevance(wanted, common, likeness(question, &file, block));
            UsageBlock { file, block, name: self.compared, relevance }
        }));
        self.blocks.sort_by(|one, other| {
            let order = |block: &UsageBlock<'_>| (block.name, block.block);
            let by_path = other.file.path().cmp(one.file.path());
            one.relevance.total_cmp(&other.relevance).then(by_path).then(order(other).cmp(&order(one)))
        });
        self.compared += 1;
    }
}

impl<'q> Iterator for RankedBlocks<'q> {
    type Item = UsageBlock<'q>;

    fn next(&mut self) -> Option<UsageBlock<'q>> {
        while let Some(wanted) = self.names.get(self.compared)
            && self.blocks.last().is_none_or(|best| best.relevance <= relevance(wanted, 1.0, 1.0))
        {
            self.compare(wanted);
        }
        self.blocks.pop()
    }
}

/// Returns the relevance of a block with a name: grows with each argument, whose maximum is 1.
fn relevance(wanted: &UsageTarget<'_>, common: f32, likeness: f32) -> f32 {
    wanted.probability * common * (MIN_RELEVANCE + likeness)
}

/// Returns the share of a block's terms that occur around the cursor, weighted by rarity.
fn likeness(question: &HybridQuery<'_>, file: &FileIndex, block: u32) -> f32 {
    let around = &question.cursor_terms;
    let (mut shared, mut all) = (0.0, 0.0);
    let bags = file.block_terms();
    let terms = bags.terms();
    for term in bags.bag(block as usize).map(|entry| terms[entry.term as usize]) {
        let rarity = around.rarity(question.searcher, term);
        all += rarity;
        shared += rarity * around.weights.get(&term).copied().unwrap_or(0.0).min(1.0);
    }
    shared / (all + MISSING_RARITY)
}

/// Returns the first line of a block, as an index of code lines, that uses a name and is not shown yet.
fn first_use(
    file: SegmentFile<'_>,
    block: u32,
    wanted: &UsageTarget<'_>,
    shown: &HitCollector,
) -> Option<usize> {
    let lines = file.block_lines(block);
    let first =
        file.lines().partition_point(|line| line.number < lines.first().map_or(0, |line| line.number));
    lines
        .iter()
        .position(|line| !shown.covers(file.path(), line.number) && is_use(file, line, wanted))
        .map(|position| first + position)
}

/// Whether a line uses a name, as opposed to defining, importing or describing it.
fn is_use(file: SegmentFile<'_>, line: &CodeLine, wanted: &UsageTarget<'_>) -> bool {
    let defines = |(position, shape): (u32, DefinitionShape)| {
        shape.line == line.number && *file.definition_name(position) == *wanted.name
    };
    file.line_text(line).contains(wanted.name)
        && !file.language().is_comment_line(file.line_text(line))
        && !file.imports().iter().any(|import| import.line == line.number)
        && !(0..).zip(file.definition_shapes()).any(defines)
        && file.mentions(line, wanted.name).iter().any(|mention| match mention {
            Mention::Member | Mention::Called => true,
            Mention::Bare => !wanted.is_member,
            Mention::Defined => false,
        })
}

/// Returns the lines around one, including it, without those that are shown already.
fn surrounding_lines(file: &FileIndex, line: usize, shown: &HitCollector) -> Vec<NumberedLine> {
    let lines = file.lines();
    let around = line.saturating_sub(BEFORE)..lines.len().min(line + AFTER + 1);
    let new = lines[around].iter().filter(|line| !shown.covers(file.path(), line.number));
    new.map(|line| (line.number, file.line_text(line).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use syntax::{Language, Projects, SourceFile};

    use super::*;
    use crate::hybrid::with_ranking;
    use crate::{Index, RetrievalQuery};

    #[test]
    fn blocks_of_all_names_are_ranked_together() {
        let file = |path: String, text: String| {
            Arc::new(FileIndex::new(SourceFile {
                path: path.into(),
                language: Language::Python,
                text: text.into(),
            }))
        };
        let names = ["load_order", "save_order", "drop_order", "print_order"];
        let definitions: String =
            names.iter().map(|name| format!("def {name}(order):\n    return order\n")).collect();
        let mut files = vec![file("orders.py".to_owned(), definitions)];
        for number in 0..60 {
            let similar = ["price", "order", "user", "x"][number % 4];
            let (first, second) = (names[number % 4], names[number / 4 % 4]);
            let text = format!(
                "a = {first}({similar})\nb = {similar}{number}\nc = 1\n{second}(order, {similar})\nd = 2\n"
            );
            files.push(file(format!("{:02}.py", 59 - number), text));
        }
        let index = Index::from_files(files);
        let query = RetrievalQuery {
            path: "here.py",
            language: Language::Python,
            prefix: "from orders import *\n\ndef total(order, price):\n    order = load_order(price)\n    ",
            suffix: "\n    save_order(order)\n",
            recent: &[],
        };
        let searcher = index.hide(&[]);
        let checked = with_ranking(&searcher, &Projects::default(), &query, |question, _, ranking| {
            let targets = super::names(&ranking.candidates);
            let blocks: Vec<UsageBlock<'_>> = RankedBlocks::new(question, &targets).collect();
            let mut expected = Vec::new();
            for (name, wanted) in targets.iter().enumerate() {
                let found =
                    searcher.sample_occurrences(wanted.name, &wanted.defined_in, MAX_PLACES, &mut Vec::new());
                expected.extend(
                    found.sample.iter().map(|found| (found.file.path().to_owned(), found.block, name)),
                );
            }
            let mut all: Vec<(String, u32, usize)> =
                blocks.iter().map(|block| (block.file.path().to_owned(), block.block, block.name)).collect();
            assert!(blocks.is_sorted_by(|one, other| one.relevance >= other.relevance));
            let of_first: BTreeSet<usize> = all.iter().take(40).map(|(_, _, name)| *name).collect();
            assert!(targets.len() >= names.len() && of_first.len() > 1, "{all:?}");
            all.sort();
            expected.sort();
            assert_eq!(all, expected);
        });
        assert!(checked.is_some());
    }
}
