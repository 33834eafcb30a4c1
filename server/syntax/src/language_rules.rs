//! Rules of each language about names that queries cannot express.
//!
//! One implementation per language, in `languages/<language>/rules.rs`, referenced in the language's row. The walks over trees,
//! scopes and expressions are the same for all languages; they are in `outline.rs`, `scope.rs`, `uses.rs` and `expr.rs`.

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::module_resolution::{ModuleTarget, Projects};
use crate::outline::{Definition, OutlineBuilder, SourceText};
use crate::scope::Binding;
use crate::test_code::TestCode;
use crate::uses::NodeUse;

/// A language's rules about names.
pub(crate) trait LanguageRules: Sync {
    /// Adds the definitions and imports of `node`, and returns whether to visit its children. Called for each visited node,
    /// parents first. Items inside of functions are not definitions (see [`OutlineBuilder::is_local`]); imports there count.
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool;

    /// Converts `node` to an expression; `None` if nothing is known about its value. A wrapper of another expression
    /// (parentheses, `await`, `!`, `?`, references) gives that expression.
    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr>;

    /// Adds the variables that `node` directly binds: assignments, declarations, parameters, loop variables, patterns.
    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>);

    /// Returns the name that `node` uses, if it may refer to a definition of another file: a member access, a call, the type of a
    /// new value. Imports and definitions are not uses.
    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>>;

    /// Whether `node` may contain uses of names: not in imports, and not where the parser makes no tree.
    fn holds_uses(&self, _node: Node<'_>) -> bool {
        true
    }

    /// Returns what a node says about tests that are written beside the code that they test.
    fn test_code(&self, _node: Node<'_>, _source: SourceText<'_>) -> TestCode {
        TestCode::No
    }

    /// Returns possible locations of `module` as written in an import of the file at `from`, best guess first.
    fn targets(&self, from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget>;

    /// Returns locations visible without an import: the file's own package or namespace.
    fn implicit(&self, _from: &str, _namespace: &str) -> Vec<ModuleTarget> {
        Vec::new()
    }

    /// Whether code in the file at `from` may name `definition` of the file at `to`.
    fn can_name(&self, _from: &str, _to: &str, _definition: &Definition) -> bool {
        true
    }
}
