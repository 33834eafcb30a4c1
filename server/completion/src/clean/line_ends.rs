//! Writes line ends as the document does.

use super::Surroundings;

pub(super) fn adapt(answer: String, around: &Surroundings<'_>) -> String {
    let is_plain = !answer.contains('\r');
    match around.has_crlf() {
        false if is_plain => answer,
        false => answer.replace("\r\n", "\n"),
        true => answer.replace("\r\n", "\n").replace('\n', "\r\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn line_ends_are_those_of_the_document() {
        check("a.py", "x = 1\r\n$0", "y = 2\nz = 3", "y = 2\r\nz = 3");
        check("a.py", "x = 1\r\n$0", "y = 2\r\nz = 3", "y = 2\r\nz = 3");
        check("a.py", "x = 1\n$0", "y = 2\r\nz = 3", "y = 2\nz = 3");
    }
}
