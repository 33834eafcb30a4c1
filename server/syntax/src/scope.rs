//! The scope at a cursor: the definitions around it, the variables before it, and the expression before the dot.
//!
//! Reads only the text before the cursor. It is parsed with a placeholder at the cursor and with all open brackets closed, since
//! the text after the cursor does not fit while something between both is missing.

use std::cmp::Reverse;
use std::ops::Range;

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::language::Language;
use crate::lexer::{Token, TokenKind, is_reserved, lex};
use crate::outline::{DefinitionKind, Outline, SourceText};
use crate::tree::{Tree, parse_while_edited};
use crate::walk::TreeWalk;

/// Inserted at the cursor if no name is begun there, so that the parser reads a complete expression.
const PLACEHOLDER: &str = "__ghost__";

/// A variable with the expression of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Its name.
    pub name: Box<str>,
    /// Type as written ([`Expr::Typed`]), or else the assigned expression.
    pub value: Expr,
    /// Start of the binding, in bytes.
    pub start: usize,
}

impl Binding {
    /// Returns the variable with the name in the node `name`.
    pub(crate) fn new(name: Node<'_>, value: Option<Expr>, source: SourceText<'_>) -> Binding {
        let value = value.unwrap_or(Expr::UNKNOWN);
        Binding { name: source.text_of(name).into(), value, start: name.start_byte() }
    }
}

/// Names and expressions in scope at a cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Outline of the text before the cursor.
    pub outline: Outline,
    /// Positions of the definitions around the cursor, innermost first.
    pub enclosing: Vec<u32>,
    /// Variables and parameters in binding order; a later one hides an earlier one of the same name.
    pub bindings: Vec<Binding>,
    /// The expression before the last dot, if a member is being typed.
    pub receiver: Option<Expr>,
    /// The expression that ends at the cursor, if no member is being typed: a dot would apply to it.
    pub trailing: Option<Expr>,
}

/// Returns the scope after `prefix`, which is the whole text before the cursor.
pub fn scope(language: Language, prefix: &str) -> Scope {
    let text = close_prefix(language, prefix, &lex(language, prefix));
    let tree = parse_while_edited(language, &text);
    scope_of(&tree, &text, tree.outline(&text), prefix.len())
}

/// Returns the scope at `offset` in the tree of `text`, which [`close_prefix`] has closed after `offset`, and whose outline is `outline`.
pub(crate) fn scope_of(tree: &Tree, text: &str, outline: Outline, offset: usize) -> Scope {
    let enclosing = enclosing(&outline, offset);
    let expressions = ExpressionReader::new(tree.language().spec().rules, SourceText { text });
    let bindings = tree.bindings_before(expressions, &outline, offset);
    let (receiver, trailing) = receiver_and_trailing(tree, expressions, offset);
    Scope { outline, enclosing, bindings, receiver, trailing }
}

impl Tree {
    /// Returns the variables in scope at `offset` of the parsed `text`, whose outline is `outline`.
    pub fn bindings(&self, text: &str, outline: &Outline, offset: usize) -> Vec<Binding> {
        self.bindings_before(
            ExpressionReader::new(self.language.spec().rules, SourceText { text }),
            outline,
            offset,
        )
    }

    fn bindings_before(
        &self,
        expressions: ExpressionReader<'_>,
        outline: &Outline,
        offset: usize,
    ) -> Vec<Binding> {
        let rules = self.language.spec().rules;
        let closed = closed_definitions(outline, offset);
        let is_in_reach = |node: Node<'_>| {
            node.start_byte() < offset
                && closed
                    .binary_search_by_key(&node.start_byte(), |range| range.start)
                    .map_or(true, |found| node.end_byte() > closed[found].end)
        };
        let mut found = Vec::new();
        let mut walk = TreeWalk::new(self.root());
        while let Some(node) = walk.node() {
            let is_in_reach = is_in_reach(node);
            if is_in_reach {
                rules.bindings(node, expressions.at_walk(&walk), &mut found);
            }
            walk.advance(is_in_reach);
        }
        found.sort_by_key(|binding| binding.start);
        found
    }
}

/// Returns the positions of the definitions that contain `offset`, innermost first.
pub fn enclosing(outline: &Outline, offset: usize) -> Vec<u32> {
    let holds = |range: &Range<u32>| (range.start as usize) < offset && offset <= range.end as usize;
    let definitions = outline.definitions.iter().enumerate();
    let mut around: Vec<u32> = definitions
        .filter(|(_, definition)| holds(&definition.range))
        .map(|(position, _)| position as u32)
        .collect();
    around.sort_by_key(|&position| {
        let Range { start, end } = outline.definitions[position as usize].range;
        end - start
    });
    around
}

