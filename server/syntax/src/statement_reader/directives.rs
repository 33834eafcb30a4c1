//! Preprocessor lines. They are part of no statement, and only one of several arms counts: each may open the brackets of the
//! others.

use super::OpenBracket;
use crate::{Language, LanguageFamily, TokenKind};

/// Maximum nesting of arms that is tracked; at deeper levels, brackets are counted in source order.
const MAX_ARMS: usize = 64;
/// Maximum number of open brackets saved for other arms: each level of arms saves its own, and a text can have many.
const MAX_KEPT: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Directives<'a> {
    state: DirectiveState,
    /// Open brackets at the start of the first arm.
    arms: Vec<Vec<OpenBracket<'a>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DirectiveState {
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
    pub(super) fn accepts(&self, language: Language, written: &str, kind: TokenKind, newline: bool) -> bool {
        has_directives(language)
            && match self.state {
                DirectiveState::Outside => newline && matches!(written, "#" | "##"),
                DirectiveState::Inside | DirectiveState::Named => kind != TokenKind::Newline,
                DirectiveState::Continued => true,
            }
    }

    /// Reads a token, and returns whether it was part of a preprocessor line.
    pub(super) fn read(
        &mut self,
        language: Language,
        written: &'a str,
        kind: TokenKind,
        newline: bool,
        open: &mut Vec<OpenBracket<'a>>,
    ) -> bool {
        if !self.accepts(language, written, kind, newline) {
            self.state = DirectiveState::Outside;
            return false;
        }
        self.state = match self.state {
            DirectiveState::Outside => DirectiveState::Named,
            DirectiveState::Named => {
                self.switch_arm(written, open);
                DirectiveState::Inside
            }
            _ if written == "\\" => DirectiveState::Continued,
            _ => DirectiveState::Inside,
        };
        true
    }

    fn switch_arm(&mut self, name: &str, open: &mut Vec<OpenBracket<'a>>) {
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
    matches!(language.family(), LanguageFamily::C | LanguageFamily::CSharp)
}
