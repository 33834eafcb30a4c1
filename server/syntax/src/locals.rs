//! The variables of one function, for expressing its values in names that are valid outside of it.
//!
//! Needed if the code has no type annotations: expressions then describe the return value of a function and the value of a field,
//! and local variables in them mean nothing to other files.

use crate::expr::Expr;
use crate::scope::Binding;

/// Maximum of names looked up for one expression: real chains of variables are shorter, and hostile ones must terminate.
const MAX_LOOKUPS: u32 = 32;

/// The variables of a function.
#[derive(Default)]
pub(crate) struct LocalVariables {
    /// Bindings in source order.
    bindings: Vec<Binding>,
}

impl LocalVariables {
    pub(crate) fn new(mut bindings: Vec<Binding>) -> LocalVariables {
        bindings.sort_by_key(|binding| binding.start);
        LocalVariables { bindings }
    }

    /// Returns `expr` at `offset` with the function's variables replaced by their values; `None` if nothing is known.
    pub(crate) fn without_locals(&self, expr: &Expr, offset: usize) -> Option<Expr> {
        self.replace(expr, offset, Expr::MAX_DEPTH, &mut MAX_LOOKUPS.clone())
    }

    /// Combines several values, each with its offset, with the function's variables replaced.
    pub(crate) fn one_of(&self, values: &[(Expr, usize)]) -> Option<Expr> {
        let mut some: Vec<Expr> = Vec::new();
        for (value, offset) in values {
            some.extend(self.without_locals(value, *offset).filter(|value| !some.contains(value)));
        }
        Expr::one_of(some)
    }

    /// Replaces the variables down to `depth`, with at most `left` lookups.
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
            // The value of a variable is before the variable, so this terminates.
            Some(binding) => {
                *left = left.checked_sub(1)?;
                self.replace(&binding.value, binding.start, depth, left)
            }
            None => Some(Expr::Name(name.into())),
        }
    }
}
