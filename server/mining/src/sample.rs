//! Samples the holes that become cases, balanced over scenario, block kind, cut, language and file.
//!
//! Each level is filled in proportion to its weights by Sainte-Laguë's method, which needs no rounding and is fair for every
//! length; within a file the order is random. Holes do not overlap, except for twins, which share one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::repeat_n;
use std::ops::Range;

use cases::{BlockKind, Case, Scenario, Task};
use rayon::prelude::*;
use syntax::Language;

use crate::cross_file::{CrossFileHole, CrossFileMiner, VARIANT_COUNT, without_whitespace};
use crate::cut_case::{MiningRepository, SuffixExtent, shape_task};
use crate::hole_candidates::HoleCounts;
use crate::lazy_holes::LazyHoles;
use crate::parsed_file::{CutShape, Hole};
use crate::seeded_random::SeededRandom;
use crate::unanswerable::{LeftOut, UnanswerableReason, unanswerable_reason};
use crate::{Judge, MiningOptions, MiningResult, Mix};

/// Minimum share of `inner_block` cases with a complete body, as in Codev-Bench.
const EMPTY_SHARE: f64 = 0.2;
/// Target number of such cases, which raises their share in small suites: restraint is measured only on them. With 60 pairs of
/// answers, McNemar's test detects in four of five suites that an engine that is silent in 80 % is better than one that is
/// silent in 55 % (57 pairs at a two-sided level of 5 %, if the engines answer independently; engines that agree more often
/// need fewer).
const EMPTY_CASES: usize = 60;
/// Maximum share of such cases in `inner_block`.
const MAX_EMPTY_SHARE: f64 = 0.5;
/// Share of imports among the cases that Codev-Bench calls statements. A random sample would contain a quarter in most
/// repositories and half in Python's, although an editor's own actions write most imports.
const IMPORT_SHARE: f64 = 0.1;
/// Share of statements in Codev-Bench's industrial log, renormalized over the kinds.
const REAL_USE_STATEMENTS: f64 = 0.849;
const REAL_USE_CONTROL: f64 = 0.081;
const REAL_USE_FUNCTIONS: f64 = 0.071;
/// Share of whole lines among the completions of the same log; the rest are parts of lines.
const REAL_USE_WHOLE_LINES: f64 = 0.49;
const REAL_USE_PARTS_OF_LINES: f64 = 0.32;

/// Number of draws that are forecast, so that their files are parsed on all cores. The cases do not depend on it.
const FORECAST: usize = 256;

/// Returns the weight of a scenario; most have 1. Each hole of `cross_file` makes three cases, and `inner_block` measures two
/// things: the continuation of a body, and whether it is complete.
fn scenario_weight(scenario: Scenario) -> usize {
    match scenario {
        Scenario::CrossFile | Scenario::InnerBlock => 2,
        _ => 1,
    }
}

/// Samples `options.cases` cases.
pub(crate) fn sample_cases(
    repository: &MiningRepository<'_>,
    holes: &LazyHoles<'_>,
    options: &MiningOptions,
    judge: Option<&Judge<'_>>,
) -> MiningResult {
    let mut drawer = CaseSampler {
        repository,
        holes,
        options,
        judge,
        taken: BTreeMap::new(),
        ids: BTreeSet::new(),
        questions: HashMap::new(),
        truths: BTreeSet::new(),
        left_out: refused(holes.counts(), options),
        cases: Vec::new(),
    };
    let mut missing = BTreeMap::new();
    for (&scenario, wanted) in options.scenarios.iter().zip(shares(options)) {
        let found = drawer.sample_scenario(scenario, wanted);
        if found < wanted {
            missing.insert(scenario, wanted - found);
        }
    }
    MiningResult { cases: drawer.cases, missing, left_out: drawer.left_out, parses: 0 }
}

