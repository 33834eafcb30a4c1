//! The likeliest definitions as signatures, grouped by their containers.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use syntax::ELLIPSIS;

use super::definition_ranking::{DefinitionCandidate, DefinitionRanking};
use super::hit_collector::{HitCollector, HitReason, MAX_LINE_BYTES, NumberedLine, line_cost};
use crate::HitKind;
use crate::resolver::{Def, Resolver};
use crate::retrieve::PATH_BYTES;

/// Maximum candidates.
const MAX_CANDIDATES: usize = 160;
/// Maximum length of a signature in bytes.
const SIGNATURE_BYTES: usize = 90;
/// Maximum length of the signature of a container, and of further overloads.
const SHORT_SIGNATURE_BYTES: usize = 60;
/// Maximum length of a signature if there is room left: with its indentation a line that is not truncated.
const WHOLE_SIGNATURE_BYTES: usize = MAX_LINE_BYTES - INDENT.len();
/// Once this percentage of the budget is used, smaller signatures are not searched for.
const FULL_PERCENT: usize = 95;

/// Maximum names in a reason.
const REASON_NAMES: usize = 3;

/// Maximum length of documentation in bytes.
const DOC_BYTES: usize = 70;
/// Separator between a signature and its documentation.
const DOC_SIGN: &str = "  — ";
/// Indentation of members.
const INDENT: &str = "  ";

/// Which definitions are shown with documentation.
#[derive(Clone, Copy)]
pub(crate) enum DocPolicy {
    /// None: in the same room, two more signatures are more useful.
    None,
    /// This many of the likeliest definitions.
    OfFirst(usize),
}

/// A chosen definition.
struct ChosenDefinition<'a> {
    def: Def<'a>,
    holder: Option<Def<'a>>,
    signature: String,
    doc: &'a str,
    probability: f32,
}

impl ChosenDefinition<'_> {
    /// Returns its text without indentation.
    fn text(&self) -> String {
        if self.doc.is_empty() {
            return self.signature.clone();
        }
        format!("{}{DOC_SIGN}{}", self.signature, self.doc)
    }

    fn cost(&self) -> usize {
        let indent = if self.holder.is_some() { INDENT.len() } else { 0 };
        let doc = if self.doc.is_empty() { 0 } else { DOC_SIGN.len() + self.doc.len() };
        line_cost(&self.signature) + indent + doc
    }
}

/// Shows as many as fit into `limit` bytes of all hits.
pub(crate) fn show<'a>(
    resolver: &Resolver<'a>,
    ranking: &DefinitionRanking<'a>,
    docs: DocPolicy,
    limit: usize,
    shown: &mut HitCollector,
) {
    let chosen = choose(resolver, &ranking.candidates, docs, limit.saturating_sub(shown.used()));
    for of_file in group_by_key(chosen.iter(), |chosen| chosen.def.file.address()) {
        let mut lines: Vec<NumberedLine> = Vec::new();
        for of_holder in
            group_by_key(of_file.iter().copied(), |chosen| chosen.holder.map(|holder| holder.key()))
        {
            lines.extend(group(&of_holder));
        }
        let best = of_file[0];
        let why = HitReason {
            kind: HitKind::Definition,
            score: f64::from(best.probability),
            reason: format!("defines {}", first_names(&of_file).join(", ")),
            about: None,
            min_lines: 1,
        };
        shown.add(&Arc::from(best.def.file.path()), lines, limit, why);
    }
}

