//! Converts tabs in a document indented with blanks, and blanks in a document indented with tabs.

use syntax::LanguageFamily;

use super::{AnswerLine, code_lines, reindent};
use crate::clean::CleaningContext;
use crate::extent::indentation;

/// Default width of a tab and of an indentation level, in blanks.
const TAB: usize = 4;
/// Candidate widths of a level.
const WIDTHS: [usize; 4] = [TAB, 2, 8, 3];
/// At most one in this many lines may be indented differently from the rest of the document.
const ODD_LINES: usize = 10;
/// Maximum length in bytes of the text examined on each side of the cursor.
const MAX_SHOWN: usize = 32 << 10;

/// Converts the indentation of an answer to the document's, if neither has lines indented in the other's way.
pub(super) fn adapt(answer: String, around: &CleaningContext<'_>) -> String {
    let lines = code_lines(&answer, around);
    let document = DocumentIndentation::new(around);
    let begins = |blank: char| lines.iter().any(|line| line.blanks.starts_with(blank));
    let has_tabs = lines.iter().any(|line| line.blanks.contains('\t'));
    if document.has_tabs && !document.has_blanks && begins(' ') && !has_tabs {
        let width = document.width(&lines, around, TAB);
        return reindent(&answer, |_, blanks| in_tabs(blanks, width));
    }
    // With tabs of four columns, fewer blanks stay blanks.
    let is_foreign = |line: &AnswerLine<'_>| line.blanks.starts_with('\t') || line.blanks.len() < TAB;
    if document.has_blanks && !document.has_tabs && begins('\t') && lines.iter().all(is_foreign) {
        let rest = lines.iter().map(|line| line.blanks.trim_start_matches('\t').len()).max().unwrap_or(0);
        let usual = if rest >= document.unit || rest > 0 && begins(' ') { TAB } else { document.unit };
        let width = document.width(&lines, around, usual);
        return reindent(&answer, |_, blanks| blanks.replace('\t', &" ".repeat(width)));
    }
    answer
}

fn in_tabs(blanks: &str, width: usize) -> String {
    if blanks.contains('\t') {
        return blanks.to_owned();
    }
    format!("{}{}", "\t".repeat(blanks.len() / width), " ".repeat(blanks.len() % width))
}

/// The document's indentation.
struct DocumentIndentation {
    has_tabs: bool,
    has_blanks: bool,
    /// Blanks of one level.
    unit: usize,
}

impl DocumentIndentation {
    fn new(around: &CleaningContext<'_>) -> DocumentIndentation {
        let before = around.before.text();
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(MAX_SHOWN))..];
        let after = &around.suffix[..around.suffix.floor_char_boundary(MAX_SHOWN)];
        let lines = || {
            [before, after]
                .into_iter()
                .flat_map(str::lines)
                .filter(|line| !line.trim().is_empty() && !around.language.is_comment_line(line))
                .map(indentation)
        };
        let count = |begin: &str| lines().filter(|line| line.starts_with(begin)).count();
        let (tabs, blanks) = (count("\t"), count("  "));
        let own = indentation(around.before.line());
        // A few lines with other indentation do not count, except the cursor's own line.
        let has = |own_way: bool, lines: usize, others: usize| own_way || lines * ODD_LINES > others;
        // Go's formatter uses only tabs.
        let is_go = around.language.family() == LanguageFamily::Go;
        DocumentIndentation {
            has_tabs: is_go || has(own.starts_with('\t'), tabs, blanks),
            has_blanks: !is_go && has(own.starts_with("  "), blanks, tabs),
            unit: unit(lines().filter(|line| line.starts_with("  ")).map(str::len)),
        }
    }

    /// Returns the width of a tab in the answer: the one that puts its outermost closing bracket on the cursor's level, or `usual`
    /// without such evidence.
    fn width(&self, lines: &[AnswerLine<'_>], around: &CleaningContext<'_>, usual: usize) -> usize {
        // The answer may close brackets that the cursor's statement opened.
        let statement = around.before.statement_indentation();
        let line = indentation(around.before.line());
        let own = if statement.len() < line.len() { statement } else { line };
        let least = |width: usize| {
            let columns = |blanks: &str| {
                let tabs = blanks.matches('\t').count();
                blanks.len() - tabs + tabs * width
            };
            let closers = lines.iter().filter(|line| line.closes()).map(|line| columns(line.blanks));
            (closers.min(), columns(own))
        };
        // A closing bracket cannot be further out than the cursor.
        let is_possible =
            |width: usize| matches!(least(width), (least, own) if least.is_none_or(|least| least >= own));
        if around.language.family().is_indented() || is_possible(usual) {
            return usual;
        }
        WIDTHS
            .into_iter()
            .find(|width| matches!(least(*width), (Some(least), own) if least == own))
            .unwrap_or(usual)
    }
}

/// Returns the blanks of one level: the largest number that divides nearly all columns. Continuation lines are indented by several
/// levels.
fn unit(columns: impl Iterator<Item = usize> + Clone) -> usize {
    let all = columns.clone().count();
    [8, TAB, 3, 2]
        .into_iter()
        .find(|unit| {
            let odd = columns.clone().filter(|column| column % unit != 0).count();
            odd * ODD_LINES <= all
        })
        .filter(|_| all > 0)
        .unwrap_or(TAB)
}
