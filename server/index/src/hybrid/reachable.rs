//! Modules, types and functions of other files in reach of the cursor, with the reasons.

use rustc_hash::FxHashMap;
use syntax::{DefinitionKind, ImportedItem, Scope};

use super::cursor_terms::CursorTerms;
use crate::path_suffixes::split_path;
use crate::resolver::{Def, Entity, ExpressionSite, InferredValue, Module, Resolver};
use crate::searcher::Searcher;
use crate::terms::PartBuffers;

// These limits bound the time of a query in the largest workspaces; most queries reach none of them. They come from the
// strategy's design study, and were not fitted.

/// Maximum owners, reachable for a reason, whose members are considered.
const MAX_OWNERS: usize = 60;
/// Maximum owners that are only nearby.
const MAX_NEARBY_OWNERS: usize = 120;
/// Maximum owners whose members' types are considered too.
const MAX_HOP_OWNERS: usize = 12;
/// For this many, the types of all fields.
const MAX_HOP_OWNERS_BY_FIELDS: usize = 6;
/// Maximum variables, the latest ones.
const MAX_VARIABLES: usize = 40;
/// Maximum definitions of a package that are compared with the names around the cursor.
const MAX_PACKAGE_NAMES: usize = 1_500;
/// Minimum overlap of an unmentioned name with the names around the cursor.
const MIN_OVERLAP: f32 = 0.35;

/// Reasons why something is in reach. Each value is 0 if the reason does not apply, and 1 or the nearness if it does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ReachReasons {
    pub(crate) receiver: f32,
    pub(crate) trailing: f32,
    pub(crate) recency: f32,
    pub(crate) mentions: f32,
    pub(crate) unused: f32,
    pub(crate) after: f32,
    pub(crate) variable: f32,
    pub(crate) base: f32,
    pub(crate) field: f32,
    pub(crate) hop: f32,
    pub(crate) imported: f32,
    pub(crate) fresh: f32,
}

impl ReachReasons {
    fn merge(&mut self, other: ReachReasons) {
        let join = |one: &mut f32, other: f32| *one = one.max(other);
        join(&mut self.receiver, other.receiver);
        join(&mut self.trailing, other.trailing);
        join(&mut self.recency, other.recency);
        join(&mut self.mentions, other.mentions);
        join(&mut self.unused, other.unused);
        join(&mut self.after, other.after);
        join(&mut self.variable, other.variable);
        join(&mut self.base, other.base);
        join(&mut self.field, other.field);
        join(&mut self.hop, other.hop);
        join(&mut self.imported, other.imported);
        self.fresh = self.fresh.min(other.fresh);
    }

    /// Returns the priority of an owner. The order of magnitude comes from the study; it only decides which owners are cut off.
    fn priority(&self) -> f32 {
        5.0 * self.receiver
            + 4.0 * self.trailing
            + 2.0 * self.recency
            + 1.2 * self.after
            + self.unused
            + self.variable
            + 0.8 * self.base
            + 0.5 * self.field
            + 0.3 * self.imported
            + 0.2 * self.hop
    }
}

/// Something in reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachableEntity<'a> {
    pub(crate) entity: Entity<'a>,
    pub(crate) reach: ReachReasons,
}

/// Everything in reach, most likely first.
pub(crate) struct ReachableEntities<'a> {
    pub(crate) list: Vec<ReachableEntity<'a>>,
    /// Whether the expression before the dot is known.
    pub(crate) knows_receiver: bool,
}

/// Collects everything in reach.
struct ReachCollector<'q, 'a> {
    searcher: &'q Searcher,
    cursor_terms: &'q CursorTerms<'q>,
    resolver: &'q Resolver<'a>,
    scope: &'q Scope,
    found: FxHashMap<EntityKey, usize>,
    list: Vec<ReachableEntity<'a>>,
    parts: PartBuffers,
}

/// Key to find duplicates.
#[derive(PartialEq, Eq, Hash)]
enum EntityKey {
    Def((usize, u32)),
    File(usize),
    Named(Box<str>),
}

/// Finds everything in reach of the cursor, by the names around it.
pub(crate) fn reachable_entities<'a>(
    searcher: &Searcher,
    cursor_terms: &CursorTerms<'_>,
    resolver: &Resolver<'a>,
    scope: &Scope,
) -> ReachableEntities<'a> {
    let mut collector = ReachCollector {
        searcher,
        cursor_terms,
        resolver,
        scope,
        found: FxHashMap::default(),
        list: Vec::new(),
        parts: PartBuffers::default(),
    };
    collector.imports();
    collector.mentioned_names();
    collector.package_names();
    let site = collector.site();
    collector.variables(site);
    collector.enclosing_type(site);
    let knows_receiver = collector.at_cursor(site);
    collector.sort();
    collector.hop();
    collector.sort();
    let (fresh, mut list): (Vec<ReachableEntity<'a>>, Vec<ReachableEntity<'a>>) =
        collector.list.into_iter().partition(|owner| owner.reach.fresh > 0.0);
    list.truncate(MAX_OWNERS);
    list.extend(fresh.into_iter().take(MAX_NEARBY_OWNERS));
    ReachableEntities { list, knows_receiver }
}

