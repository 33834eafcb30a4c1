//! Checks of all text files: white space, and paths that exist on one machine only.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

use super::{Finding, TextFile};

/// Parts of paths that exist on one machine only; in two parts, because this file is checked too.
const FOREIGN_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("../sha", "red"), concat!("/ro", "ot/")];

/// The script of the continuous integration; only this file may contain the path of the golden data.
const CI_SCRIPT: &str = ".ci/run";

/// Checks one file.
pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if [".rs", ".md", ".lua"].iter().any(|ending| file.path.ends_with(ending)) {
        findings.extend(check_white_space(file));
    }
    if file.path != CI_SCRIPT {
        findings.extend(check_foreign_paths(file));
    }
    findings
}

/// Finds tabs and trailing blanks. Both are allowed in Rust's string literals.
fn check_white_space(file: &TextFile) -> Vec<Finding> {
    let literals = string_literals(file);
    let mut findings = Vec::new();
    let mut start = 0;
    for line in file.text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let end = start + content.len();
        let is_meant = |offset: usize| literals.iter().any(|literal| literal.contains(&offset));
        if content.ends_with([' ', '\t']) && !is_meant(end) {
            findings.push(
                Finding::new(&file.path, "remove the blanks at the end of the line").at(file.line_of(start)),
            );
        }
        if content.match_indices('\t').any(|(tab, _)| !is_meant(start + tab)) {
            findings.push(Finding::new(&file.path, "replace the tab by spaces").at(file.line_of(start)));
        }
        start += line.len();
    }
    findings
}

pub(super) fn string_literals(file: &TextFile) -> Vec<Range<usize>> {
    let mut literals = Vec::new();
    if let (true, Ok(tokens)) = (file.path.ends_with(".rs"), file.text.parse()) {
        collect_literals(tokens, &mut literals);
    }
    literals
}

/// Adds the byte ranges of literals. Documentation comments become literals too, but are checked like other text.
fn collect_literals(tokens: TokenStream, literals: &mut Vec<Range<usize>>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_literals(group.stream(), literals),
            TokenTree::Literal(literal) => {
                let is_comment = literal.span().source_text().is_some_and(|text| text.starts_with('/'));
                if !is_comment {
                    literals.push(literal.span().byte_range());
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn check_foreign_paths(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        for path in FOREIGN_PATHS.iter().filter(|path| line.contains(**path)) {
            let message =
                format!("`{path}` exists on one machine only: take the folder from the environment");
            findings.push(Finding::new(&file.path, message).at(number));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::finding::lines;

    #[track_caller]
    fn check_text(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&lines(&check(&TextFile { path: path.to_owned(), text: text.to_owned() })));
    }

    #[test]
    fn trailing_blanks_and_tabs_are_reported() {
        check_text(
            "docs/a.md",
            "good\nblank \n\ttab\n",
            expect![[r#"
                docs/a.md:2: remove the blanks at the end of the line
                docs/a.md:3: replace the tab by spaces
            "#]],
        );
    }

    #[test]
    fn white_space_in_a_string_literal_is_allowed() {
        check_text(
            "a.rs",
            "const A: &str = \"x \n\ty\";\n// a comment \n",
            expect![[r#"
            a.rs:3: remove the blanks at the end of the line
        "#]],
        );
    }

    #[test]
    fn machine_specific_paths_are_reported() {
        let text = format!("golden={}golden\n", FOREIGN_PATHS[0]);
        let finding = &check(&TextFile { path: "a.sh".to_owned(), text: text.clone() })[0];
        assert!(finding.to_string().starts_with("a.sh:1: "));
        check_text(CI_SCRIPT, &text, expect![[""]]);
    }
}
