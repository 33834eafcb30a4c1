//! The candidate definitions with their features, best first.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use syntax::DefinitionKind;

use super::HybridQuery;
use super::features::{Feature, Features};
use super::reachable::{ReachReasons, ReachableEntities, ReachableEntity, contents};
use crate::resolver::{Def, Entity, Module, Resolver};
use crate::terms::{PartBuffers, Term};

/// Maximum members of one type.
const MAX_MEMBERS: usize = 200;
/// Maximum bases of a type whose members are considered.
const MAX_BASES: usize = 8;
/// Maximum names of a module.
const MAX_OF_MODULE: usize = 300;
/// Maximum members of a type that is only nearby: those that can be named directly.
const MAX_MEMBERS_OF_NEARBY: usize = 12;
/// Maximum parameters whose names are compared.
const MAX_PARAMETERS: usize = 8;
/// Shorter names occur everywhere by chance.
const MIN_SUFFIX_NAME: usize = 3;

/// A candidate definition.
#[derive(Clone, Debug)]
pub(crate) struct DefinitionCandidate<'a> {
    pub(crate) def: Def<'a>,
    pub(crate) features: Features,
    /// Probability that it is needed next, among all candidates.
    pub(crate) probability: f32,
    reach: f32,
}

/// All candidates, best first.
pub(crate) struct DefinitionRanking<'a> {
    pub(crate) candidates: Vec<DefinitionCandidate<'a>>,
    /// Whether the expression before the dot is known.
    pub(crate) knows_receiver: bool,
}

/// Ranks the definitions of the entities in reach.
pub(crate) fn rank<'a>(
    question: &HybridQuery<'_>,
    resolver: &Resolver<'a>,
    ReachableEntities { list, knows_receiver }: ReachableEntities<'a>,
) -> DefinitionRanking<'a> {
    let mut emitter = CandidateCollector {
        question,
        resolver,
        knows_receiver,
        near: NearbyNames::new(question),
        typed_prefix: typed_prefix(question),
        parts: RefCell::default(),
        found: FxHashMap::default(),
        list: Vec::new(),
    };
    for owner in list {
        if question.searcher.is_cancelled() {
            break;
        }
        emitter.owner(owner);
    }
    DefinitionRanking { candidates: best_first(&emitter.list), knows_receiver }
}

/// Returns the candidates by their scores, with probabilities: the softmax of the scores.
fn best_first<'a>(candidates: &[DefinitionCandidate<'a>]) -> Vec<DefinitionCandidate<'a>> {
    let place = |index: usize| (candidates[index].def.file.path(), candidates[index].def.position);
    // A candidate is large, and a score is the sum of many products.
    let scores = candidates.iter().map(|candidate| candidate.features.score());
    let mut order: Vec<(f32, usize)> = scores.zip(0..).collect();
    order.sort_unstable_by(|(one_score, one), (other_score, other)| {
        other_score.total_cmp(one_score).then_with(|| place(*one).cmp(&place(*other)))
    });
    let best = order.first().map_or(0.0, |(score, _)| *score);
    let total: f32 = order.iter().map(|(score, _)| (score - best).exp()).sum();
    let ranked = |(score, index): (f32, usize)| DefinitionCandidate {
        probability: (score - best).exp() / total,
        ..candidates[index]
    };
    order.into_iter().map(ranked).collect()
}

/// Names and lines of the windows similar to the text around the cursor.
struct NearbyNames<'q> {
    /// By identifier: the best window's score as a share of the overall best one's.
    names: FxHashMap<Term, f32>,
    /// The same by file and line.
    lines: FxHashMap<(&'q str, u32), f32>,
}

impl<'q> NearbyNames<'q> {
    fn new(question: &'q HybridQuery<'_>) -> NearbyNames<'q> {
        let best = question.windows.first().map_or(1.0, |window| window.score);
        let mut near = NearbyNames { names: FxHashMap::default(), lines: FxHashMap::default() };
        for window in &question.windows {
            let share = (window.score / best) as f32;
            for term in window.file.window_terms(window.number) {
                near.names.entry(term).or_insert(share);
            }
            for line in window.file.window_lines(window.number) {
                near.lines.entry((window.file.path(), line.number)).or_insert(share);
            }
        }
        near
    }
}

