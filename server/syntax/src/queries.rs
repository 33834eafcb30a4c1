//! The queries of the languages, each compiled once.
//!
//! A capture's name is the role of the node (see [`CaptureRole`]); the generic code knows these roles and no language.

use std::sync::OnceLock;

use tree_sitter::{CaptureQuantifier, Language as Grammar, Node, Query, QueryCapture};

use crate::blocks::BlockKind;
use crate::bounded_parse;
use crate::language::{COUNT, Language};

/// Kind of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ConstructKind {
    /// No block, whatever other match has the same range: a docstring, part of a header, or braces without a kind.
    Other,
    /// A block of this kind.
    Block(BlockKind),
    /// Ends like a statement but is not one: a member or declaration of a type, an annotation, the value of an arm.
    Part,
}

impl ConstructKind {
    /// Rank for choosing between two constructs with the same range; the lower one wins. Statements have the highest rank.
    pub(crate) fn rank(self) -> u8 {
        match self {
            ConstructKind::Other => 0,
            ConstructKind::Block(BlockKind::Statement) => 3,
            ConstructKind::Block(_) => 1,
            ConstructKind::Part => 2,
        }
    }
}

/// Role of a captured node in its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureRole {
    /// The whole construct. Matches about the same body are merged into one construct.
    Construct(ConstructKind),
    /// The node that contains the statements, or the only statement.
    Body,
    /// The token after which the header ends, unless the body brings a brace of its own.
    Open,
    /// The token before which the body ends, if the body has no node.
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

impl CaptureRole {
    fn from_capture_name(name: &str) -> Option<CaptureRole> {
        let block = |kind| CaptureRole::Construct(ConstructKind::Block(kind));
        Some(match name {
            "other" => CaptureRole::Construct(ConstructKind::Other),
            "part" => CaptureRole::Construct(ConstructKind::Part),
            "function" => block(BlockKind::Function),
            "if" => block(BlockKind::If),
            "for" => block(BlockKind::For),
            "while" => block(BlockKind::While),
            "try" => block(BlockKind::Try),
            "catch" => block(BlockKind::Catch),
            "statement" => block(BlockKind::Statement),
            "import" => block(BlockKind::Import),
            "body" => CaptureRole::Body,
            "open" => CaptureRole::Open,
            "close" => CaptureRole::Close,
            "name" => CaptureRole::Name,
            "docstring" => CaptureRole::Docstring,
            "identifier" => CaptureRole::Identifier,
            "comment" => CaptureRole::Comment,
            "string" => CaptureRole::String,
            _ => return None,
        })
    }
}

/// A query with the roles of its captures.
pub(crate) struct RoleQuery {
    pub(crate) query: Query,
    roles: Vec<CaptureRole>,
    /// Kinds of nodes that patterns begin with.
    begins: NodeKinds,
    /// Kinds of nodes before a function that belong to it.
    attributes: NodeKinds,
}

/// A set of node kinds, indexed by their numbers.
pub(crate) struct NodeKinds(Vec<bool>);

impl NodeKinds {
    /// Looks up the kinds with these names; the error is the first unknown name.
    fn new<'n>(grammar: &Grammar, names: impl IntoIterator<Item = &'n str>) -> Result<NodeKinds, &'n str> {
        let mut kinds = vec![false; grammar.node_kind_count()];
        for name in names {
            let number = grammar.id_for_node_kind(name, true);
            let is_among =
                kinds.get_mut(usize::from(number)).filter(|_| grammar.node_kind_is_visible(number));
            *is_among.ok_or(name)? = true;
        }
        Ok(NodeKinds(kinds))
    }

    pub(crate) fn has(&self, node: Node) -> bool {
        self.0.get(usize::from(node.kind_id())).is_some_and(|&is_among| is_among)
    }
}

/// Returns the kinds of comments. Each is a pattern of its own, so that finding comments needs no query, which takes longer to compile
/// than a text to parse.
pub(crate) fn comment_kinds(language: Language) -> &'static NodeKinds {
    static KINDS: [OnceLock<NodeKinds>; COUNT] = [const { OnceLock::new() }; COUNT];
    KINDS[language as usize].get_or_init(|| {
        let spec = language.spec();
        NodeKinds::new(&(spec.grammar)(), outermost_kinds(&spec.comments.concat()))
            .expect("the kinds are part of the program, and a test compares them with the query")
    })
}

