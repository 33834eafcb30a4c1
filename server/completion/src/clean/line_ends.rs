//! Converts line ends to the document's.

use super::CleaningContext;

/// Keeps an answer with both kinds: it was copied from a document with both.
pub(super) fn adapt(answer: String, around: &CleaningContext<'_>) -> String {
    let crlf = answer.matches("\r\n").count();
    let is_mixed = crlf > 0 && crlf < answer.matches('\n').count();
    match around.has_crlf() {
        _ if is_mixed => answer,
        false if crlf == 0 => answer,
        false => answer.replace("\r\n", "\n"),
        true if crlf > 0 => answer,
        true => answer.replace('\n', "\r\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn line_endings_match_the_document() {
        check("a.py", "x = 1\r\n$0", "y = [\n2]", "y = [\r\n2]");
        check("a.py", "x = 1\r\n$0", "y = [\r\n2]", "y = [\r\n2]");
        check("a.py", "x = 1\n$0", "y = [\r\n2]", "y = [\n2]");
    }
}
