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
mod bounded;
mod compact;
mod constructs;
mod expr;
mod family;
mod functions;
mod jumps;
mod language;
mod languages;
mod lexer;
mod locals;
mod mentions;
mod modules;
mod outline;
mod pieces;
mod preprocessor;
mod queries;
mod rules;
mod scope;
mod statements;
mod tokens;
mod tree;
mod uses;
mod walk;

pub use blocks::{Block, BlockKind};
pub use body::Body;
pub use compact::CUT_OFF;
pub use expr::Expr;
pub use family::Family;
pub use functions::Function;
pub use jumps::is_jump;
pub use language::{Language, Manifest, SourceFile};
pub use lexer::{Token, TokenKind, header, is_reserved, lex, spanning};
pub use mentions::{Mention, mentions};
pub use modules::{Place, Projects, Target};
pub use outline::{Definition, DefinitionKind, Extension, Import, Imported, Outline, Parameter};
pub use preprocessor::Conditionals;
pub use scope::{Binding, Scope, enclosing, scope};
pub use statements::{Holds, Open, Reader};
pub use tree::{Tree, parse};
pub use uses::{Use, UseKind};