/// Returns the number of cases per scenario, in their order, by their weights; for `cross_file` a multiple of three.
fn shares(options: &MiningOptions) -> Vec<usize> {
    let weight_of = |scenarios: &[Scenario]| scenarios.iter().copied().map(scenario_weight).sum::<usize>();
    let (mut wanted, mut weight) = (options.cases, weight_of(&options.scenarios));
    let mut shares = BTreeMap::new();
    // `cross_file` cases come in threes; the other scenarios share the rest.
    if options.scenarios.contains(&Scenario::CrossFile) {
        let own = scenario_weight(Scenario::CrossFile);
        let share = wanted * own / weight;
        let share = if weight == own {
            wanted.next_multiple_of(VARIANT_COUNT)
        } else {
            share - share % VARIANT_COUNT
        };
        shares.insert(Scenario::CrossFile, share);
        (wanted, weight) = (wanted.saturating_sub(share), weight - own);
    }
    for &scenario in options.scenarios.iter().filter(|&&scenario| scenario != Scenario::CrossFile) {
        let own = scenario_weight(scenario);
        let share = (wanted * own).div_ceil(weight);
        shares.insert(scenario, share);
        (wanted, weight) = (wanted - share, weight - own);
    }
    options.scenarios.iter().map(|scenario| shares.get(scenario).copied().unwrap_or_default()).collect()
}

struct CaseSampler<'a> {
    repository: &'a MiningRepository<'a>,
    holes: &'a LazyHoles<'a>,
    options: &'a MiningOptions,
    judge: Option<&'a Judge<'a>>,
    /// Hidden ranges by file.
    taken: BTreeMap<usize, Vec<Range<usize>>>,
    ids: BTreeSet<String>,
    /// Hash of prefix and suffix to the file of the case.
    questions: HashMap<blake3::Hash, usize>,
    /// Truths of `cross_file` without whitespace.
    truths: BTreeSet<String>,
    left_out: LeftOut,
    cases: Vec<Case>,
}

/// Counts the rejected holes that some requested scenario could have used.
fn refused(counts: &[HoleCounts], options: &MiningOptions) -> LeftOut {
    let is_wanted = |shape: CutShape| {
        let mut in_file = options.scenarios.iter().filter(|&&scenario| scenario != Scenario::CrossFile);
        in_file.any(|&scenario| shape_weight(shape, scenario, options.mix, options.cases) > 0.0)
    };
    let mut counted = LeftOut::new();
    let refused = counts.iter().flat_map(|file| &file.refused);
    for ((_, obstacle), number) in refused.filter(|((shape, _), _)| is_wanted(*shape)) {
        *counted.entry(*obstacle).or_default() += number;
    }
    counted
}

