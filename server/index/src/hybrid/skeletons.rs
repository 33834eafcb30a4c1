//! The likeliest definitions as signatures, grouped by what they stand in.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::candidates::{Candidate, Ranking};
use super::render::{Line, Shown, Why, line_cost};
use crate::HitKind;
use crate::resolve::{Def, Resolver};
use crate::retrieve::PATH_BYTES;

/// Candidates that are looked at.
const MAX_CANDIDATES: usize = 160;
/// Longest signature that is shown, in bytes.
const SIGNATURE_BYTES: usize = 90;
/// Longest signature of what holds others, and of further overloads.
const SHORT_SIGNATURE_BYTES: usize = 60;
/// Once the budget is filled to this share, in percent, smaller ones are not looked for.
const FULL_PERCENT: usize = 95;

/// Names that a reason gives: enough to know the place by.
const REASON_NAMES: usize = 3;

/// Longest documentation that is shown, in bytes.
const DOC_BYTES: usize = 70;

/// Whose documentation is shown.
#[derive(Clone, Copy)]
pub(crate) enum Docs {
    /// Nobody's: in the same room two more signatures say more.
    None,
    /// That of so many likeliest definitions.
    OfFirst(usize),
}

/// A definition that was chosen.
struct Chosen<'a> {
    def: Def<'a>,
    holder: Option<Def<'a>>,
    text: String,
    probability: f32,
}

/// Shows as many as fit into `limit` bytes of all that is shown.
pub(crate) fn show<'a>(
    resolver: &Resolver<'a>,
    ranking: &Ranking<'a>,
    docs: Docs,
    limit: usize,
    shown: &mut Shown,
) {
    let chosen = choose(resolver, &ranking.candidates, docs, limit.saturating_sub(shown.used()));
    for of_file in by(chosen.iter(), |chosen| chosen.def.file.address()) {
        let mut lines: Vec<Line> = Vec::new();
        for of_holder in by(of_file.iter().copied(), |chosen| chosen.holder.map(|holder| holder.key())) {
            lines.extend(group(&of_holder));
        }
        let best = of_file[0];
        let why = Why {
            kind: HitKind::Definition,
            score: f64::from(best.probability),
            reason: format!("defines {}", first_names(&of_file).join(", ")),
        };
        shown.add(&Arc::from(best.def.file.path), lines, limit, why);
    }
}

/// The likeliest names that are defined; overloads have one name.
fn first_names<'c>(chosen: &[&'c Chosen<'_>]) -> Vec<&'c str> {
    let mut names: Vec<&str> = Vec::new();
    for name in chosen.iter().map(|chosen| &*chosen.def.get().name) {
        if names.len() < REASON_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Takes candidates in order as long as they fit.
fn choose<'a>(
    resolver: &Resolver<'a>,
    candidates: &[Candidate<'a>],
    docs: Docs,
    limit: usize,
) -> Vec<Chosen<'a>> {
    let mut chosen: Vec<Chosen<'a>> = Vec::new();
    let mut used = 0;
    let (mut files, mut holders, mut names) =
        (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    for candidate in candidates.iter().take(MAX_CANDIDATES) {
        let def = candidate.def;
        let holder = def.container().or_else(|| resolver.owner(def));
        let overloads = (def.file.path, holder.map(|holder| holder.key()), &*def.get().name);
        let longest = if names.contains(&overloads) { SHORT_SIGNATURE_BYTES } else { SIGNATURE_BYTES };
        let documented = match docs {
            Docs::None => 0,
            Docs::OfFirst(count) => count,
        };
        let mut text = def.get().compact(longest);
        if chosen.len() < documented && !def.get().doc.is_empty() {
            let doc = &def.get().doc;
            text = format!("{text}  — {}", &doc[..doc.floor_char_boundary(DOC_BYTES)]);
        }
        let mut lines: Vec<Line> = vec![(0, text)];
        lines.extend(holder.filter(|holder| !holders.contains(&holder.key())).map(header));
        let path = if files.contains(def.file.path) { 0 } else { def.file.path.len() + PATH_BYTES };
        let cost = path + lines.iter().map(|(_, text)| line_cost(text)).sum::<usize>();
        if used + cost > limit {
            if used > limit * FULL_PERCENT / 100 {
                break;
            }
            continue;
        }
        used += cost;
        files.insert(def.file.path);
        holders.extend(holder.map(|holder| holder.key()));
        holders.extend(def.is_type().then(|| def.key()));
        names.insert(overloads);
        let text = lines.swap_remove(0).1;
        chosen.push(Chosen { def, holder, text, probability: candidate.probability });
    }
    // A type that holds others which were chosen is their header.
    for one in &mut chosen {
        if one.def.is_type() && one.holder.is_none() {
            one.holder = Some(one.def);
        }
    }
    chosen
}

/// The lines of definitions that stand in one holder, or in none.
fn group(chosen: &[&Chosen<'_>]) -> Vec<Line> {
    let holder = chosen[0].holder;
    let itself = chosen.iter().find(|chosen| holder == Some(chosen.def));
    let header = itself.map(|chosen| (chosen.def.get().line, chosen.text.clone())).or(holder.map(header));
    let mut lines: Vec<Line> = header.into_iter().collect();
    let mut members: Vec<&&Chosen<'_>> =
        chosen.iter().filter(|chosen| holder.is_none_or(|holder| holder != chosen.def)).collect();
    members.sort_by_key(|chosen| chosen.def.position);
    let indent = if holder.is_some() { "  " } else { "" };
    lines.extend(
        members.into_iter().map(|chosen| (chosen.def.get().line, format!("{indent}{}", chosen.text))),
    );
    lines
}

fn header(holder: Def<'_>) -> Line {
    (holder.get().line, holder.get().compact(SHORT_SIGNATURE_BYTES))
}

/// Groups by a key, in the order in which keys come first.
fn by<'c, T, K: PartialEq>(items: impl Iterator<Item = &'c T>, key: impl Fn(&T) -> K) -> Vec<Vec<&'c T>> {
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
