//! Knowledge about programming languages: blocks, functions, tokens and statement ends.
//!
//! The only crate with language-specific code. Parsing never fails: broken code gives a less complete tree. A language is one
//! folder of queries plus one row of the table in `language.rs`; no other code checks for a particular language. `queries.rs`
//! documents the captures of the queries.
//!
//! ```text
//! text -> parse -> Tree -> structure query -> constructs -> blocks, functions, statement ends
//!                      |                   \-> comments
//!                      \-> token query -> identifiers, strings
//! ```
//!
//! All ranges are half-open UTF-8 byte ranges of the parsed text. No IO here.
#![deny(clippy::disallowed_methods)]

mod blocks;
mod body;
mod bounded_parse;
mod compact_signature;
mod constructs;
mod declarations;
mod declared_functions;
mod expr;
mod fragments;
mod functions;
mod jumps;
mod language;
mod language_family;
mod language_rules;
mod languages;
mod lexer;
mod locals;
mod mentions;
mod module_resolution;
mod names;
mod node_fields;
mod outline;
mod preprocessor;
mod queries;
mod scope;
mod statement_reader;
mod syntax_cache;
mod test_code;
mod tokens;
mod tree;
mod uses;
mod walk;

pub use blocks::{Block, BlockKind};
pub use body::Body;
pub use bounded_parse::{ParseCounts, parse_counts};
pub use compact_signature::ELLIPSIS;
pub use declarations::{Declarations, parse_declarations};
pub use declared_functions::{DeclaredFunction, may_have_comments};
pub use expr::Expr;
pub use functions::Function;
pub use jumps::is_jump;
pub use language::{Language, Manifest, SourceFile};
pub use language_family::LanguageFamily;
pub use lexer::{
    LexedPrefix, LexedText, Token, TokenKind, has_syntactic_meaning, header_comments_end, is_reserved, lex,
    lexed_bytes, multiline_tokens, multiline_tokens_before,
};
pub use mentions::{Mention, mentions};
pub use module_resolution::{ModuleLocation, ModuleTarget, Projects};
pub use names::{NameMentions, NamesOfLines, names};
pub use outline::{Definition, DefinitionKind, Extension, Import, ImportedItem, Outline, Parameter};
pub use preprocessor::ConditionalGroups;
pub use scope::{Binding, Scope, enclosing, scope};
pub use statement_reader::{BracketContent, OpenBracket, StatementReader};
pub use syntax_cache::SyntaxCache;
pub use tree::{Tree, parse};
pub use uses::{NameUse, UseKind};