impl CaseSampler<'_> {
    fn sample_scenario(&mut self, scenario: Scenario, wanted: usize) -> usize {
        if scenario == Scenario::CrossFile {
            return self.sample_cross_file(wanted);
        }
        let mut found = if scenario == Scenario::Rag { self.sample_rag_twins(wanted) } else { 0 };
        let holes = self.holes;
        let mut pool = HolePool::new(self.repository, holes.counts(), scenario, self.options, wanted - found);
        while found < wanted {
            let Some(draw) = pool.next() else {
                let imports = pool.undrawn(BlockKind::Import);
                self.leave_out(repeat_n(UnanswerableReason::ImportShare, imports));
                break;
            };
            if !holes.is_cut(draw.file) {
                holes.cut_all(&pool.forecast(&draw, FORECAST.min(wanted - found)));
            }
            let hole = holes.hole(draw.file, draw.kind, draw.shape, draw.number);
            if hole.is_some_and(|hole| self.add(draw.file, hole, scenario)) {
                pool.count(&draw);
                found += 1;
            }
        }
        found
    }

    /// Adds the full-block cases with an enclosing function again, with similar functions as context.
    fn sample_rag_twins(&mut self, wanted: usize) -> usize {
        let originals = self.cases.iter().filter(|case| case.scenario() == Scenario::FullBlock);
        let originals: Vec<&Case> = originals.take_while(|_| wanted > 0).collect();
        self.repository.prepare_copies();
        let twins: Vec<Option<Case>> = originals.par_iter().map(|case| self.rag_twin(case)).collect();
        let twins: Vec<Case> = twins.into_iter().flatten().take(wanted).collect();
        let found = twins.len();
        self.cases.extend(twins);
        found
    }

    fn rag_twin(&self, case: &Case) -> Option<Case> {
        let file = self.repository.files.iter().position(|file| *file.path == *case.path)?;
        // Nested blocks may have the same range and kind: the body of one `if` may be another one.
        let key = |hole: &Hole| (hole.range.clone(), Some(hole.kind), Task::Complete(shape_task(hole.shape)));
        let asked = (case.byte_range.clone(), case.block_kind, case.task);
        let hole = self.holes.of(file).iter().find(|hole| key(hole) == asked)?;
        self.repository.cut(file, hole, Scenario::Rag, SuffixExtent::Whole)
    }

    fn sample_cross_file(&mut self, wanted: usize) -> usize {
        let quarry = CrossFileMiner::new(self.repository, self.options, self.judge);
        let mut found = 0;
        for (mut holes, refused) in quarry.batches() {
            refused
                .into_iter()
                .for_each(|(obstacle, count)| *self.left_out.entry(obstacle).or_default() += count);
            while found < wanted && !holes.is_empty() {
                let few = holes.len().min((wanted - found).div_ceil(VARIANT_COUNT));
                let tried: Vec<CrossFileHole> = holes.drain(..few).collect();
                for (hole, cases) in tried.iter().zip(quarry.cut(&tried)) {
                    match cases.and_then(|cases| self.add_cross_file(hole, cases)) {
                        Ok(added) => found += added,
                        Err(obstacle) => self.leave_out([obstacle]),
                    }
                }
            }
            if found >= wanted {
                break;
            }
        }
        found
    }

    /// Adds the cases of a hole, unless it overlaps another one. Returns the number of added cases, or why there are none.
    fn add_cross_file(
        &mut self,
        hole: &CrossFileHole,
        cases: [Case; VARIANT_COUNT],
    ) -> Result<usize, UnanswerableReason> {
        unanswerable_reason(&cases[0]).map_or(Ok(()), Err)?;
        let taken = self.taken.entry(hole.file).or_default();
        if taken.iter().any(|other| overlap(other, &hole.range)) {
            return Ok(0);
        }
        if !self.truths.insert(without_whitespace(&cases[0].truth)) {
            return Err(UnanswerableReason::SameTruth);
        }
        if is_duplicate_question(&mut self.questions, &cases[0], hole.file) {
            return Err(UnanswerableReason::AskedElsewhere);
        }
        taken.push(hole.range.clone());
        self.ids.extend(cases.iter().map(|case| case.id.clone()));
        self.cases.extend(cases);
        Ok(VARIANT_COUNT)
    }

    fn leave_out(&mut self, obstacles: impl IntoIterator<Item = UnanswerableReason>) {
        obstacles.into_iter().for_each(|obstacle| *self.left_out.entry(obstacle).or_default() += 1);
    }

    /// Cuts the hole, unless it overlaps another one, the scenario is not applicable, or the same question is already in the
    /// suite.
    fn add(&mut self, file: usize, hole: &Hole, scenario: Scenario) -> bool {
        let taken = self.taken.entry(file).or_default();
        if taken.iter().any(|other| overlap(other, &hole.range)) {
            return false;
        }
        let tails = tails(scenario, self.cases.len());
        let case = tails.iter().find_map(|&tail| self.repository.cut(file, hole, scenario, tail));
        let Some(case) = case else {
            self.leave_out(self.repository.obstacle(file, hole, tails));
            return false;
        };
        if self.ids.contains(&case.id) {
            return false;
        }
        let is_asked = |asked: &mut _| is_duplicate_question(asked, &case, file);
        let obstacle = unanswerable_reason(&case)
            .or_else(|| is_asked(&mut self.questions).then_some(UnanswerableReason::AskedElsewhere));
        if let Some(obstacle) = obstacle {
            self.leave_out([obstacle]);
            return false;
        }
        let taken = self.taken.entry(file).or_default();
        taken.push(hole.range.clone());
        self.ids.insert(case.id.clone());
        self.cases.push(case);
        true
    }
}