/// Returns the likeliest defined names; overloads count as one.
fn first_names<'c>(chosen: &[&'c ChosenDefinition<'_>]) -> Vec<&'c str> {
    let mut names: Vec<&str> = Vec::new();
    for name in chosen.iter().map(|chosen| &*chosen.def.definition().name) {
        if names.len() < REASON_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Chooses candidates in order as long as they fit.
fn choose<'a>(
    resolver: &Resolver<'a>,
    candidates: &[DefinitionCandidate<'a>],
    docs: DocPolicy,
    limit: usize,
) -> Vec<ChosenDefinition<'a>> {
    let mut chosen: Vec<ChosenDefinition<'a>> = Vec::new();
    let mut used = 0;
    let (mut files, mut holders, mut names) =
        (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    let documented = match docs {
        DocPolicy::None => 0,
        DocPolicy::OfFirst(count) => count,
    };
    for candidate in candidates.iter().take(MAX_CANDIDATES) {
        let def = candidate.def;
        if is_shown_elsewhere(def, &chosen) {
            continue;
        }
        let holder = def.container().or_else(|| resolver.owner(def));
        let overloads = (def.file.path(), holder.map(|holder| holder.key()), &*def.definition().name);
        let longest = if names.contains(&overloads) { SHORT_SIGNATURE_BYTES } else { SIGNATURE_BYTES };
        let doc = if chosen.len() < documented { &*def.definition().doc } else { "" };
        let doc = &doc[..doc.floor_char_boundary(DOC_BYTES)];
        let signature = def.definition().compact_signature(longest);
        let one = ChosenDefinition { def, holder, signature, doc, probability: candidate.probability };
        let above = holder.filter(|holder| !holders.contains(&holder.key()));
        let above = above.map_or(0, |holder| line_cost(&header(holder).1));
        let path = if files.contains(def.file.path()) { 0 } else { def.file.path().len() + PATH_BYTES };
        let cost = path + above + one.cost();
        if used + cost > limit {
            if used > limit * FULL_PERCENT / 100 {
                break;
            }
            continue;
        }
        used += cost;
        files.insert(def.file.path());
        holders.extend(holder.map(|holder| holder.key()));
        holders.extend((def.is_type() && holder.is_none()).then(|| def.key()));
        names.insert(overloads);
        chosen.push(one);
    }
    drop_bare_parts(&mut chosen);
    lengthen(&mut chosen, limit - used);
    // A type with chosen members becomes their header.
    for one in &mut chosen {
        if one.def.is_type() && one.holder.is_none() {
            one.holder = Some(one.def);
        }
    }
    chosen
}

/// Whether the chosen definitions include another part of a type, or the same for another platform.
fn is_shown_elsewhere(def: Def<'_>, chosen: &[ChosenDefinition<'_>]) -> bool {
    let is_twin = |shown: Def<'_>| shown.is_same_entity(&def);
    chosen.iter().any(|one| is_twin(one.def) || def.is_type() && one.holder.is_some_and(is_twin))
}

/// Removes the bare name of a type if another part of it is shown with members.
fn drop_bare_parts(chosen: &mut Vec<ChosenDefinition<'_>>) {
    let holders: Vec<Def<'_>> = chosen.iter().filter_map(|one| one.holder).collect();
    let is_bare = |one: &ChosenDefinition<'_>| one.def.is_type() && !holders.contains(&one.def);
    chosen.retain(|one| !is_bare(one) || !holders.iter().any(|holder| holder.is_same_entity(&one.def)));
}

/// Extends truncated signatures as far as the remaining room allows, the likeliest first.
fn lengthen(chosen: &mut [ChosenDefinition<'_>], mut room: usize) {
    for one in chosen.iter_mut().filter(|one| one.signature.contains(ELLIPSIS)) {
        let whole = one.def.definition().compact_signature(WHOLE_SIGNATURE_BYTES);
        let more = whole.len().saturating_sub(one.signature.len());
        if let Some(rest) = room.checked_sub(more) {
            room = rest;
            one.signature = whole;
        }
    }
}

/// Returns the lines of definitions with the same container, or none.
fn group(chosen: &[&ChosenDefinition<'_>]) -> Vec<NumberedLine> {
    let holder = chosen[0].holder;
    let itself = chosen.iter().find(|chosen| holder == Some(chosen.def));
    let header = itself.map(|chosen| (chosen.def.definition().line, chosen.text())).or(holder.map(header));
    let mut lines: Vec<NumberedLine> = header.into_iter().collect();
    let mut members: Vec<&&ChosenDefinition<'_>> =
        chosen.iter().filter(|chosen| holder.is_none_or(|holder| holder != chosen.def)).collect();
    members.sort_by_key(|chosen| chosen.def.position);
    let indent = if holder.is_some() { INDENT } else { "" };
    lines.extend(
        members
            .into_iter()
            .map(|chosen| (chosen.def.definition().line, format!("{indent}{}", chosen.text()))),
    );
    lines
}

fn header(holder: Def<'_>) -> NumberedLine {
    (holder.definition().line, holder.definition().compact_signature(SHORT_SIGNATURE_BYTES))
}

/// Groups by a key, in order of the keys' first occurrence.
fn group_by_key<'c, T, K: PartialEq>(
    items: impl Iterator<Item = &'c T>,
    key: impl Fn(&T) -> K,
) -> Vec<Vec<&'c T>> {
    let mut groups: Vec<(K, Vec<&'c T>)> = Vec::new();
    for item in items {
        let key = key(item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
