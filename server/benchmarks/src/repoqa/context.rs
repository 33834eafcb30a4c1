//! The long context in which a function is to be found: the repository's files in dependency order, cut so that the function is at
//! the wanted position.
//!
//! ```text
//! previous files -> prefix, from the function upwards | function | suffix, from the function downwards <- following files
//! ```
//!
//! Parts are counted separately and joined directly: all lines of the prefix end with a line feed, so the function begins a line.

mod cleaning;

use std::borrow::Cow;
use std::ops::Range;

use syntax::Language;

use crate::ScoringRules;
pub use cleaning::CommentCleaning;

/// Line that marks the cut end of a file.
const CUT: &str = "...";

/// A context to build.
#[derive(Clone, Copy, Debug)]
pub struct ContextRequest<'a> {
    /// Language of all files.
    pub language: Language,
    /// Paths and texts, in dependency order.
    pub files: &'a [(&'a str, &'a str)],
    /// Index of the file with the function.
    pub file: usize,
    /// Start of the function in its file, in bytes.
    pub start: usize,
    /// End of the function, in bytes.
    pub end: usize,
    /// Wanted size in tokens.
    pub size: usize,
    /// Wanted position of the function's middle, from 0 to 1.
    pub position: f64,
    /// Whether comments are removed.
    pub cleaning: CommentCleaning,
}

/// A finished context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindContext {
    /// The text.
    pub text: String,
    /// Tokens before the function.
    pub prefix_tokens: usize,
    /// Tokens of the function.
    pub needle_tokens: usize,
    /// Tokens after the function.
    pub suffix_tokens: usize,
    /// Bytes of the function in the text.
    pub needle_bytes: Range<usize>,
}

impl FindContext {
    /// Returns the text before the function, the function, and the text after it.
    pub fn parts(&self) -> (&str, &str, &str) {
        let Range { start, end } = self.needle_bytes;
        (&self.text[..start], &self.text[start..end], &self.text[end..])
    }
}

/// Builds a context; `count` returns the tokens of a text. `None` if the function is not in the files.
///
/// [`ScoringRules::Faithful`] uses the offsets in bytes as offsets in characters, which cuts a wrong function where other than ASCII
/// characters precede it, and with cleaning drops most of the suffix.
pub fn build_context(
    request: &ContextRequest<'_>,
    count: &dyn Fn(&str) -> usize,
    rules: ScoringRules,
) -> Option<FindContext> {
    let parts = ContextParts::cut(request, count, rules)?;
    Some(cleaning::clean(request, parts, count, rules))
}

/// The parts of a context with the files that each side reaches into.
#[derive(Clone, Debug)]
pub(super) struct ContextParts {
    prefix: String,
    needle: String,
    suffix: String,
    /// First file of the prefix.
    first_file: usize,
    /// Last file of the suffix.
    last_file: usize,
}

impl ContextParts {
    fn cut(
        request: &ContextRequest<'_>,
        count: &dyn Fn(&str) -> usize,
        rules: ScoringRules,
    ) -> Option<ContextParts> {
        let &(_, text) = request.files.get(request.file)?;
        let (start, end) = match rules {
            ScoringRules::Paper => (request.start, request.end),
            ScoringRules::Faithful => (char_offset(text, request.start), char_offset(text, request.end)),
        };
        let (before, needle, after) = (text.get(..start)?, text.get(start..end)?, text.get(end..)?);
        let needle_tokens = count(needle) as f64;
        // Truncation towards zero, as the original converts to an integer.
        let prefix_budget = (request.size as f64 * request.position - needle_tokens / 2.0) as i64;
        let size = i64::try_from(request.size).unwrap_or(i64::MAX);
        let suffix_budget = size.saturating_sub(needle_tokens as i64).saturating_sub(prefix_budget);
        let (prefix, first_file) = SideBuilder::new(request, count, prefix_budget).prefix(before);
        let (suffix, last_file) = SideBuilder::new(request, count, suffix_budget).suffix(after);
        Some(ContextParts { prefix, needle: needle.to_owned(), suffix, first_file, last_file })
    }
}

/// Returns the offset in bytes of the character with this index; the end if there are fewer.
fn char_offset(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(offset, _)| offset)
}

/// Returns the comment with the path of a file.
fn path_comment(language: Language, path: &str) -> String {
    format!("{} Path: {path}", language.line_comment())
}

/// Fills one side of the context.
struct SideBuilder<'a> {
    request: &'a ContextRequest<'a>,
    count: &'a dyn Fn(&str) -> usize,
    /// Tokens left; the mark of a cut may make it negative.
    budget: i64,
    is_cut: bool,
}

