//! How the likeliest names are used elsewhere.

use rustc_hash::FxHashSet;
use syntax::DefinitionKind;

use super::Question;
use super::candidates::{Candidate, Ranking};
use super::render::{Line, Shown};
use crate::file_index::{CodeLine, FileIndex};
use crate::searcher::Occurrence;
use crate::terms::identifiers;

/// Candidates whose names are looked for.
const MAX_CANDIDATES: usize = 14;
/// Places of one name that are compared.
const MAX_PLACES: usize = 80;
/// Examples that are shown.
const MAX_SHOWN: usize = 4;
/// Examples of one name.
const MAX_OF_NAME: usize = 2;
/// Lines shown before and after the one with the name.
const BEFORE: usize = 1;
const AFTER: usize = 2;
/// Names that stand everywhere are of less help.
const COMMON_NAME: f32 = 0.5;
/// A use is worth this much even where nothing around it is alike.
const LEAST_WORTH: f32 = 0.15;
/// Rarity of terms that a short place is held to lack, so that it is not alike by one common term.
const MISSING_RARITY: f32 = 3.0;

/// A block of lines in which a name stands.
struct Place<'a> {
    file: &'a FileIndex,
    block: u32,
    /// Position among the names.
    name: usize,
    worth: f32,
}

/// Shows examples as long as they fit into `limit` bytes of all that is shown.
pub(crate) fn show(question: &Question<'_>, ranking: &Ranking<'_>, limit: usize, shown: &mut Shown) {
    let names = names(&ranking.candidates);
    let mut places: Vec<Place<'_>> =
        (0..).zip(&names).flat_map(|(number, name)| find(question, number, *name)).collect();
    places.sort_by(|one, other| {
        let order = |place: &Place<'_>| (place.name, place.block);
        let by_path = one.file.path().cmp(other.file.path());
        other.worth.total_cmp(&one.worth).then(by_path).then(order(one).cmp(&order(other)))
    });
    let mut texts = FxHashSet::default();
    let mut of_name = vec![0; names.len()];
    let mut count = 0;
    for place in places {
        if count == MAX_SHOWN || shown.used() >= limit {
            break;
        }
        if of_name[place.name] == MAX_OF_NAME {
            continue;
        }
        let name = names[place.name].0;
        let Some(line) = first_use(place.file, place.block, name, shown) else { continue };
        if texts.insert(place.file.line_text(&place.file.lines()[line]).trim()) {
            of_name[place.name] += 1;
            count += 1;
            let path = &place.file.file().path;
            let lines = neighbours(place.file, line, shown);
            if question.is_known(&lines) {
                continue;
            }
            shown.add(path, lines, limit, f64::from(place.worth), format!("uses {name}"));
        }
    }
}

/// The distinct names of the likeliest candidates with their probabilities. A constructor is used by its type's name.
fn names<'a>(candidates: &[Candidate<'a>]) -> Vec<(&'a str, f32)> {
    let mut names: Vec<(&str, f32)> = Vec::new();
    for candidate in candidates.iter().take(MAX_CANDIDATES) {
        let def = candidate.def;
        let named = match (def.get().kind, def.container()) {
            (DefinitionKind::Constructor, Some(container)) => container,
            _ => def,
        };
        let name = &*named.get().name;
        if !names.iter().any(|(known, _)| *known == name) {
            names.push((name, candidate.probability));
        }
    }
    names
}

/// The places of a name, with what each is worth.
fn find<'q>(question: &Question<'q>, name: usize, (text, probability): (&str, f32)) -> Vec<Place<'q>> {
    let places = question.searcher.occurrences(text);
    let every = places.len().div_ceil(MAX_PLACES).max(1);
    let common = if places.len() < MAX_PLACES { 1.0 } else { COMMON_NAME };
    let place = |Occurrence { file, block }: Occurrence<'q>| {
        let worth = probability * common * (LEAST_WORTH + likeness(question, file, block));
        Place { file, block, name, worth }
    };
    places.into_iter().step_by(every).map(place).collect()
}

/// Which share of a block's terms, by how rare they are, stands around the cursor.
fn likeness(question: &Question<'_>, file: &FileIndex, block: u32) -> f32 {
    let around = &question.around;
    let (mut shared, mut all) = (0.0, 0.0);
    let bags = file.block_terms();
    for term in bags.bag(block as usize).map(|entry| bags.terms()[entry.term as usize]) {
        let rarity = around.rarity(question.searcher, term);
        all += rarity;
        shared += rarity * around.weights.get(&term).copied().unwrap_or(0.0).min(1.0);
    }
    shared / (all + MISSING_RARITY)
}

/// The first line of a block, as its position among the code lines, that uses `name` and is not shown yet.
fn first_use(file: &FileIndex, block: u32, name: &str, shown: &Shown) -> Option<usize> {
    let lines = file.block_lines(block);
    let first =
        file.lines().partition_point(|line| line.number < lines.first().map_or(0, |line| line.number));
    let is_new = |line: &CodeLine| !shown.covers(file.path(), line.number) && is_use(file, line, name);
    lines.iter().position(is_new).map(|position| first + position)
}

/// Whether a line uses `name` rather than defining, importing or describing it.
fn is_use(file: &FileIndex, line: &CodeLine, name: &str) -> bool {
    let text = file.line_text(line);
    !file.language().is_comment_line(text)
        && identifiers(file.language(), text).any(|word| word == name)
        && !file.outline().imports.iter().any(|import| import.line == line.number)
        && !file.outline().definitions.iter().any(|definition| definition.line == line.number)
}

/// The lines around one, itself included, without those that are shown already.
fn neighbours(file: &FileIndex, line: usize, shown: &Shown) -> Vec<Line> {
    let lines = file.lines();
    let around = line.saturating_sub(BEFORE)..lines.len().min(line + AFTER + 1);
    let new = lines[around].iter().filter(|line| !shown.covers(file.path(), line.number));
    new.map(|line| (line.number, file.line_text(line).to_owned())).collect()
}
