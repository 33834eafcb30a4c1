//! Formats the retrieved chunks as text before a prompt.

use std::fmt::Write as _;

use syntax::Language;
use text::python;

use super::ChunkHit;

/// Returns the first line above the chunks, and a blank one.
pub(super) fn head(sign: &str) -> String {
    format!("{sign} Here are some relevant code fragments from other files of the repo:\n\n")
}

/// Returns the chunks as commented lines, each under its file's name: the benchmark's field `text`. Empty without chunks.
pub fn context_text(language: Language, hits: &[ChunkHit]) -> String {
    if hits.is_empty() {
        return String::new();
    }
    let sign = language.line_comment();
    let mut text = head(sign);
    for hit in hits {
        write_chunk(&mut text, sign, hit);
    }
    text
}

fn write_chunk(text: &mut String, sign: &str, hit: &ChunkHit) {
    let head = ["the below code fragment can be found in:", &*hit.reported_path];
    for line in head.into_iter().chain(python::split_lines(hit.text().trim_matches('\n'))) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{sign} {line}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;

    use super::*;
    use crate::cceval::FileChunks;

    #[test]
    fn chunks_are_comments_below_their_file_names() {
        let file = Arc::new(FileChunks::new("lib/a.ts".into(), "one\r\n\n  two\u{c}three\n"));
        let hit = ChunkHit { reported_path: file.path().clone(), score: 1.0, file, chunk: 0 };
        let text = context_text(Language::TypeScript, &[hit.clone(), hit]);
        expect![[r#"
            // Here are some relevant code fragments from other files of the repo:

            // the below code fragment can be found in:
            // lib/a.ts
            // one
            //   two
            // three

            // the below code fragment can be found in:
            // lib/a.ts
            // one
            //   two
            // three

        "#]]
        .assert_eq(&text);
        assert_eq!(context_text(Language::Python, &[]), "");
    }
}
