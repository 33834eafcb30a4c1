//! Reasons to reject holes; the number of rejected holes is reported for each.
//!
//! Most are rejected because no engine's answer could count as right, however it is cut; the others because they would
//! measure something other than completion at a cursor.

use std::collections::BTreeMap;
use std::fmt;

use cases::{BlockCut, BodyCut, Case, CompletionTask, Scenario, Task};
use syntax::{BracketContent, Language, StatementReader, TokenKind};
use text::is_invisible;

/// Reason to reject a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnanswerableReason {
    /// Without the truth, the text before and after the cursor is one word.
    InsideWord,
    /// Nothing marks the end of an indented block of several statements, and its head is not directly before the cursor.
    NoEnd,
    /// The truth closes a block around the cursor, while the cursor suggests a statement in that block.
    OuterStatement,
    /// The truth ends among the statements of a block that it opens; it could equally end with the block's head.
    PartOfBlock,
    /// The truth is also the text that follows: an engine may have repeated that.
    Repeated,
    /// Only the truth is indented by tabs, or only the rest of the file is.
    OtherIndentation,
    /// Without the truth, some choice of `#if` arms would have unbalanced brackets.
    AcrossArms,
    /// The hole begins or ends inside an escape, a character reference or a grapheme cluster.
    InsideSign,
    /// A line of the truth would not clearly belong to the body: it follows a label, the body is not indented, or the line is
    /// indented deeper than the body.
    NotAligned,
    /// The statement that uses a name from another file ends inside a line.
    MidLine,
    /// The code that uses a name from another file ends its line with the `{` of a type or literal.
    OpenBrace,
    /// Too few lines with code are before a name from another file, by CrossCodeEval's rule.
    FewLines,
    /// The truth with a name from another file has other than 3 to 30 tokens.
    TruthLength,
    /// The truth with a name from another file occurs in another file.
    InOtherFile,
    /// The judge answers the question about a name from another file without that file.
    KnownFromFile,
    /// Another question about a name from another file has the same truth.
    SameTruth,
    /// The rest of the file is missing, and there is hardly any code before the cursor.
    NoBeginning,
    /// The rest of the block is missing, and nothing shows the expected extent.
    UnclearEnd,
    /// The rest of the file or function is missing, and the cursor is between the items of a list, which may have more of them.
    OpenList,
    /// A case from another file has the same text before and after the cursor.
    AskedElsewhere,
    /// The suite already has its share of imports, and there were no other holes.
    ImportShare,
    /// The truth contains characters that are never inserted: control characters, bidirectional marks, zero-width characters.
    Invisible,
}

impl UnanswerableReason {
    /// Returns the name of the reason in JSON.
    pub fn name(self) -> &'static str {
        match self {
            UnanswerableReason::InsideWord => "inside_word",
            UnanswerableReason::NoEnd => "no_end",
            UnanswerableReason::OuterStatement => "outer_statement",
            UnanswerableReason::PartOfBlock => "part_of_block",
            UnanswerableReason::Repeated => "repeated",
            UnanswerableReason::OtherIndentation => "other_indentation",
            UnanswerableReason::AcrossArms => "across_arms",
            UnanswerableReason::InsideSign => "inside_sign",
            UnanswerableReason::NotAligned => "not_aligned",
            UnanswerableReason::MidLine => "mid_line",
            UnanswerableReason::OpenBrace => "open_brace",
            UnanswerableReason::FewLines => "few_lines",
            UnanswerableReason::TruthLength => "truth_length",
            UnanswerableReason::InOtherFile => "in_other_file",
            UnanswerableReason::KnownFromFile => "known_from_file",
            UnanswerableReason::SameTruth => "same_truth",
            UnanswerableReason::NoBeginning => "no_beginning",
            UnanswerableReason::UnclearEnd => "unclear_end",
            UnanswerableReason::OpenList => "open_list",
            UnanswerableReason::AskedElsewhere => "asked_elsewhere",
            UnanswerableReason::ImportShare => "import_share",
            UnanswerableReason::Invisible => "invisible",
        }
    }
}

/// Number of rejected holes by reason.
pub type LeftOut = BTreeMap<UnanswerableReason, usize>;