/// Returns the part of a name directly before the cursor.
fn typed_prefix<'q>(question: &HybridQuery<'q>) -> &'q str {
    let prefix = question.query.prefix;
    let start = prefix.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let name = start.map_or(prefix, |at| &prefix[prefix.ceil_char_boundary(at + 1)..]);
    if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { name }
}

/// Collects the definitions of owners.
struct CandidateCollector<'q, 'a> {
    question: &'q HybridQuery<'q>,
    resolver: &'q Resolver<'a>,
    knows_receiver: bool,
    near: NearbyNames<'q>,
    typed_prefix: &'q str,
    parts: RefCell<PartBuffers>,
    found: FxHashMap<(usize, u32), usize>,
    list: Vec<DefinitionCandidate<'a>>,
}

impl<'a> CandidateCollector<'_, 'a> {
    fn owner(&mut self, ReachableEntity { entity, reach }: ReachableEntity<'a>) {
        match entity {
            Entity::Module(module) => self.module(module, reach),
            Entity::Def(def) if def.is_type() => self.type_(def, reach),
            Entity::Def(def) if def.shape().kind == DefinitionKind::Module => {
                for member in def.members().take(MAX_OF_MODULE) {
                    self.emit(member, reach, Some(def), true);
                }
            }
            Entity::Def(def) => self.emit(def, reach, def.container(), false),
        }
    }

    fn module(&mut self, module: Module<'a>, reach: ReachReasons) {
        let found = match module {
            Module::File(file) => self.resolver.exports(file, MAX_OF_MODULE),
            _ => contents(self.resolver, Entity::Module(module)),
        };
        for def in found.into_iter().take(MAX_OF_MODULE) {
            self.emit(def, reach, None, true);
        }
    }

    fn type_(&mut self, def: Def<'a>, reach: ReachReasons) {
        self.emit(def, reach, None, false);
        if reach.fresh > 0.0 {
            let by_name = def.members().filter(|member| {
                member.definition().is_static || member.definition().kind == DefinitionKind::Constructor
            });
            for member in by_name.take(MAX_MEMBERS_OF_NEARBY) {
                self.emit(member, reach, Some(def), true);
            }
            return;
        }
        for &base in self.resolver.bases(def).iter().take(MAX_BASES) {
            for member in base.members().chain(self.resolver.out_of_body_members(base)).take(MAX_MEMBERS) {
                self.emit(member, reach, Some(def), true);
            }
        }
    }

    /// Adds a definition, or improves the features of an existing one.
    fn emit(&mut self, def: Def<'a>, reach: ReachReasons, owner: Option<Def<'a>>, is_member: bool) {
        let here = self.resolver.view.open_file();
        if def.file == here || def.definition().name.is_empty() || !def.can_be_named_in(here) {
            return;
        }
        let total = total(&reach, is_member);
        let next = self.list.len();
        let place = *self.found.entry(def.key()).or_insert(next);
        match self.list.get_mut(place) {
            Some(known) if known.reach >= total => {}
            Some(_) => {
                let features = self.features(def, &reach, owner, is_member);
                self.list[place] = DefinitionCandidate { features, reach: total, ..self.list[place] };
            }
            None => {
                let features = self.features(def, &reach, owner, is_member);
                self.list.push(DefinitionCandidate { def, features, probability: 0.0, reach: total });
            }
        }
    }

    fn features(
        &self,
        def: Def<'a>,
        reach: &ReachReasons,
        owner: Option<Def<'a>>,
        is_member: bool,
    ) -> Features {
        let mut features = Features::none();
        self.of_reach(&mut features, reach, is_member);
        self.of_kind(&mut features, def, is_member);
        self.of_name(&mut features, def, owner);
        self.of_place(&mut features, def);
        features
    }

    fn of_reach(&self, features: &mut Features, reach: &ReachReasons, is_member: bool) {
        let as_member = if is_member { 1.0 } else { 0.0 };
        let is_receivers = is_member && reach.receiver > 0.0;
        features.set(Feature::Receiver, reach.receiver * as_member);
        features.set(Feature::Trailing, reach.trailing * as_member);
        features.set(Feature::OtherOwner, flag(self.knows_receiver && !is_receivers));
        features.set(Feature::Recency, reach.recency);
        features.set(Feature::Mentions, reach.mentions);
        features.set(Feature::UnusedImport, reach.unused);
        features.set(Feature::Imported, reach.imported);
        features.set(Feature::OwnerInSuffix, reach.after);
        features.set(Feature::Variable, reach.variable);
        features.set(Feature::Base, reach.base);
        features.set(Feature::FieldType, reach.field);
        features.set(Feature::Hop, reach.hop);
        features.set(Feature::Fresh, reach.fresh);
    }

    fn of_kind(&self, features: &mut Features, def: Def<'a>, is_member: bool) {
        let definition = def.definition();
        let is = |kind| flag(definition.kind == kind);
        features.set(Feature::Type, is(DefinitionKind::Type));
        features.set(Feature::Function, is(DefinitionKind::Function));
        features.set(Feature::Constructor, is(DefinitionKind::Constructor));
        features.set(Feature::Constant, is(DefinitionKind::Constant));
        features.set(Feature::Field, is(DefinitionKind::Field));
        features.set(Feature::Member, flag(is_member));
        let name = &definition.name;
        features.set(Feature::Private, flag(definition.is_private));
        features.set(Feature::Special, flag(name.starts_with("__")));
        let bases = match (definition.kind, def.container()) {
            (DefinitionKind::Constructor, Some(container)) => &container.definition().bases,
            _ => &definition.bases,
        };
        let expected = &self.question.cursor_terms.expected;
        let is_expected = |base: &str| expected.contains(crate::name_table::simple_name(base));
        features.set(Feature::BaseExpected, flag(bases.iter().any(|base| is_expected(base))));
    }

    fn of_name(&self, features: &mut Features, def: Def<'a>, owner: Option<Def<'a>>) {
        let (around, searcher) = (&self.question.cursor_terms, self.question.searcher);
        let definition = def.definition();
        let name = &*definition.name;
        let mut buffers = self.parts.borrow_mut();
        let parts = buffers.parts_of([name]);
        features.set(Feature::NameOverlap, around.overlap(searcher, parts, &around.weights));
        features.set(Feature::LastLinesOverlap, around.overlap(searcher, parts, &around.last_parts));
        if let Some(owner) = owner {
            let parts = buffers.parts_of([&*owner.definition().name]);
            features.set(Feature::OwnerOverlap, around.overlap(searcher, parts, &around.weights));
        }
        let parameters = definition.parameters.iter().take(MAX_PARAMETERS);
        let parts = buffers.parts_of(parameters.map(|parameter| &*parameter.name));
        features.set(Feature::ParameterOverlap, around.overlap(searcher, parts, &around.weights));
        features.set(Feature::InPrefix, flag(around.mentions(name) > 0));
        if name.len() >= MIN_SUFFIX_NAME {
            let near = around.nearness_after(name);
            features.set(Feature::NearInSuffix, near);
            features.set(Feature::InSuffix, flag(near > 0.0 && name.len() > MIN_SUFFIX_NAME));
        }
        if !self.typed_prefix.is_empty() {
            let is_begun = name.starts_with(self.typed_prefix);
            let share = self.typed_prefix.len() as f32 / name.len() as f32;
            features.set(Feature::Begun, if is_begun { share } else { 0.0 });
            features.set(Feature::NotBegun, flag(!is_begun));
        }
    }

    fn of_place(&self, features: &mut Features, def: Def<'a>) {
        let name = Term::identifier(&def.definition().name);
        let places = self.question.searcher.windows_with(name);
        features.set(Feature::Popularity, (places as f32).ln_1p());
        features.set(Feature::InWindow, self.near.names.get(&name).copied().unwrap_or(0.0));
        let line = (def.file.path(), def.definition().line);
        features.set(Feature::DefinedInWindow, self.near.lines.get(&line).copied().unwrap_or(0.0));
    }
}

/// Returns the total weight of the reasons; decides between two ways to reach the same definition.
fn total(reach: &ReachReasons, is_member: bool) -> f32 {
    let receiver = if is_member { reach.receiver + reach.trailing } else { 0.0 };
    receiver
        + reach.recency
        + reach.mentions
        + reach.unused
        + reach.after
        + reach.variable
        + reach.base
        + reach.field
        + reach.imported
        + reach.hop
}

fn flag(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}
