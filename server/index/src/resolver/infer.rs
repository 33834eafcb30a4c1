//! Infers the value of an expression.

use syntax::{Binding, DefinitionKind, Expr};

use super::{Def, Entity, FileNames, Module, Resolver};

/// Maximum depth of expressions, including fields and functions of other files.
const MAX_DEPTH: u32 = 10;
/// Maximum dots in the path of a module.
const MAX_DOTS: usize = 16;
/// Maximum meanings of one expression.
const MAX_VALUES: usize = 4;
/// Type parameters have short names; a function that returns one mostly returns its receiver (builders).
const TYPE_PARAMETER_BYTES: usize = 2;

/// A possible meaning of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InferredValue<'a> {
    /// A value of a type.
    Instance(Def<'a>),
    /// A type itself.
    Type(Def<'a>),
    /// A module.
    Module(Module<'a>),
    /// A function, not called.
    Callable(Def<'a>),
    /// A field or constant of unknown type.
    Other(Def<'a>),
}

/// Position of an expression.
#[derive(Clone, Copy)]
pub(crate) struct ExpressionSite<'a, 's> {
    pub(crate) file: FileNames<'a>,
    /// The enclosing type.
    pub(crate) this: Option<Def<'a>>,
    /// Variables in reach, in the order in which they are bound.
    pub(crate) bindings: &'s [Binding],
}

impl<'a> ExpressionSite<'a, '_> {
    /// Returns the position of a definition, for its initial value.
    fn of(def: Def<'a>) -> ExpressionSite<'a, 'static> {
        ExpressionSite { file: def.file, this: def.container().filter(Def::is_type), bindings: &[] }
    }
}

impl<'a> Resolver<'a> {
    /// Returns the possible values of `expr`.
    pub(crate) fn infer(&self, site: ExpressionSite<'a, '_>, expr: &Expr) -> Vec<InferredValue<'a>> {
        self.infer_within(site, expr, MAX_DEPTH)
    }

    fn infer_within(&self, site: ExpressionSite<'a, '_>, expr: &Expr, depth: u32) -> Vec<InferredValue<'a>> {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.queries.step()) else { return Vec::new() };
        let mut values = match expr {
            Expr::Name(name) => self.infer_name(site, name, depth),
            Expr::This => site.this.map(InferredValue::Instance).into_iter().collect(),
            Expr::Super => {
                let bases = site.this.map(|this| self.bases(this)).unwrap_or_default();
                bases.iter().skip(1).copied().map(InferredValue::Instance).collect()
            }
            Expr::Member(object, name) => self.infer_member(site, object, name, depth),
            Expr::Call(function) => {
                let functions = self.infer_within(site, function, depth);
                functions.into_iter().flat_map(|function| self.call_result(site, function, depth)).collect()
            }
            Expr::Typed(written) => self.instances(site, written),
            Expr::Element(collection) => self.infer_within(site, collection, depth),
            Expr::Either(some) => some.iter().flat_map(|one| self.infer_within(site, one, depth)).collect(),
        };
        values.truncate(MAX_VALUES);
        values
    }

    fn infer_name(&self, site: ExpressionSite<'a, '_>, name: &str, depth: u32) -> Vec<InferredValue<'a>> {
        if let Some(position) = site.bindings.iter().rposition(|binding| *binding.name == *name) {
            // A variable's initial value comes before it, so it cannot refer to the variable itself.
            let earlier = ExpressionSite { bindings: &site.bindings[..position], ..site };
            return self.infer_within(earlier, &site.bindings[position].value, depth);
        }
        let found = self.lookup(site.file, name);
        if !found.is_empty() {
            return self.values(&found, depth);
        }
        let members = site.this.map(|this| self.members(this, name)).unwrap_or_default();
        let members: Vec<Entity<'a>> = members.into_iter().map(Entity::Def).collect();
        if members.is_empty() {
            // Some modules are in reach without an import (`crate`, a namespace).
            return self.values(&self.modules(site.file, name), depth);
        }
        self.values(&members, depth)
    }

    fn infer_member(
        &self,
        site: ExpressionSite<'a, '_>,
        object: &Expr,
        name: &str,
        depth: u32,
    ) -> Vec<InferredValue<'a>> {
        if let Some(path) = dotted(object) {
            // A module may be imported under its whole path.
            let found = self.lookup(site.file, &format!("{path}.{name}"));
            if !found.is_empty() {
                return self.values(&found, depth);
            }
        }
        let objects = self.infer_within(site, object, depth);
        let found =
            objects.into_iter().map(|object| self.member_of(object, name)).find(|found| !found.is_empty());
        self.values(&found.unwrap_or_default(), depth)
    }

    /// Returns the meaning of `name` as a member of a value.
    pub(crate) fn member_of(&self, value: InferredValue<'a>, name: &str) -> Vec<Entity<'a>> {
        match value {
            InferredValue::Instance(def) | InferredValue::Type(def) => self.export(Entity::Def(def), name),
            InferredValue::Module(module) => self.export(Entity::Module(module), name),
            InferredValue::Callable(_) | InferredValue::Other(_) => Vec::new(),
        }
    }

    /// Returns the values of names: the value of a field or constant, if it is known.
    fn values(&self, found: &[Entity<'a>], depth: u32) -> Vec<InferredValue<'a>> {
        found.iter().take(MAX_VALUES).flat_map(|&entity| self.value(entity, depth)).collect()
    }

    fn value(&self, entity: Entity<'a>, depth: u32) -> Vec<InferredValue<'a>> {
        let def = match entity {
            Entity::Module(module) => return vec![InferredValue::Module(module)],
            Entity::Def(def) => def,
        };
        match def.definition().kind {
            DefinitionKind::Type | DefinitionKind::Module => vec![InferredValue::Type(def)],
            kind if kind.is_callable() => vec![InferredValue::Callable(def)],
            _ => {
                let values = self.declared_values(def, depth);
                if values.is_empty() { vec![InferredValue::Other(def)] } else { values }
            }
        }
    }

    /// Returns the value of a field or constant, or the return value of a function.
    fn declared_values(&self, def: Def<'a>, depth: u32) -> Vec<InferredValue<'a>> {
        let site = ExpressionSite::of(def);
        let typed = self.instances(site, &def.definition().type_text);
        match &def.definition().value {
            Some(value) if typed.is_empty() => self.infer_within(site, value, depth),
            _ => typed,
        }
    }

    /// Returns the result of calling a function, or a type.
    fn call_result(
        &self,
        site: ExpressionSite<'a, '_>,
        function: InferredValue<'a>,
        depth: u32,
    ) -> Vec<InferredValue<'a>> {
        match function {
            InferredValue::Type(def) => vec![InferredValue::Instance(def)],
            InferredValue::Callable(def) => self.return_values(site, def, depth),
            InferredValue::Instance(_) | InferredValue::Module(_) | InferredValue::Other(_) => Vec::new(),
        }
    }

    fn return_values(
        &self,
        site: ExpressionSite<'a, '_>,
        def: Def<'a>,
        depth: u32,
    ) -> Vec<InferredValue<'a>> {
        let definition = def.definition();
        let around = def.container().filter(Def::is_type).or_else(|| self.owner(def));
        if definition.kind == DefinitionKind::Constructor || is_own_type(&definition.type_text) {
            return around.or(site.this).map(InferredValue::Instance).into_iter().collect();
        }
        let held = self.declared_values(def, depth);
        if held.is_empty() && (1..=TYPE_PARAMETER_BYTES).contains(&definition.type_text.len()) {
            return around.map(InferredValue::Instance).into_iter().collect();
        }
        held
    }

    /// Returns the type that a definition outside of its body belongs to.
    pub(crate) fn owner(&self, def: Def<'a>) -> Option<Def<'a>> {
        let owner = def.definition().owner.as_deref()?;
        self.types(def.file, owner).first().copied()
    }

    /// Returns the values of a written type.
    fn instances(&self, site: ExpressionSite<'a, '_>, written: &str) -> Vec<InferredValue<'a>> {
        if written.is_empty() {
            return Vec::new();
        }
        if is_own_type(written) {
            return site.this.map(InferredValue::Instance).into_iter().collect();
        }
        self.types(site.file, written).iter().copied().map(InferredValue::Instance).collect()
    }
}

/// Whether a written type means the enclosing type.
fn is_own_type(written: &str) -> bool {
    let bare = written.trim_matches(['&', '*', ' ', '"', '\'']);
    matches!(bare, "Self" | "this" | "static" | "mut Self" | "self")
}

/// Returns an expression of names and dots as text; `None` if it is longer than any import.
fn dotted(expr: &Expr) -> Option<String> {
    let mut names = Vec::new();
    let mut rest = expr;
    while let Expr::Member(object, name) = rest {
        if names.len() >= MAX_DOTS {
            return None;
        }
        names.push(&**name);
        rest = object;
    }
    let Expr::Name(first) = rest else { return None };
    names.push(first);
    names.reverse();
    Some(names.join("."))
}