impl fmt::Display for UnanswerableReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnanswerableReason::InsideWord => "without its truth the cursor is inside a word",
            UnanswerableReason::NoEnd => "the end of its block is unclear",
            UnanswerableReason::OuterStatement => "its truth closes a block around the cursor",
            UnanswerableReason::PartOfBlock => "its truth ends inside of a block that it opens",
            UnanswerableReason::Repeated => "its truth is repeated after the cursor",
            UnanswerableReason::OtherIndentation => "its truth alone is indented by tabs, or by blanks",
            UnanswerableReason::AcrossArms => "it is a part of alternative #if arms",
            UnanswerableReason::InsideSign => "it begins or ends inside an escape or a character",
            UnanswerableReason::NotAligned => "a new line there would not belong to the body",
            UnanswerableReason::MidLine => "its statement ends in the middle of a line",
            UnanswerableReason::OpenBrace => "its line ends with the `{` of a type or literal",
            UnanswerableReason::FewLines => "too few lines before a name from another file",
            UnanswerableReason::TruthLength => {
                "its truth with a name from another file has other than 3 to 30 tokens"
            }
            UnanswerableReason::InOtherFile => {
                "its truth with a name from another file occurs in another file"
            }
            UnanswerableReason::KnownFromFile => "its own file is enough to answer it",
            UnanswerableReason::SameTruth => "another case about a name from another file has the same truth",
            UnanswerableReason::NoBeginning => "too little code before the cursor, and none after it",
            UnanswerableReason::UnclearEnd => "the expected extent is unclear",
            UnanswerableReason::OpenList => "it is an item of a list that may have more of them",
            UnanswerableReason::AskedElsewhere => "another file has the same text around the cursor",
            UnanswerableReason::ImportShare => "the suite has its share of imports",
            UnanswerableReason::Invisible => "its truth contains invisible characters",
        })
    }
}

/// Returns the reason why a right answer to `case` could not be shown.
pub(crate) fn unanswerable_reason(case: &Case) -> Option<UnanswerableReason> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let language = Language::from_name(&case.language);
    let is_indented = language.is_some_and(|language| !language.has_brace_blocks());
    let truth = case.truth.trim();
    let follows = case.suffix.trim_start();
    let checks = [
        (UnanswerableReason::InsideWord, case.prefix.ends_with(is_word) && case.suffix.starts_with(is_word)),
        (
            UnanswerableReason::NoEnd,
            is_indented && is_rest_of_body(case) && follows.is_empty() && truth.contains('\n'),
        ),
        (
            UnanswerableReason::Repeated,
            !truth.is_empty() && follows.starts_with(truth) && case.suffix.starts_with(['\r', '\n']),
        ),
        (UnanswerableReason::OtherIndentation, is_indented_alone(case)),
        (UnanswerableReason::Invisible, case.truth.contains(is_invisible)),
    ];
    checks.into_iter().find_map(|(obstacle, is_there)| is_there.then_some(obstacle)).or_else(|| {
        language.filter(|language| language.has_brace_blocks()).and_then(|language| blocks(language, case))
    })
}

/// Whether the truth is the rest of a body whose head is not directly before the cursor.
fn is_rest_of_body(case: &Case) -> bool {
    let cut = case.tags.get("cut").map(String::as_str);
    match case.task {
        Task::Complete(CompletionTask::InnerBlock(BodyCut::RestOfBlock)) => true,
        Task::Complete(CompletionTask::FullBlock(BlockCut::HeaderEnd)) => !ends_with_head(case),
        _ => cut == Some("header_end") && !ends_with_head(case),
    }
}

fn ends_with_head(case: &Case) -> bool {
    let Some(language) = Language::from_name(&case.language) else { return false };
    let tokens = syntax::lex(language, &case.prefix);
    let last = tokens.iter().rfind(|token| token.kind != TokenKind::Newline);
    last.is_some_and(|last| &case.prefix[last.range.clone()] == ":")
}

/// Returns the reason why the brackets in the truth do not determine its end.
fn blocks(language: Language, case: &Case) -> Option<UnanswerableReason> {
    let text = [&*case.prefix, &*case.truth].concat();
    let tokens = syntax::lex(language, &text);
    let (known, truth) =
        tokens.split_at(tokens.partition_point(|token| token.range.start < case.prefix.len()));
    let mut reader = StatementReader::new(language);
    known.iter().for_each(|token| reader.read(&text, token, 0));
    let (depth, blocks) = (reader.open().len(), reader.block_depth());
    let is_item = reader.open().last().is_some_and(|open| open.content != BracketContent::Block);
    for token in truth {
        reader.read(&text, token, 0);
        if reader.open().len() < blocks {
            return Some(UnanswerableReason::OuterStatement);
        }
    }
    let last = truth.iter().rfind(|token| token.kind != TokenKind::Newline)?;
    let is_tail_missing = case.scenario() == Scenario::IncompleteSuffix;
    // The other cuts are in a statement or in a block's body.
    let is_whole_item = case.tags.get("cut").is_some_and(|cut| cut == BlockCut::BlockStart.name());
    if is_item && is_tail_missing && is_whole_item && reader.open().len() >= depth {
        return Some(UnanswerableReason::OpenList);
    }
    let opened = reader.open().get(depth..)?.iter().find(|open| open.content == BracketContent::Block)?;
    (opened.start < last.range.start).then_some(UnanswerableReason::PartOfBlock)
}

fn is_indented_alone(case: &Case) -> bool {
    let begins = |text: &str, blank: &str| text.split('\n').skip(1).any(|line| line.starts_with(blank));
    let around = |blank| begins(&case.prefix, blank) || begins(&case.suffix, blank);
    let only =
        |own, other| begins(&case.truth, own) && !begins(&case.truth, other) && !around(own) && around(other);
    only("\t", "  ") || only("  ", "\t")
}