/// Whether a case from another file has the same text around the cursor. Such a copy would count the same answer twice.
/// Otherwise records the case.
fn is_duplicate_question(asked: &mut HashMap<blake3::Hash, usize>, case: &Case, file: usize) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(case.prefix.len() as u64).to_le_bytes());
    hasher.update(case.prefix.as_bytes()).update(case.suffix.as_bytes());
    *asked.entry(hasher.finalize()).or_insert(file) != file
}

/// Whether two holes overlap, or an empty one is inside or at the edge of another.
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    if a.is_empty() || b.is_empty() {
        a.start <= b.end && b.start <= a.end
    } else {
        a.start < b.end && b.start < a.end
    }
}

/// Returns the possible tails, the preferred one first; incomplete suffixes alternate.
fn tails(scenario: Scenario, turn: usize) -> &'static [SuffixExtent] {
    match (scenario, turn % 2) {
        (Scenario::IncompleteSuffix, 0) => &[SuffixExtent::WithoutFunction, SuffixExtent::Nothing],
        (Scenario::IncompleteSuffix, _) => &[SuffixExtent::Nothing, SuffixExtent::WithoutFunction],
        _ => &[SuffixExtent::Whole],
    }
}

/// Returns the weight of a block kind; imports count against the share of statements.
fn kind_weight(kind: BlockKind, mix: Mix) -> f64 {
    /// Number of control block kinds: `if`, `for`, `while`, `try` and `catch`.
    const CONTROL_KINDS: f64 = 5.0;
    match (mix, kind) {
        (mix, BlockKind::Import) => IMPORT_SHARE * statement_weight(mix),
        (mix, BlockKind::Statement) => (1.0 - IMPORT_SHARE) * statement_weight(mix),
        (Mix::Even, _) => 1.0,
        (Mix::RealUse, BlockKind::Function) => REAL_USE_FUNCTIONS,
        (Mix::RealUse, _) => REAL_USE_CONTROL / CONTROL_KINDS,
    }
}

/// Returns the weight of Codev-Bench's statements, which include imports.
fn statement_weight(mix: Mix) -> f64 {
    match mix {
        Mix::Even => 1.0,
        Mix::RealUse => REAL_USE_STATEMENTS,
    }
}

/// Returns the maximum number of imports among this many cases of a scenario, by their weight. It is not exceeded even if
/// other kinds run out.
fn import_quota(wanted: usize, mix: Mix) -> usize {
    let all: f64 = BlockKind::ALL.iter().map(|&kind| kind_weight(kind, mix)).sum();
    (wanted as f64 * kind_weight(BlockKind::Import, mix) / all).ceil() as usize
}

/// Returns the share of complete bodies among this many cases of `inner_block`.
fn empty_share(wanted: usize) -> f64 {
    (EMPTY_CASES as f64 / wanted.max(1) as f64).clamp(EMPTY_SHARE, MAX_EMPTY_SHARE)
}