/// Returns the ranges of definitions that end before `offset` or begin after it, by their start: their bindings are not in scope.
fn closed_definitions(outline: &Outline, offset: usize) -> Vec<Range<usize>> {
    let ranges = outline.definitions.iter().filter(|definition| definition.kind != DefinitionKind::Constant);
    let mut closed: Vec<Range<usize>> = ranges
        .map(|definition| definition.range.start as usize..definition.range.end as usize)
        .filter(|range| offset < range.start || range.end < offset)
        .collect();
    closed.sort_by_key(|range| (range.start, Reverse(range.end)));
    closed.dedup_by_key(|range| range.start);
    closed
}

/// Returns `prefix`, whose tokens are `tokens`, with a placeholder at a possible name, and with all open brackets closed.
pub(crate) fn close_prefix(language: Language, prefix: &str, tokens: &[Token]) -> String {
    let is_in_name = prefix.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == '$');
    let placeholder = if is_in_name { "" } else { PLACEHOLDER };
    format!("{prefix}{placeholder}{}", closers(language, prefix, tokens))
}

/// An open bracket.
struct ScopeBracket {
    /// The closing sign.
    closer: u8,
    /// Whether it contains statements, as far as tokens show: braces after `new ValueType` contain values.
    holds_statements: bool,
    /// Whether `new` precedes it in the same expression.
    follows_new: bool,
}

/// Returns the closers of the brackets that are open at the end of `prefix`.
fn closers(language: Language, prefix: &str, tokens: &[Token]) -> String {
    let mut open: Vec<ScopeBracket> = Vec::new();
    let mut follows_new = false;
    for token in tokens {
        let written = &prefix[token.range.clone()];
        if token.kind == TokenKind::Word {
            follows_new |= written == "new" && is_reserved(language, written);
            continue;
        }
        // An operator such as `=>` has no bracket; `[]` and the like may be one token.
        for sign in written.bytes().filter(|_| token.kind == TokenKind::Punctuation) {
            match sign {
                b'(' | b'[' | b'{' => {
                    let closer = if sign == b'(' { b')' } else { sign + 2 };
                    let holds_statements = sign == b'{' && !follows_new;
                    open.push(ScopeBracket { closer, holds_statements, follows_new });
                    follows_new = false;
                }
                b')' | b']' | b'}' => {
                    let closed = open.pop_if(|bracket| bracket.closer == sign);
                    follows_new = sign != b'}' && closed.is_some_and(|bracket| bracket.follows_new);
                }
                b';' | b'=' => follows_new = false,
                _ => {}
            }
        }
    }
    let has_statement_ends = language.spec().statement_end == ";";
    let mut closers = String::new();
    for bracket in open.iter().rev() {
        if bracket.holds_statements && has_statement_ends {
            closers.push(';');
        }
        closers.push(char::from(bracket.closer));
    }
    closers
}

/// Returns the receiver of the name at `offset`, or else the expression that ends there.
fn receiver_and_trailing(
    tree: &Tree,
    expressions: ExpressionReader<'_>,
    offset: usize,
) -> (Option<Expr>, Option<Expr>) {
    let Some(start) = offset.checked_sub(1) else { return (None, None) };
    // The placeholder begins at the cursor; a name already begun ends there.
    let end = offset + usize::from(expressions.source.text[offset..].starts_with(PLACEHOLDER));
    let at = if end > offset { offset..end } else { start..offset };
    let Some(leaf) = tree.root().descendant_for_byte_range(at.start, at.end) else { return (None, None) };
    let written = expressions.source.text_of(leaf);
    let mut around = leaf;
    for _ in 0..MAX_CLIMB {
        match expressions.read(around) {
            Some(Expr::Member(object, name)) if *name == *written => return (Some(*object), None),
            _ => {}
        }
        let Some(parent) = around
            .parent()
            .filter(|parent| parent.start_byte() < leaf.start_byte() || parent.end_byte() == leaf.end_byte())
        else {
            break;
        };
        around = parent;
    }
    let trailing = if end > offset { None } else { expressions.read(leaf) };
    (None, trailing)
}

/// Maximum number of nodes between a name and the access whose member it is.
const MAX_CLIMB: usize = 3;
