//! Preprocessor lines. They are part of no statement, and only one of several arms counts: each may open the brackets of the
//! others.

use super::Open;
use crate::{Family, Language, TokenKind};

/// Maximum nesting of arms that is tracked; at deeper levels, brackets are counted in source order.
const MAX_ARMS: usize = 64;
/// Maximum number of open brackets saved for other arms: each level of arms saves its own, and a text can have many.
const MAX_KEPT: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Directives<'a> {
    state: State,
    /// Open brackets at the start of the first arm.
    arms: Vec<Vec<Open<'a>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// After the `#`.
    Named,
    /// In the rest of the line.
    Inside,
    /// After a backslash: the line continues.
    Continued,
}

impl<'a> Directives<'a> {
    /// Whether the next token would be part of a preprocessor line.
    pub(super) fn takes(&self, language: Language, written: &str, kind: TokenKind, newline: bool) -> bool {
        has_directives(language)
            && match self.state {
                State::Outside => newline && matches!(written, "#" | "##"),
                State::Inside | State::Named => kind != TokenKind::Newline,
                State::Continued => true,
            }
    }

    /// Reads a token, and returns whether it was part of a preprocessor line.
    pub(super) fn read(
        &mut self,
        language: Language,
        written: &'a str,
        kind: TokenKind,
        newline: bool,
        open: &mut Vec<Open<'a>>,
    ) -> bool {
        if !self.takes(language, written, kind, newline) {
            self.state = State::Outside;
            return false;
        }
        self.state = match self.state {
            State::Outside => State::Named,
            State::Named => {
                self.switch(written, open);
                State::Inside
            }
            _ if written == "\\" => State::Continued,
            _ => State::Inside,
        };
        true
    }

    fn switch(&mut self, name: &str, open: &mut Vec<Open<'a>>) {
        match name {
            "if" | "ifdef" | "ifndef" if self.arms.len() < MAX_ARMS && open.len() <= MAX_KEPT => {
                self.arms.push(open.clone());
            }
            "else" | "elif" => {
                if let Some(kept) = self.arms.last() {
                    open.clone_from(kept);
                }
            }
            "endif" => {
                self.arms.pop();
            }
            _ => {}
        }
    }
}

fn has_directives(language: Language) -> bool {
    matches!(language.family(), Family::C | Family::CSharp)
}