/// Returns the weight of a cut in a scenario with this many cases; 0 if the scenario has no such cut.
fn shape_weight(shape: CutShape, scenario: Scenario, mix: Mix, wanted: usize) -> f64 {
    match (scenario, shape, mix) {
        (Scenario::InnerBlock, CutShape::RestOfBlock, _) => 1.0 - empty_share(wanted),
        (Scenario::InnerBlock, CutShape::Empty, _) => empty_share(wanted),
        (Scenario::InnerBlock, _, _) | (_, CutShape::RestOfBlock | CutShape::Empty, _) => 0.0,
        (_, CutShape::MidStatement, Mix::RealUse) => REAL_USE_PARTS_OF_LINES,
        (_, CutShape::BlockStart, Mix::RealUse) => REAL_USE_WHOLE_LINES,
        (_, CutShape::BlockStart | CutShape::HeaderEnd | CutShape::MidStatement, _) => 1.0,
    }
}

/// The holes of one scenario that are not sampled yet.
#[derive(Clone)]
struct HolePool {
    mix: Mix,
    scenario: Scenario,
    /// Cases wanted.
    wanted: usize,
    strata: BTreeMap<(BlockKind, CutShape, Language), Stratum>,
    /// The files in random order; strata refer to them by index.
    files: Vec<usize>,
    random: SeededRandom,
    drawn_kinds: SampleCounts<BlockKind>,
    drawn_shapes: SampleCounts<CutShape>,
    drawn_languages: SampleCounts<Language>,
    drawn_places: SampleCounts<usize>,
}

/// A sampled hole and the levels that it counts for.
struct SampledHole {
    file: usize,
    kind: BlockKind,
    shape: CutShape,
    /// Its number among the holes of this kind and cut in the file.
    number: usize,
    language: Language,
    place: usize,
}

/// Numbers of the remaining holes of one kind, cut and language by index of their file, each list in random order.
#[derive(Clone, Default)]
struct Stratum {
    places: BTreeMap<usize, Vec<u32>>,
    holes: usize,
}

impl HolePool {
    fn new(
        repository: &MiningRepository<'_>,
        counts: &[HoleCounts],
        scenario: Scenario,
        options: &MiningOptions,
        wanted: usize,
    ) -> HolePool {
        let mut random = SeededRandom::new(options.seed, scenario.name());
        let mut files: Vec<usize> = (0..repository.files.len().min(counts.len())).collect();
        random.shuffle(&mut files);
        let mut strata: BTreeMap<_, Stratum> = BTreeMap::new();
        for (place, &file) in files.iter().enumerate() {
            for (&(kind, shape), &number) in &counts[file].holes {
                if number > 0 && shape_weight(shape, scenario, options.mix, wanted) > 0.0 {
                    let stratum = strata.entry((kind, shape, repository.files[file].language)).or_default();
                    stratum.places.insert(place, (0..number as u32).collect());
                    stratum.holes += number;
                }
            }
        }
        let lists = strata.values_mut().flat_map(|stratum| stratum.places.values_mut());
        lists.for_each(|list| random.shuffle(list));
        HolePool {
            mix: options.mix,
            scenario,
            wanted,
            strata,
            files,
            random,
            drawn_kinds: SampleCounts::default(),
            drawn_shapes: SampleCounts::default(),
            drawn_languages: SampleCounts::default(),
            drawn_places: SampleCounts::default(),
        }
    }

    /// Removes and returns the next hole by the shares.
    fn next(&mut self) -> Option<SampledHole> {
        let kind = self.next_kind()?;
        let of_kind = || self.strata.iter().filter(move |(key, _)| key.0 == kind);
        let weight = |shape| shape_weight(shape, self.scenario, self.mix, self.wanted);
        let shape = self.drawn_shapes.furthest_behind(of_kind().map(|(key, _)| (key.1, weight(key.1))))?;
        // The square root includes rare languages without displacing the main one.
        let sizes = of_kind()
            .filter(|(key, _)| key.1 == shape)
            .map(|(key, stratum)| (key.2, (stratum.holes as f64).sqrt()));
        let language = self.drawn_languages.furthest_behind(sizes)?;
        let stratum = self.strata.get_mut(&(kind, shape, language))?;
        let place = self.drawn_places.least(stratum.places.keys().copied())?;
        let number = stratum.take(place);
        if stratum.places.is_empty() {
            self.strata.remove(&(kind, shape, language));
        }
        Some(SampledHole { file: self.files[place], kind, shape, number: number?, language, place })
    }