impl<'q, 'a> ReachCollector<'q, 'a> {
    fn put(&mut self, entity: Entity<'a>, reach: ReachReasons) {
        let key = match entity {
            Entity::Def(def) => EntityKey::Def(def.key()),
            Entity::Module(Module::File(file)) => EntityKey::File(file.address()),
            Entity::Module(Module::Folder(name) | Module::Namespace(name)) => EntityKey::Named(name.into()),
        };
        let next = self.list.len();
        let place = *self.found.entry(key).or_insert(next);
        match self.list.get_mut(place) {
            Some(owner) => owner.reach.merge(reach),
            None => self.list.push(ReachableEntity { entity, reach }),
        }
    }

    fn put_value(&mut self, value: InferredValue<'a>, reach: ReachReasons) {
        match value {
            InferredValue::Instance(def) | InferredValue::Type(def) => self.put(Entity::Def(def), reach),
            InferredValue::Module(module) => self.put(Entity::Module(module), reach),
            InferredValue::Callable(_) | InferredValue::Other(_) => {}
        }
    }

    fn sort(&mut self) {
        self.list.sort_by(|one, other| other.reach.priority().total_cmp(&one.reach.priority()));
        self.found.clear();
        for (place, owner) in self.list.iter().enumerate() {
            if let Entity::Def(def) = owner.entity {
                self.found.insert(EntityKey::Def(def.key()), place);
            }
        }
    }

    /// Returns the reasons that follow from the mentions of a name.
    fn reach_of(&self, name: &str) -> ReachReasons {
        let around = self.cursor_terms;
        ReachReasons {
            recency: around.recency(name),
            mentions: (around.mentions(name) as f32).ln_1p(),
            after: around.nearness_after(name),
            ..ReachReasons::default()
        }
    }

    /// Collects names that are imported individually.
    fn imports(&mut self) {
        let here = self.resolver.view.open_file();
        for import in here.imports().iter().filter(|import| import.imported != ImportedItem::All) {
            let name = import.local.rsplit('.').next().unwrap_or_default();
            let is_used = self.cursor_terms.mentions(name) > 0;
            let unused = if is_used { 0.0 } else { 1.0 };
            let reach = ReachReasons { imported: 1.0, unused, ..self.reach_of(name) };
            for entity in self.resolver.resolve_import(here, import) {
                self.put(entity, reach);
            }
        }
    }