impl RoleQuery {
    /// Compiles all patterns of the sources, or only those with a capture of the role `needed`.
    fn compile(
        language: Language,
        sources: &[&str],
        needed: Option<CaptureRole>,
    ) -> Result<RoleQuery, QueryError> {
        bounded_parse::install();
        let fail = |message| QueryError { language, message };
        let (grammar, source) = ((language.spec().grammar)(), sources.concat());
        let mut query = Query::new(&grammar, &source).map_err(|error| fail(error.to_string()))?;
        let roles = query
            .capture_names()
            .iter()
            .map(|name| {
                CaptureRole::from_capture_name(name).ok_or_else(|| fail(format!("unknown capture `@{name}`")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let patterns = keep_patterns(&mut query, &source, &roles, needed);
        let no_kind =
            |name| fail(format!("`{name}` begins a pattern or is an attribute, and is no kind of nodes"));
        let begins = patterns.into_iter().flat_map(outermost_kinds);
        let begins = NodeKinds::new(&grammar, begins).map_err(no_kind)?;
        let attributes =
            NodeKinds::new(&grammar, language.spec().attributes.iter().copied()).map_err(no_kind)?;
        Ok(RoleQuery { query, roles, begins, attributes })
    }

    /// Returns the query for functions, blocks and comments.
    pub(crate) fn structure(language: Language) -> &'static RoleQuery {
        static QUERIES: [OnceLock<RoleQuery>; COUNT] = [const { OnceLock::new() }; COUNT];
        compile_once(&QUERIES, language, language.spec().structure, None)
    }

    /// Returns the query for functions and comments only.
    pub(crate) fn functions(language: Language) -> &'static RoleQuery {
        static QUERIES: [OnceLock<RoleQuery>; COUNT] = [const { OnceLock::new() }; COUNT];
        compile_once(&QUERIES, language, language.spec().functions, None)
    }

    /// Returns the query for functions with a body only. In C, prototypes are patterns of the whole file, and each costs a pass over it.
    pub(crate) fn functions_with_body(language: Language) -> &'static RoleQuery {
        static QUERIES: [OnceLock<RoleQuery>; COUNT] = [const { OnceLock::new() }; COUNT];
        compile_once(&QUERIES, language, language.spec().functions, Some(CaptureRole::Body))
    }

    /// Returns the query for identifiers and strings.
    pub(crate) fn tokens(language: Language) -> &'static RoleQuery {
        static QUERIES: [OnceLock<RoleQuery>; COUNT] = [const { OnceLock::new() }; COUNT];
        compile_once(&QUERIES, language, language.spec().tokens, None)
    }

    /// Whether a pattern can begin at `node`.
    pub(crate) fn may_begin_at(&self, node: Node) -> bool {
        self.begins.has(node)
    }

    /// Whether `node` belongs to the node after it.
    pub(crate) fn is_attribute(&self, node: Node) -> bool {
        self.attributes.has(node)
    }

    pub(crate) fn role(&self, capture: &QueryCapture) -> CaptureRole {
        self.roles[capture.index as usize]
    }
}

/// Disables the patterns without a capture of the role `needed`, if there is one; returns the sources of the others.
fn keep_patterns<'s>(
    query: &mut Query,
    source: &'s str,
    roles: &[CaptureRole],
    needed: Option<CaptureRole>,
) -> Vec<&'s str> {
    let mut kept = Vec::new();
    for pattern in 0..query.pattern_count() {
        let mut captures = roles.iter().zip(query.capture_quantifiers(pattern));
        if needed.is_none_or(|needed| {
            captures.any(|(role, times)| *role == needed && *times != CaptureQuantifier::Zero)
        }) {
            kept.push(&source[query.start_byte_for_pattern(pattern)..query.end_byte_for_pattern(pattern)]);
        } else {
            query.disable_pattern(pattern);
        }
    }
    kept
}

/// Returns the kinds of nodes that the patterns in `source` begin with; empty for a pattern that begins with a group.
fn outermost_kinds(source: &str) -> Vec<&str> {
    let mut kinds = Vec::new();
    let mut depth = 0;
    let code = source.lines().filter(|line| !line.starts_with(';'));
    // Every second part is in quotes.
    for unquoted in code.flat_map(|line| line.split('"').step_by(2)) {
        for (at, bracket) in unquoted.match_indices(['(', ')']) {
            if bracket == ")" {
                depth -= 1;
                continue;
            }
            if depth == 0 {
                let kind = &unquoted[at + 1..];
                let end = kind.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(kind.len());
                kinds.push(&kind[..end]);
            }
            depth += 1;
        }
    }
    kinds
}

/// Compiles a query on first use: compiling takes far longer than running it once.
fn compile_once(
    queries: &'static [OnceLock<RoleQuery>; COUNT],
    language: Language,
    sources: &[&str],
    needed: Option<CaptureRole>,
) -> &'static RoleQuery {
    queries[language as usize].get_or_init(|| {
        RoleQuery::compile(language, sources, needed)
            .expect("the queries are part of the program, and a test compiles them all")
    })
}

/// A query that does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryError {
    /// Language of the query.
    pub language: Language,
    /// The error.
    pub message: String,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "query of {}: {}", self.language.name(), self.message)
    }
}

impl std::error::Error for QueryError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_queries_compile() {
        for language in Language::ALL {
            let row = language.spec();
            for sources in [row.structure, row.functions, row.tokens] {
                assert_eq!(RoleQuery::compile(language, sources, None).err(), None);
            }
            assert_eq!(RoleQuery::compile(language, row.functions, Some(CaptureRole::Body)).err(), None);
        }
    }

    #[test]
    fn outermost_kinds_of_patterns_are_listed() {
        let source =
            "; (comment)\n(a b: (c \")\" @open) (d)*) @if\n[(e (f))\n (g)] @statement\n((h) @part)\n";
        assert_eq!(outermost_kinds(source), ["a", "e", "g", ""]);
    }

    #[test]
    fn pattern_without_a_usable_outermost_kind_is_rejected() {
        for source in [
            "(_) @other",
            "((line_comment) @comment)",
            "(expression_statement) @statement (_expression) @other",
        ] {
            let error = RoleQuery::compile(Language::Rust, &[source], None).err().expect(source);
            assert!(error.message.contains("begins a pattern"), "{error}");
        }
    }
}
