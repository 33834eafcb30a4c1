//! The text around the cursor: names by their distance, and the weighted terms that describe it.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Definition, NamesOfLines, Scope, names};

use crate::import_lines::import_lines;
use crate::retrieve::RetrievalQuery;
use crate::searcher::Searcher;
use crate::terms::{PartBuffers, Term, identifiers};

/// Lines before the cursor in the query.
const LINES_BEFORE: usize = 40;
/// Lines after the cursor in the query.
const LINES_AFTER: usize = 25;
/// A line's weight decreases by a factor of e over this many lines.
const DECAY_LINES: f32 = 6.0;
/// Lines after the cursor have less weight: new code resembles the code just written.
const AFTER_WEIGHT: f32 = 0.5;
/// Parts of names match much unrelated code.
const PART_WEIGHT: f32 = 0.35;
/// Weight of the name of the function around the cursor.
const FUNCTION_WEIGHT: f32 = 0.5;
/// The relevance of a mention decreases by a factor of e over this many lines.
const MENTION_DECAY_LINES: f32 = 12.0;
/// Lines after the cursor whose names are considered.
const SUFFIX_LINES: usize = 400;
/// Number of lines treated as being written.
const LAST_LINES: usize = 2;

/// Names and terms around the cursor.
pub(crate) struct CursorTerms<'a> {
    /// Terms with their weights.
    pub(crate) weights: FxHashMap<Term, f32>,
    /// Names on the lines before the cursor's line, outside of imports.
    before: Arc<NamesOfLines>,
    /// Names before the cursor on its line, outside of imports, with the number of their mentions.
    on_line: FxHashMap<&'a str, u32>,
    /// Distance in lines from the cursor to the first mention of each name after it.
    after: FxHashMap<&'a str, usize>,
    /// Parts of the names on the lines being written.
    pub(crate) last_parts: FxHashMap<Term, f32>,
    /// Names on the lines being written, and in the return type of the enclosing function.
    pub(crate) expected: FxHashSet<&'a str>,
    part_weights: RefCell<FxHashMap<Term, f32>>,
}

