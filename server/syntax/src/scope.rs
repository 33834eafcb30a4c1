//! What is in reach at a cursor: the definitions around it, the variables before it, and what stands before the dot.
//!
//! Only the text before the cursor is looked at. It is parsed with a placeholder at the cursor and with everything closed that is
//! open there, since the text after the cursor, when something is missing between both, does not fit.

use std::cmp::Reverse;
use std::ops::Range;

use tree_sitter::Node;

use crate::expr::{Expr, Expressions};
use crate::language::Language;
use crate::lexer::{TokenKind, is_reserved, lex};
use crate::outline::{DefinitionKind, Outline, Source};
use crate::tree::{Tree, parse_while_edited};
use crate::walk::Walk;

/// Stands at the cursor where no name is begun, so that the parser sees a complete expression.
const PLACEHOLDER: &str = "__ghost__";

/// A variable with what its value is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Its name.
    pub name: Box<str>,
    /// What it is: its type as written ([`Expr::Typed`]), or else the expression that it gets.
    pub value: Expr,
    /// Where it is bound, in bytes.
    pub start: usize,
}

impl Binding {
    /// The variable that `name` writes.
    pub(crate) fn new(name: Node<'_>, value: Option<Expr>, source: Source<'_>) -> Binding {
        let value = value.unwrap_or(Expr::UNKNOWN);
        Binding { name: source.of(name).into(), value, start: name.start_byte() }
    }
}

/// What is in reach at a cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// The outline of everything before the cursor.
    pub outline: Outline,
    /// Positions of the definitions around the cursor, innermost first.
    pub enclosing: Vec<u32>,
    /// Variables and parameters, in the order in which they are bound; a later one hides an earlier one of the same name.
    pub bindings: Vec<Binding>,
    /// Whose member is being written: what stands before the last dot.
    pub receiver: Option<Expr>,
    /// What ends at the cursor, where no member is being written: what a dot would be put behind.
    pub trailing: Option<Expr>,
}

/// What is in reach after `prefix`, which is all that stands before the cursor.
pub fn scope(language: Language, prefix: &str) -> Scope {
    let text = complete(language, prefix);
    let tree = parse_while_edited(language, &text);
    let outline = tree.outline(&text);
    let enclosing = enclosing(&outline, prefix.len());
    let expressions = Expressions::new(language.row().rules, Source { text: &text });
    let bindings = tree.bindings_before(expressions, &outline, prefix.len());
    let (receiver, trailing) = at_cursor(&tree, expressions, prefix.len());
    Scope { outline, enclosing, bindings, receiver, trailing }
}

impl Tree {
    /// The variables in reach at `offset` of the parsed `text`, whose outline is `outline`.
    pub fn bindings(&self, text: &str, outline: &Outline, offset: usize) -> Vec<Binding> {
        self.bindings_before(Expressions::new(self.language.row().rules, Source { text }), outline, offset)
    }

    fn bindings_before(
        &self,
        expressions: Expressions<'_>,
        outline: &Outline,
        offset: usize,
    ) -> Vec<Binding> {
        let rules = self.language.row().rules;
        let closed = closed_definitions(outline, offset);
        let is_in_reach = |node: Node<'_>| {
            node.start_byte() < offset
                && closed
                    .binary_search_by_key(&node.start_byte(), |range| range.start)
                    .map_or(true, |found| node.end_byte() > closed[found].end)
        };
        let mut found = Vec::new();
        let mut walk = Walk::new(self.root());
        while let Some(node) = walk.node() {
            let is_in_reach = is_in_reach(node);
            if is_in_reach {
                rules.bindings(node, expressions.at(&walk), &mut found);
            }
            walk.advance(is_in_reach);
        }
        found.sort_by_key(|binding| binding.start);
        found
    }
}

/// Positions of the definitions that hold `offset`, innermost first.
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

/// The ranges of what was defined and ended before `offset`, or begins after it, by their start: nothing bound in there is in reach.
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

/// `prefix` with a placeholder where a name could be, and with every bracket closed that is open in it.
fn complete(language: Language, prefix: &str) -> String {
    let is_in_name = prefix.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == '$');
    let placeholder = if is_in_name { "" } else { PLACEHOLDER };
    format!("{prefix}{placeholder}{}", closers(language, prefix))
}

/// A bracket that is open.
struct Bracket {
    /// What closes it.
    closer: u8,
    /// Whether it holds statements, as far as tokens tell: what stands in braces behind `new Type` are values.
    holds_statements: bool,
    /// Whether `new` stands before it in the same expression.
    follows_new: bool,
}

/// What closes the brackets that are open at the end of `prefix`.
fn closers(language: Language, prefix: &str) -> String {
    let mut open: Vec<Bracket> = Vec::new();
    let mut follows_new = false;
    for token in lex(language, prefix) {
        let written = &prefix[token.range];
        if token.kind == TokenKind::Word {
            follows_new |= written == "new" && is_reserved(language, written);
            continue;
        }
        // An operator such as `=>` holds no bracket; `[]` and its like may be one token.
        for sign in written.bytes().filter(|_| token.kind == TokenKind::Punctuation) {
            match sign {
                b'(' | b'[' | b'{' => {
                    let closer = if sign == b'(' { b')' } else { sign + 2 };
                    let holds_statements = sign == b'{' && !follows_new;
                    open.push(Bracket { closer, holds_statements, follows_new });
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
    let has_statement_ends = language.row().statement_end == ";";
    let mut closers = String::new();
    for bracket in open.iter().rev() {
        if bracket.holds_statements && has_statement_ends {
            closers.push(';');
        }
        closers.push(char::from(bracket.closer));
    }
    closers
}

/// What the name at `offset` is asked of, or else what ends there.
fn at_cursor(tree: &Tree, expressions: Expressions<'_>, offset: usize) -> (Option<Expr>, Option<Expr>) {
    let Some(start) = offset.checked_sub(1) else { return (None, None) };
    // The placeholder begins at the cursor; a name that is begun ends there.
    let end = offset + usize::from(expressions.source.text[offset..].starts_with(PLACEHOLDER));
    let at = if end > offset { offset..end } else { start..offset };
    let Some(leaf) = tree.root().descendant_for_byte_range(at.start, at.end) else { return (None, None) };
    let written = expressions.source.of(leaf);
    let mut around = leaf;
    for _ in 0..MAX_CLIMB {
        match expressions.of(around) {
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
    let trailing = if end > offset { None } else { expressions.of(leaf) };
    (None, trailing)
}

/// Nodes between a name and the access it is the member of.
const MAX_CLIMB: usize = 3;
