//! The queries of the languages, compiled once each.
//!
//! A capture's name says what part the node plays (see [`Role`]); the generic code knows these parts and no language.

use std::sync::OnceLock;

use tree_sitter::{Node, Query, QueryCapture};

use crate::blocks::BlockKind;
use crate::language::{COUNT, Language};

/// What a construct is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Nothing, whatever else captures the same range: a docstring, part of a header, or braces that belong to no kind.
    Other,
    /// One of the seven kinds.
    Block(BlockKind),
    /// Ends like a statement but is none: a member or declaration of a type, an annotation, the value of an arm.
    Part,
}

impl Kind {
    /// Of two constructs with the same range, the one with the lower rank is right. Statements are whatever is nothing else.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Kind::Other => 0,
            Kind::Block(BlockKind::Statement) => 3,
            Kind::Block(_) => 1,
            Kind::Part => 2,
        }
    }
}

/// The part a captured node plays in its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The whole construct. Several matches about one body join into one construct.
    Construct(Kind),
    /// The node that holds the statements, or the only statement.
    Body,
    /// The token after which the header ends, unless the body brings a brace of its own.
    Open,
    /// The token before which the body ends, where no node stands for the body.
    Close,
    /// The function's name.
    Name,
    /// The documentation inside the body.
    Docstring,
    /// An identifier.
    Identifier,
    /// A comment.
    Comment,
    /// A string or character literal.
    String,
}

impl Role {
    fn from_capture_name(name: &str) -> Option<Role> {
        let block = |kind| Role::Construct(Kind::Block(kind));
        Some(match name {
            "other" => Role::Construct(Kind::Other),
            "part" => Role::Construct(Kind::Part),
            "function" => block(BlockKind::Function),
            "if" => block(BlockKind::If),
            "for" => block(BlockKind::For),
            "while" => block(BlockKind::While),
            "try" => block(BlockKind::Try),
            "catch" => block(BlockKind::Catch),
            "statement" => block(BlockKind::Statement),
            "body" => Role::Body,
            "open" => Role::Open,
            "close" => Role::Close,
            "name" => Role::Name,
            "docstring" => Role::Docstring,
            "identifier" => Role::Identifier,
            "comment" => Role::Comment,
            "string" => Role::String,
            _ => return None,
        })
    }
}

/// A query with the roles of its captures.
pub(crate) struct RoleQuery {
    pub(crate) query: Query,
    roles: Vec<Role>,
    /// By the number of a kind of nodes: whether the query names it.
    names: Vec<bool>,
}

impl RoleQuery {
    fn compile(language: Language, sources: &[&str]) -> Result<RoleQuery, QueryError> {
        let fail = |message| QueryError { language, message };
        let (grammar, source) = ((language.row().grammar)(), sources.concat());
        let query = Query::new(&grammar, &source).map_err(|error| fail(error.to_string()))?;
        let roles = query
            .capture_names()
            .iter()
            .map(|name| {
                Role::from_capture_name(name).ok_or_else(|| fail(format!("unknown capture `@{name}`")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut names = vec![false; grammar.node_kind_count()];
        for pattern in source.split('(') {
            let end = pattern.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(pattern.len());
            let kind = grammar.id_for_node_kind(&pattern[..end], true);
            if let Some(is_named) = names.get_mut(kind as usize) {
                *is_named = true;
            }
        }
        Ok(RoleQuery { query, roles, names })
    }

    /// The query for functions, blocks and comments.
    pub(crate) fn structure(language: Language) -> &'static RoleQuery {
        static QUERIES: [OnceLock<RoleQuery>; COUNT] = [const { OnceLock::new() }; COUNT];
        compile_once(&QUERIES, language, language.row().structure)
    }

    /// The query for identifiers and strings.
    pub(crate) fn tokens(language: Language) -> &'static RoleQuery {
        static QUERIES: [OnceLock<RoleQuery>; COUNT] = [const { OnceLock::new() }; COUNT];
        compile_once(&QUERIES, language, language.row().tokens)
    }

    /// Whether a pattern can begin at `node`.
    pub(crate) fn may_begin_at(&self, node: Node) -> bool {
        self.names.get(node.kind_id() as usize).is_some_and(|&is_named| is_named)
    }

    pub(crate) fn role(&self, capture: &QueryCapture) -> Role {
        self.roles[capture.index as usize]
    }
}

/// Compiling takes far longer than using a query once.
fn compile_once(
    queries: &'static [OnceLock<RoleQuery>; COUNT],
    language: Language,
    sources: &[&str],
) -> &'static RoleQuery {
    queries[language as usize].get_or_init(|| {
        RoleQuery::compile(language, sources)
            .expect("the queries are part of the program, and a test compiles them all")
    })
}

/// A query that does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Whose query.
    pub language: Language,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "query of {}: {}", self.language.name(), self.message)
    }
}

impl std::error::Error for QueryError {}

/// Compiles every query of every language.
pub fn check_queries() -> Result<(), QueryError> {
    Language::ALL.into_iter().try_for_each(|language| {
        let row = language.row();
        [row.structure, row.tokens]
            .into_iter()
            .try_for_each(|sources| RoleQuery::compile(language, sources).map(drop))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_queries_compile() {
        assert_eq!(check_queries(), Ok(()));
    }
}
