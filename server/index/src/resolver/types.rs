//! Resolves written types, their bases, and their members.

use std::rc::Rc;

use syntax::DefinitionKind;

use super::{Def, Entity, FileNames, Resolver};

/// Maximum bases of a type.
const MAX_BASES: usize = 12;
/// Maximum types that one written type may name.
const MAX_TYPES: usize = 6;

impl<'a> Resolver<'a> {
    /// Returns the types that a type written in `file` names, outermost first.
    pub(crate) fn types(&self, file: FileNames<'a>, written: &str) -> Rc<[Def<'a>]> {
        let key = (file.address(), Box::from(written));
        self.queries.answer(&self.types, key, Rc::default, || self.find_types(file, written).into())
    }

    fn find_types(&self, file: FileNames<'a>, written: &str) -> Vec<Def<'a>> {
        let mut types: Vec<Def<'a>> = Vec::new();
        for path in paths(written) {
            if types.len() >= MAX_TYPES || !self.queries.step() {
                break;
            }
            for def in self.types_named(file, &path) {
                for def in self.unalias(def) {
                    if !types.contains(&def) {
                        types.push(def);
                    }
                }
            }
        }
        types.truncate(MAX_TYPES);
        types
    }

    fn types_named(&self, file: FileNames<'a>, path: &[&str]) -> Vec<Def<'a>> {
        let [head, inner @ ..] = path else { return Vec::new() };
        let mut found: Vec<Entity<'a>> = self.lookup(file, head).to_vec();
        if found.is_empty() && !inner.is_empty() {
            // A path may begin with a module that needs no import.
            found = self.modules(file, head).to_vec();
        }
        if found.is_empty() {
            // Nested types have their simple name where they are declared.
            found = self
                .view
                .definitions_named(head)
                .filter(|def| def.file == file && def.is_type())
                .map(Entity::Def)
                .collect();
        }
        for name in inner {
            found = found.into_iter().flat_map(|entity| self.export(entity, name)).collect();
        }
        if found.is_empty() {
            found = self.only_type(file, path.last().copied().unwrap_or(head));
        }
        found.into_iter().filter_map(Entity::def).filter(Def::is_type).collect()
    }

    /// Returns the type of this name, if it is unique in the workspace for this language: its import may not be written yet.
    fn only_type(&self, file: FileNames<'a>, name: &str) -> Vec<Entity<'a>> {
        let mut all = self.view.types_named(name).filter(|def| def.file.language() == file.language());
        match (all.next(), all.next()) {
            (Some(def), None) => vec![Entity::Def(def)],
            _ => Vec::new(),
        }
    }

    /// Resolves an alias that has no members of its own.
    fn unalias(&self, def: Def<'a>) -> Vec<Def<'a>> {
        let is_alias = !def.definition().type_text.is_empty() && def.members().next().is_none();
        let mut types =
            if is_alias { self.types(def.file, &def.definition().type_text).to_vec() } else { Vec::new() };
        types.push(def);
        types
    }

    /// Returns the type itself, its other parts, and its bases, nearest first.
    pub(crate) fn bases(&self, def: Def<'a>) -> Rc<[Def<'a>]> {
        // A base may be a member of the type itself: the members without its bases are known at this point.
        let itself = || Rc::from([def]);
        self.queries.answer(&self.bases, def.key(), itself, || self.find_bases(def).into())
    }

    fn find_bases(&self, def: Def<'a>) -> Vec<Def<'a>> {
        let mut all = vec![def];
        let mut next = 0;
        while let Some(&one) = all.get(next).filter(|_| all.len() < MAX_BASES && self.queries.step()) {
            next += 1;
            let named = may_have_parts(&one).then(|| self.view.types_named(&one.definition().name));
            let parts = named.into_iter().flatten().filter(|part| is_part(&one, part));
            let bases = one.definition().bases.iter().map(|base| (one.file, &**base));
            let extended = self.view.extensions(&one.definition().name);
            let bases = bases.chain(extended).flat_map(|(file, base)| {
                self.types(file, without_arguments(base)).iter().take(2).copied().collect::<Vec<_>>()
            });
            for other in parts.chain(bases.collect::<Vec<_>>()) {
                if !all.contains(&other) {
                    all.push(other);
                }
            }
        }
        all
    }

    /// Returns the members called `name` of the nearest type with such a member, among the type and its bases.
    pub(crate) fn members(&self, def: Def<'a>, name: &str) -> Vec<Def<'a>> {
        if !def.is_type() {
            return def.members().filter(|member| *member.name() == *name).collect();
        }
        let bases = self.bases(def);
        let of = |base: &Def<'a>| -> Vec<Def<'a>> {
            let is_named = |member: &Def<'a>| *member.name() == *name;
            let own = base.members().filter(|member| member.shape().kind != DefinitionKind::Constructor);
            own.chain(self.out_of_body_members(*base)).filter(is_named).collect()
        };
        bases.iter().map(of).find(|members| !members.is_empty()).unwrap_or_default()
    }

    /// Returns all members of a type that are outside of its body.
    pub(crate) fn out_of_body_members(&self, of: Def<'a>) -> impl Iterator<Item = Def<'a>> + 'a {
        let language = of.file.language();
        self.view
            .members_of_type(&of.definition().name)
            .filter(move |member| member.file.language() == language)
    }
}

/// Whether a type may have other parts: C#'s partial classes, or several `impl`-like blocks with the same name in other languages.
fn may_have_parts(one: &Def<'_>) -> bool {
    !one.namespace().is_empty() && one.definition().container.is_none()
}

/// Whether the type `other` of the same name is a part of `one`, which may have parts.
fn is_part(one: &Def<'_>, other: &Def<'_>) -> bool {
    one.file.language() == other.file.language()
        && other.definition().container.is_none()
        && one.namespace() == other.namespace()
}

/// Returns a type without its arguments.
fn without_arguments(written: &str) -> &str {
    written.split(['<', '[', '(']).next().unwrap_or_default()
}

/// Returns the dotted names in a written type, in order.
fn paths(written: &str) -> Vec<Vec<&str>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut paths: Vec<Vec<&str>> = Vec::new();
    let mut rest = written;
    let mut continues = false;
    while let Some(start) = rest.find(is_name) {
        let gap = &rest[..start];
        let end = rest[start..].find(|c| !is_name(c)).map_or(rest.len(), |length| start + length);
        let name = &rest[start..end];
        continues = continues && matches!(gap, "." | "::");
        match paths.last_mut() {
            Some(path) if continues => path.push(name),
            _ => paths.push(vec![name]),
        }
        continues = true;
        rest = &rest[end..];
    }
    paths.retain(|path| !path[0].starts_with(|c: char| c.is_ascii_digit()));
    paths
}