    /// Returns the files of `draw` and of the next draws, if all of them become cases.
    fn forecast(&self, draw: &SampledHole, draws: usize) -> Vec<usize> {
        let mut pool = self.clone();
        pool.count(draw);
        let mut files = BTreeSet::from([draw.file]);
        for _ in 1..draws {
            let Some(next) = pool.next() else { break };
            pool.count(&next);
            files.insert(next.file);
        }
        files.into_iter().collect()
    }

    /// Returns the next kind, a random one of equals: in a fixed order all `empty` cases, which are every fifth case, would
    /// have the same kind.
    fn next_kind(&mut self) -> Option<BlockKind> {
        let mut kinds: Vec<BlockKind> = self.strata.keys().map(|key| key.0).collect();
        kinds.dedup();
        let imports = self.drawn_kinds.count_of(BlockKind::Import);
        kinds.retain(|&kind| kind != BlockKind::Import || imports < import_quota(self.wanted, self.mix));
        self.random.shuffle(&mut kinds);
        self.drawn_kinds.furthest_behind(kinds.into_iter().map(|kind| (kind, kind_weight(kind, self.mix))))
    }

    /// Returns the number of remaining holes of a kind.
    fn undrawn(&self, kind: BlockKind) -> usize {
        let strata = self.strata.iter().filter(|(key, _)| key.0 == kind);
        strata.map(|(_, stratum)| stratum.holes).sum()
    }

    /// Counts a hole that became a case.
    fn count(&mut self, draw: &SampledHole) {
        self.drawn_kinds.count(draw.kind);
        self.drawn_shapes.count(draw.shape);
        self.drawn_languages.count(draw.language);
        self.drawn_places.count(draw.place);
    }
}

impl Stratum {
    fn take(&mut self, place: usize) -> Option<usize> {
        let list = self.places.get_mut(&place)?;
        let number = list.pop().map(|number| number as usize);
        if list.is_empty() {
            self.places.remove(&place);
        }
        self.holes -= usize::from(number.is_some());
        number
    }
}

/// Number of samples per item.
#[derive(Clone)]
struct SampleCounts<T>(BTreeMap<T, usize>);

impl<T> Default for SampleCounts<T> {
    fn default() -> SampleCounts<T> {
        SampleCounts(BTreeMap::new())
    }
}

impl<T: Ord + Copy> SampleCounts<T> {
    fn count(&mut self, item: T) {
        *self.0.entry(item).or_default() += 1;
    }

    fn count_of(&self, item: T) -> usize {
        self.0.get(&item).copied().unwrap_or_default()
    }

    /// Returns the item with the fewest samples, which is furthest behind if all have the same share; of equals, the first.
    fn least(&self, items: impl Iterator<Item = T>) -> Option<T> {
        let mut best: Option<(T, usize)> = None;
        for item in items {
            let count = self.count_of(item);
            if best.is_none_or(|(_, least)| count < least) {
                best = Some((item, count));
            }
            if count == 0 {
                break;
            }
        }
        best.map(|(item, _)| item)
    }

    /// Returns the item that is furthest behind its share (Sainte-Laguë: weight / (2 sampled + 1)); of equals, the first.
    fn furthest_behind(&self, items: impl Iterator<Item = (T, f64)>) -> Option<T> {
        let owed = |(item, weight): (T, f64)| weight / (2 * self.count_of(item) + 1) as f64;
        items
            .fold(None, |best, item| match best {
                Some(best) if owed(best) >= owed(item) => Some(best),
                _ => Some(item),
            })
            .map(|(item, _)| item)
    }
}
