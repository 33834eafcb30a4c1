//! A macro without parameters on one line, read without the parser.

use std::ops::Range;

use crate::outline::{Definition, DefinitionKind, SourceText, signature_line};

/// Blanks in a directive.
const BLANKS: [char; 2] = [' ', '\t'];

/// The line of a macro definition such as `#define SIDES 4`.
pub(crate) struct OneLineMacro {
    /// From the sign to the end of the line, its line end included, as in the parser's node.
    pub(crate) range: Range<usize>,
    /// The name.
    pub(crate) name: Range<usize>,
    /// Whether there is a value.
    pub(crate) has_value: bool,
}

impl OneLineMacro {
    /// Reads the directive at `sign`; `None` if it needs the parser: another directive, or a macro with parameters, a comment or more than
    /// one line.
    pub(super) fn at(text: &str, sign: usize) -> Option<OneLineMacro> {
        let (line, _) = text[sign..].split_once('\n')?;
        if line.contains(['/', '\\']) {
            return None;
        }
        let behind_word = line[1..].trim_start_matches(BLANKS).strip_prefix("define")?;
        let named = behind_word.strip_prefix(BLANKS)?.trim_start_matches(BLANKS);
        let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let (name, value) = named.split_at(named.bytes().take_while(|byte| is_in_name(byte)).count());
        let is_name = !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit());
        let is_apart = value.is_empty() || value.starts_with([' ', '\t', '\r']);
        let start = sign + line.len() - named.len();
        (is_name && is_apart).then(|| OneLineMacro {
            range: sign..sign + line.len() + 1,
            name: start..start + name.len(),
            has_value: !value.trim_ascii().is_empty(),
        })
    }

    /// Returns its definition in the outline, given the number of its line; `None` without a value, as it is then only a flag.
    pub(crate) fn definition(&self, source: SourceText<'_>, line: u32) -> Option<Definition> {
        let OneLineMacro { range, name, has_value } = self;
        has_value.then(|| Definition {
            line,
            range: range.start as u32..range.end as u32,
            signature: signature_line(&source.text[range.clone()]),
            doc: source.doc_above(range.start),
            ..Definition::new(&source.text[name.clone()], DefinitionKind::Constant)
        })
    }
}
