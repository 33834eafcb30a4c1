//! The functions of a file that can be asked for.

use std::ops::Range;

use syntax::Language;

use super::comments::comment_ranges;

/// A function of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFunction {
    /// Its name.
    pub name: String,
    /// Lines, 0-based.
    pub lines: Range<usize>,
    /// Bytes in the file.
    pub bytes: Range<usize>,
    /// Bytes of comments and docstrings over all bytes. The original's name, `code_ratio`, says the opposite.
    pub comment_ratio: f64,
}

/// Returns the functions of a file in order of their start, outer before inner.
pub fn file_functions(language: Language, text: &str) -> Vec<FileFunction> {
    let tree = syntax::parse(language, text);
    let comments = comment_ranges(&tree, text);
    let mut lines = LineCounter { text, offset: 0, line: 0 };
    let functions = tree.declared_functions().map(|function| {
        let start_line = lines.line_at(function.range.start);
        let feeds = text[function.range.clone()].bytes().filter(|&byte| byte == b'\n').count();
        FileFunction {
            name: text[function.name].to_owned(),
            lines: start_line..start_line + feeds + 1,
            comment_ratio: comment_bytes(&comments, &function.range) as f64 / function.range.len() as f64,
            bytes: function.range,
        }
    });
    functions.collect()
}

/// Returns the bytes of the comments inside of `range`.
fn comment_bytes(comments: &[Range<usize>], range: &Range<usize>) -> usize {
    let first = comments.partition_point(|comment| comment.start < range.start);
    comments[first..].iter().take_while(|comment| comment.end <= range.end).map(Range::len).sum()
}

/// Counts line feeds up to offsets that never decrease.
struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line_at(&mut self, offset: usize) -> usize {
        let between = self.text[self.offset..offset].bytes();
        self.line += between.filter(|&byte| byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_lines_bytes_and_share_of_comments() {
        let text = "\ndef f():\n    # one\n    return 1\n";
        let expected = FileFunction {
            name: "f".to_owned(),
            lines: 1..4,
            bytes: 1..text.len() - 1,
            comment_ratio: 5.0 / (text.len() - 2) as f64,
        };
        assert_eq!(file_functions(Language::Python, text), [expected]);
    }
}