    /// Collects mentioned names that are in reach without an individual import.
    fn mentioned_names(&mut self) {
        let here = self.resolver.view.open_file();
        let is_looked_up = |name: &&str| {
            !self.resolver.view.imports_name(name) && self.resolver.may_mean_something(here, name)
        };
        let mut names: Vec<&str> = self.cursor_terms.names().filter(is_looked_up).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            // Its own definitions hide all others.
            if self.resolver.view.own_definitions_named(name).any(|def| def.is_top_level()) {
                continue;
            }
            let found = self.resolver.lookup(here, name);
            let others = found.iter().filter(|entity| entity.def().is_none_or(|def| def.file != here));
            let mut others = others.peekable();
            // Most names have none, and reasons take time.
            if others.peek().is_some() {
                let reach = self.reach_of(name);
                others.for_each(|&entity| self.put(entity, reach));
            }
        }
    }

    /// Collects names in reach without an import: those similar to names around the cursor, and those in the same folder or in
    /// an included file.
    fn package_names(&mut self) {
        let here = self.resolver.view.open_file();
        let folder = split_path(here.path()).0;
        let all = here.imports().iter().filter(|import| import.imported == ImportedItem::All);
        let modules: Vec<Entity<'a>> =
            all.flat_map(|import| self.resolver.modules(here, &import.module).to_vec()).collect();
        let implicit = self.resolver.implicit_modules(here).into_iter().map(Entity::Module);
        let mut left = MAX_PACKAGE_NAMES;
        for module in implicit.chain(modules) {
            for def in contents(self.resolver, module) {
                let Some(less) = left.checked_sub(1) else { return };
                left = less;
                let is_included = matches!(module, Entity::Module(Module::File(_)));
                self.package_name(def, is_included || split_path(def.file.path()).0 == folder);
            }
        }
    }

    fn package_name(&mut self, def: Def<'a>, is_beside: bool) {
        let around = self.cursor_terms;
        let name = def.name();
        if around.mentions(name) > 0 || around.nearness_after(name) > 0.0 {
            return;
        }
        let parts = self.parts.parts_of([name]);
        let overlap = around.overlap(self.searcher, parts, &around.weights);
        if overlap >= MIN_OVERLAP {
            self.put(Entity::Def(def), ReachReasons::default());
        } else if is_beside && (def.is_type() || def.shape().kind.is_callable()) {
            self.put(Entity::Def(def), ReachReasons { fresh: 1.0, ..ReachReasons::default() });
        }
    }

    /// Returns the cursor's position, for expressions.
    fn site(&self) -> ExpressionSite<'a, 'q> {
        let here = self.resolver.view.open_file();
        let mut around = self.scope.enclosing.iter().map(|&position| Def { file: here, position });
        let this = around.clone().find(Def::is_type);
        let this = this.or_else(|| around.find_map(|def| self.resolver.owner(def)));
        ExpressionSite { file: here, this, bindings: &self.scope.bindings }
    }

    /// Collects the types of the variables in reach.
    fn variables(&mut self, site: ExpressionSite<'a, 'q>) {
        let mut seen: Vec<&str> = Vec::new();
        for (position, binding) in self.scope.bindings.iter().enumerate().rev() {
            if seen.len() == MAX_VARIABLES {
                break;
            }
            if seen.contains(&&*binding.name) {
                continue;
            }
            seen.push(&binding.name);
            let near = self.reach_of(&binding.name);
            let reach = ReachReasons { variable: 1.0, mentions: 0.3, after: 0.7 * near.after, ..near };
            let before = ExpressionSite { bindings: &self.scope.bindings[..position], ..site };
            for value in self.resolver.infer(before, &binding.value).into_iter().take(2) {
                if let InferredValue::Instance(_) = value {
                    self.put_value(value, reach);
                }
            }
        }
    }

    /// Collects the bases of the enclosing type, and the types of its fields.
    fn enclosing_type(&mut self, site: ExpressionSite<'a, 'q>) {
        let Some(this) = site.this else { return };
        let bases = self.resolver.bases(this);
        for &base in bases.iter().filter(|base| base.file != this.file) {
            self.put(Entity::Def(base), ReachReasons { base: 1.0, ..ReachReasons::default() });
        }
        for &base in bases.iter() {
            let fields = base.members().filter(|member| member.shape().kind == DefinitionKind::Field);
            for field in fields.filter(|field| base == this || self.cursor_terms.mentions(field.name()) > 0) {
                let near = self.reach_of(field.name());
                let reach = ReachReasons { field: 1.0, mentions: 0.0, after: 0.7 * near.after, ..near };
                for &def in self.resolver.types(field.file, &field.definition().type_text).iter().take(2) {
                    self.put(Entity::Def(def), reach);
                }
            }
        }
    }

    /// Collects the expression before the dot, or before a possible dot; returns whether the expression before the dot is
    /// known.
    fn at_cursor(&mut self, site: ExpressionSite<'a, 'q>) -> bool {
        let infer = |expr| self.resolver.infer(site, expr);
        let receivers = self.scope.receiver.as_ref().map(infer).unwrap_or_default();
        let trailing = self.scope.trailing.as_ref().map(infer).unwrap_or_default();
        for &value in &receivers {
            self.put_value(value, ReachReasons { receiver: 1.0, ..ReachReasons::default() });
        }
        for value in trailing {
            self.put_value(value, ReachReasons { trailing: 1.0, ..ReachReasons::default() });
        }
        !receivers.is_empty()
    }

    /// Collects the types of the nearest owners' members.
    fn hop(&mut self) {
        let nearest: Vec<ReachableEntity<'a>> = self.list.iter().take(MAX_HOP_OWNERS).copied().collect();
        for (place, ReachableEntity { entity, reach }) in nearest.into_iter().enumerate() {
            let hop = ReachReasons { hop: 1.0, recency: 0.5 * reach.recency, ..ReachReasons::default() };
            let Entity::Def(def) = entity else { continue };
            let reached: Vec<Def<'a>> = if def.is_type() {
                let members = def.members().chain(self.resolver.out_of_body_members(def));
                members.filter(|member| self.hops_through(place, *member)).collect()
            } else {
                vec![def]
            };
            for member in reached {
                for &to in self.resolver.types(member.file, &member.definition().type_text).iter().take(2) {
                    if !self.found.contains_key(&EntityKey::Def(to.key())) {
                        self.put(Entity::Def(to), hop);
                    }
                }
            }
        }
    }

    fn hops_through(&self, place: usize, member: Def<'a>) -> bool {
        let (around, name) = (self.cursor_terms, member.name());
        around.mentions(name) > 0
            || around.nearness_after(name) > 0.0
            || (place < MAX_HOP_OWNERS_BY_FIELDS && member.shape().kind == DefinitionKind::Field)
    }
}

/// Returns the top-level definitions of a module.
pub(crate) fn contents<'a>(resolver: &Resolver<'a>, module: Entity<'a>) -> Vec<Def<'a>> {
    let view = resolver.view;
    match module {
        Entity::Module(Module::File(file)) => file.top_level().collect(),
        Entity::Module(Module::Folder(folder)) => {
            view.files_in(folder).flat_map(|file| file.top_level()).collect()
        }
        Entity::Module(Module::Namespace(namespace)) => {
            let files = view.files_of_namespace(namespace);
            files.flat_map(|file| file.top_level()).filter(|def| def.namespace() == namespace).collect()
        }
        Entity::Def(def) => def.members().collect(),
    }
}
