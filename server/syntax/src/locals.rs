//! The variables of one function, for saying what its values are in terms of names that hold outside of it.
//!
//! Needed where a language writes no types: what a function returns and what a field gets are then told by expressions, and the
//! variables in these mean nothing to other files.

use crate::expr::Expr;
use crate::scope::Binding;

/// Names that are looked up for one expression: real chains of variables are shorter, and hostile ones must end.
const MAX_LOOKUPS: u32 = 32;

/// The variables of a function.
#[derive(Default)]
pub(crate) struct Locals {
    /// In the order in which they are bound.
    bindings: Vec<Binding>,
}

impl Locals {
    pub(crate) fn new(mut bindings: Vec<Binding>) -> Locals {
        bindings.sort_by_key(|binding| binding.start);
        Locals { bindings }
    }

    /// The same as `expr`, which stands at `offset`, without variables of the function; `None` where nothing can be told.
    pub(crate) fn outside(&self, expr: &Expr, offset: usize) -> Option<Expr> {
        self.replace(expr, offset, Expr::MAX_DEPTH, &mut MAX_LOOKUPS.clone())
    }

    /// One of several values, each with where it stands, without variables of the function.
    pub(crate) fn one_of(&self, values: &[(Expr, usize)]) -> Option<Expr> {
        let mut some: Vec<Expr> = Vec::new();
        for (value, offset) in values {
            some.extend(self.outside(value, *offset).filter(|value| !some.contains(value)));
        }
        Expr::one_of(some)
    }

    /// The same, no deeper than `depth`, looking up no more names than are `left`.
    fn replace(&self, expr: &Expr, offset: usize, depth: usize, left: &mut u32) -> Option<Expr> {
        let inside = depth.checked_sub(1)?;
        let mut replace = |inner: &Expr| self.replace(inner, offset, inside, left);
        Some(match expr {
            Expr::Name(name) => return self.replace_name(name, offset, depth, left),
            Expr::This | Expr::Super | Expr::Typed(_) => expr.clone(),
            Expr::Member(object, name) => Expr::Member(Box::new(replace(object)?), name.clone()),
            Expr::Call(callee) => replace(callee)?.call(),
            Expr::Element(collection) => replace(collection)?.element(),
            Expr::Either(some) => return Expr::one_of(some.iter().filter_map(replace).collect()),
        })
    }

    fn replace_name(&self, name: &str, offset: usize, depth: usize, left: &mut u32) -> Option<Expr> {
        let end = self.bindings.partition_point(|binding| binding.start < offset);
        match self.bindings[..end].iter().rfind(|binding| *binding.name == *name) {
            // What a variable is made from stands before it, so that this ends.
            Some(binding) => {
                *left = left.checked_sub(1)?;
                self.replace(&binding.value, binding.start, depth, left)
            }
            None => Some(Expr::Name(name.into())),
        }
    }
}