impl<'a> SideBuilder<'a> {
    fn new(
        request: &'a ContextRequest<'a>,
        count: &'a dyn Fn(&str) -> usize,
        budget: i64,
    ) -> SideBuilder<'a> {
        SideBuilder { request, count, budget, is_cut: false }
    }

    /// Returns the text before the function and its first file.
    fn prefix(mut self, before: &str) -> (String, usize) {
        let mut first = self.request.file;
        let comment = self.comment_of(first);
        let mut kept = Vec::new();
        let mut lines = std::iter::once(Cow::Borrowed(comment.as_str())).chain(fed_lines(before)).rev();
        self.is_cut = loop {
            match lines.next() {
                Some(line) if self.takes(&line) => kept.push(line),
                rest => break rest.is_some(),
            }
        };
        kept.reverse();
        let mut pieces = vec![kept.concat()];
        while !self.is_cut && self.budget > 0 && first > 0 {
            first -= 1;
            pieces.push(self.file_from_top(first));
        }
        pieces.reverse();
        (pieces.concat(), first)
    }

    /// Returns the text after the function and its last file.
    fn suffix(mut self, after: &str) -> (String, usize) {
        let mut last = self.request.file;
        let mut text = self.lines_from_top(fed_lines(after));
        while !self.is_cut && self.budget > 0 && last + 1 < self.request.files.len() {
            last += 1;
            text.push_str(&self.file_from_top(last));
        }
        (text, last)
    }

    fn file_from_top(&mut self, file: usize) -> String {
        let comment = self.comment_of(file);
        let text = self.request.files[file].1;
        self.lines_from_top(std::iter::once(Cow::Borrowed(comment.as_str())).chain(fed_lines(text)))
    }

    /// Returns the first of `lines` that fit, with a mark if not all do.
    fn lines_from_top<'l>(&mut self, lines: impl Iterator<Item = Cow<'l, str>>) -> String {
        let mut text = String::new();
        for line in lines {
            if !self.takes(&line) {
                self.is_cut = true;
                text.push_str(CUT);
                text.push('\n');
                self.budget = self.budget.saturating_sub((self.count)("...\n") as i64);
                break;
            }
            text.push_str(&line);
        }
        text
    }

    /// Takes the tokens of a line, which ends with a line feed, from the budget if they fit.
    fn takes(&mut self, line: &str) -> bool {
        let tokens = (self.count)(line) as i64;
        let fits = tokens <= self.budget;
        if fits {
            self.budget -= tokens;
        }
        fits
    }

    /// Returns the comment with a file's path, with a line feed.
    fn comment_of(&self, file: usize) -> String {
        path_comment(self.request.language, self.request.files[file].0) + "\n"
    }
}

/// Returns the lines of a text with their line feeds; the rest after the last one, which may be empty, gets one.
fn fed_lines(text: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
    let (whole, rest) = text.split_at(text.rfind('\n').map_or(0, |feed| feed + 1));
    whole.split_inclusive('\n').map(Cow::Borrowed).chain(std::iter::once(Cow::Owned(format!("{rest}\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 3] =
        [("a.py", "a = 1\n"), ("b.py", "é\ndef f(): # x\n  pass\nb = 2\n"), ("c.py", "c = 3")];

    fn request(size: usize, cleaning: CommentCleaning) -> ContextRequest<'static> {
        let start = FILES[1].1.find("def").expect("a function");
        let end = start + "def f(): # x\n  pass".len();
        let language = Language::Python;
        ContextRequest { language, files: &FILES, file: 1, start, end, size, position: 0.5, cleaning }
    }

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn text(size: usize, cleaning: CommentCleaning) -> String {
        build_context(&request(size, cleaning), &words, ScoringRules::Paper).expect("a context").text
    }

    #[test]
    fn files_around_the_function_fill_the_size() {
        let whole =
            "# Path: a.py\na = 1\n\n# Path: b.py\né\n\ndef f(): # x\n  pass\nb = 2\n\n# Path: c.py\nc = 3\n";
        assert_eq!(text(1000, CommentCleaning::Keep), whole);
        assert_eq!(text(1 << 40, CommentCleaning::Keep), whole);
        assert_eq!(text(5, CommentCleaning::Keep), "\ndef f(): # x\n  pass\n...\n");
        assert_eq!(text(0, CommentCleaning::Keep), "def f(): # x\n  pass...\n");
    }

    #[test]
    fn comments_are_removed_but_paths_stay() {
        let cleaned =
            "# Path: a.py\na = 1\n\n# Path: b.py\né\n\ndef f(): \n  pass\nb = 2\n\n# Path: c.py\nc = 3\n";
        assert_eq!(text(1000, CommentCleaning::Remove), cleaned);
    }

    #[test]
    fn offsets_outside_of_the_file_have_no_context() {
        let far = ContextRequest { end: 999, ..request(10, CommentCleaning::Keep) };
        assert_eq!(build_context(&far, &words, ScoringRules::Paper), None);
        let no_file = ContextRequest { file: 9, ..request(10, CommentCleaning::Keep) };
        assert_eq!(build_context(&no_file, &words, ScoringRules::Faithful), None);
        let inside_of_a_character = ContextRequest { start: 1, ..request(10, CommentCleaning::Keep) };
        assert_eq!(build_context(&inside_of_a_character, &words, ScoringRules::Paper), None);
    }

    #[test]
    fn tokenizers_without_tokens_end_the_padding() {
        let request = request(10, CommentCleaning::PadPosition);
        assert!(build_context(&request, &|_| 0, ScoringRules::Paper).is_some());
    }
}
