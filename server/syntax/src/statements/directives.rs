//! Lines for a preprocessor. They are part of no statement, and of several arms only one counts: each may open what the others open.

use super::Open;
use crate::{Family, Language, TokenKind};

/// Arms within arms that are followed; below that, brackets count as they come.
const MAX_ARMS: usize = 64;
/// Open brackets that are kept for other arms: each level of arms keeps its own, and a text can have many.
const MAX_KEPT: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Directives<'a> {
    state: State,
    /// What was open where the first arm began.
    arms: Vec<Vec<Open<'a>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// Behind the `#`.
    Named,
    /// In the rest of the line.
    Inside,
    /// Behind a backslash: the line goes on.
    Continued,
}

impl<'a> Directives<'a> {
    /// Whether a token that is next would be a part of such a line.
    pub(super) fn takes(&self, language: Language, written: &str, kind: TokenKind, newline: bool) -> bool {
        has_directives(language)
            && match self.state {
                State::Outside => newline && matches!(written, "#" | "##"),
                State::Inside | State::Named => kind != TokenKind::Newline,
                State::Continued => true,
            }
    }

    /// Takes in a token, and says whether it was a part of such a line.
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