impl<'a> CursorTerms<'a> {
    pub(crate) fn new(searcher: &Searcher, query: &RetrievalQuery<'a>, scope: &'a Scope) -> CursorTerms<'a> {
        let RetrievalQuery { language, prefix, suffix, .. } = *query;
        let lines: Vec<&str> = prefix.split('\n').collect();
        let imports = import_lines(&scope.outline, &lines);
        let is_import = imports.iter().any(|range| range.contains(&(lines.len() - 1)));
        let mut around = CursorTerms {
            weights: FxHashMap::default(),
            before: searcher.names_before(language, prefix, imports),
            on_line: FxHashMap::default(),
            after: FxHashMap::default(),
            last_parts: FxHashMap::default(),
            expected: FxHashSet::default(),
            part_weights: RefCell::default(),
        };
        for name in
            lines.last().filter(|_| !is_import).into_iter().flat_map(|line| identifiers(language, line))
        {
            *around.on_line.entry(name).or_default() += 1;
        }
        for (number, line) in suffix.split('\n').take(SUFFIX_LINES).enumerate() {
            for name in names(line) {
                around.after.entry(name).or_insert(number);
            }
        }
        around.after.retain(|name, _| !syntax::is_reserved(language, name));
        around.weigh(query, scope, &lines);
        around
    }

    fn weigh(&mut self, query: &RetrievalQuery<'a>, scope: &'a Scope, lines: &[&'a str]) {
        let language = query.language;
        let (mut distinct, mut parts) = (Vec::new(), PartBuffers::default());
        let nearest = lines.iter().rev().take(LINES_BEFORE).filter(|line| !line.trim().is_empty());
        for (distance, line) in nearest.enumerate() {
            distinct.extend(identifiers(language, line));
            self.add(&mut distinct, &mut parts, decay(distance, DECAY_LINES));
        }
        let after = query.suffix.split('\n').take(LINES_AFTER).filter(|line| !line.trim().is_empty());
        for (distance, line) in after.enumerate() {
            distinct.extend(identifiers(language, line));
            self.add(&mut distinct, &mut parts, AFTER_WEIGHT * decay(distance, DECAY_LINES));
        }
        if let Some(function) = enclosing_function(scope) {
            distinct.push(&function.name);
            self.add(&mut distinct, &mut parts, FUNCTION_WEIGHT);
            self.expected.extend(identifiers(language, &function.type_text));
        }
        for line in lines.iter().rev().take(LAST_LINES) {
            for name in identifiers(language, line) {
                self.expected.insert(name);
                for &part in parts.parts_of([name]) {
                    *self.last_parts.entry(part).or_default() += 1.0;
                }
            }
        }
    }

    /// Adds a line's names, each once, and takes them out of `names`.
    fn add(&mut self, names: &mut Vec<&'a str>, parts: &mut PartBuffers, weight: f32) {
        names.sort_unstable();
        names.dedup();
        for name in names.drain(..) {
            *self.weights.entry(Term::identifier(name)).or_default() += weight;
            for &part in parts.distinct_parts_of(name) {
                *self.weights.entry(part).or_default() += PART_WEIGHT * weight;
            }
        }
    }

    /// Returns the terms with their weights, in order.
    pub(crate) fn sorted_weights(&self) -> Vec<(Term, f32)> {
        let mut weights: Vec<_> = self.weights.iter().map(|(&term, &weight)| (term, weight)).collect();
        weights.sort_unstable_by_key(|(term, _)| *term);
        weights
    }

    /// Returns the same names and terms for a search of other files.
    pub(crate) fn for_other_files(self) -> CursorTerms<'a> {
        CursorTerms { part_weights: RefCell::default(), ..self }
    }

    /// Returns the recency of a name's last mention: 1 on the cursor's line, 0 if there is none.
    pub(crate) fn recency(&self, name: &str) -> f32 {
        let distance = match self.on_line.get(name) {
            Some(_) => Some(0),
            None => self.before.get(name).map(|mentions| self.before.lines() - mentions.last_line),
        };
        distance.map_or(0.0, |lines| decay(lines, MENTION_DECAY_LINES))
    }

    /// Returns the number of mentions before the cursor, without imports.
    pub(crate) fn mentions(&self, name: &str) -> u32 {
        let on_line = self.on_line.get(name).copied().unwrap_or_default();
        on_line + self.before.get(name).map_or(0, |mentions| mentions.count)
    }

    /// Returns the nearness of the first mention after the cursor: 1 directly after it, 0 if there is none.
    pub(crate) fn nearness_after(&self, name: &str) -> f32 {
        self.after.get(name).map_or(0.0, |&line| decay(line, MENTION_DECAY_LINES))
    }

    /// Returns all names around the cursor in any order, some of them several times.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.before.names().chain(self.on_line.keys().copied()).chain(self.after.keys().copied())
    }

    /// Returns the share of a name's parts that are among `terms`, weighted by rarity; 0 to 1.
    pub(crate) fn overlap(&self, searcher: &Searcher, parts: &[Term], terms: &FxHashMap<Term, f32>) -> f32 {
        let (mut shared, mut all) = (0.0, 0.0);
        for (place, part) in parts.iter().enumerate() {
            if parts[..place].contains(part) {
                continue;
            }
            let rarity = self.rarity(searcher, *part);
            all += rarity;
            shared += rarity * terms.get(part).copied().unwrap_or(0.0).min(1.0);
        }
        if all > 0.0 { shared / all } else { 0.0 }
    }

    /// Returns the inverse frequency of a term; cached.
    pub(crate) fn rarity(&self, searcher: &Searcher, term: Term) -> f32 {
        *self.part_weights.borrow_mut().entry(term).or_insert_with(|| searcher.rarity(term))
    }
}

/// Whether the same text has the same terms in both scopes: what [`CursorTerms`] reads of them is equal.
pub(crate) fn have_same_terms(one: &Scope, other: &Scope) -> bool {
    let function = |scope| enclosing_function(scope).map(|function| (&function.name, &function.type_text));
    let [one_lines, other_lines] =
        [one, other].map(|scope| scope.outline.imports.iter().map(|import| import.line));
    function(one) == function(other) && one_lines.eq(other_lines)
}

fn enclosing_function(scope: &Scope) -> Option<&Definition> {
    let around = scope.enclosing.iter().map(|&position| &*scope.outline.definitions[position as usize]);
    around.into_iter().find(|definition| definition.kind.is_callable())
}

fn decay(distance: usize, lines: f32) -> f32 {
    (-(distance as f32) / lines).exp()
}
