//! What each language says about names: the rules that queries cannot express.
//!
//! One implementation a language, in `languages/<language>/rules.rs`, named in the language's row. The walks over trees, scopes
//! and expressions are the same for all and stand in `outline.rs`, `scope.rs`, `uses.rs` and `expr.rs`.

use tree_sitter::Node;

use crate::expr::{Expr, Expressions};
use crate::modules::{Projects, Target};
use crate::outline::{Definition, OutlineBuilder};
use crate::scope::Binding;
use crate::uses::NodeUse;

/// A language's rules about names.
pub(crate) trait Rules: Sync {
    /// Takes in what `node` defines or imports, and says whether its children are to be looked at. Called for each node that is
    /// entered, parents first. Definitions inside of functions are none (see [`OutlineBuilder::is_local`]); imports there are.
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool;

    /// The expression that `node` is, `None` where nothing can be told. What only wraps another expression (parentheses, `await`,
    /// `!`, `?`, references) is that one.
    fn expr(&self, node: Node<'_>, expressions: Expressions<'_>) -> Option<Expr>;

    /// Adds the variables that `node` itself binds: assignments, declarations, parameters, loop variables, patterns.
    fn bindings(&self, node: Node<'_>, expressions: Expressions<'_>, found: &mut Vec<Binding>);

    /// The name that `node` uses, if it is a place where a name that another file defines may stand: a member access, a call, a
    /// type that a value is made of. Imports and definitions are no uses.
    fn use_of<'tree>(&self, node: Node<'tree>, expressions: Expressions<'_>) -> Option<NodeUse<'tree>>;

    /// Whether a name in `node` may be a use: not in imports, and not where the parser makes no tree.
    fn holds_uses(&self, _node: Node<'_>) -> bool {
        true
    }

    /// Where `module`, as an import in the file at `from` writes it, may be found, best guess first.
    fn targets(&self, from: &str, module: &str, projects: &Projects) -> Vec<Target>;

    /// What a file sees without importing it: its own package or namespace.
    fn implicit(&self, _from: &str, _namespace: &str) -> Vec<Target> {
        Vec::new()
    }

    /// Whether code in the file at `from` may name `definition`, which the file at `to` makes.
    fn can_name(&self, _from: &str, _to: &str, _definition: &Definition) -> bool {
        true
    }
}
