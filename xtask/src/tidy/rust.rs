//! Checks of Rust sources: module documentation, lengths, and attributes that disable checks.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature};

use super::{Finding, TextFile};

/// Modules with more lines need documentation.
const UNDOCUMENTED_LINES: usize = 100;

/// Files with more lines should be split (warning), or must be split; tests do not count. Well-kept Rust projects stay below
/// these limits in nearly all of their files.
const LONG_FILE_LINES: usize = 600;
const TOO_LONG_FILE_LINES: usize = 900;

/// Functions with more lines must be split.
const TOO_LONG_FUNCTION_LINES: usize = 80;

/// Attributes that disable checks, in two parts because this file is checked too, and their alternatives.
const REFUSED: &[(&str, &str)] = &[
    (concat!("#[", "ignore"), "make the test quick or delete it"),
    (concat!("#[", "allow("), "write `#[expect(.., reason = \"..\")]`"),
    (concat!("#![", "allow("), "write `#![expect(.., reason = \"..\")]`"),
    (concat!("todo", "!("), "write the code or leave it out"),
    (concat!("dbg", "!("), "remove it"),
];

/// Checks one Rust file.
pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = check_refused(file);
    if !is_test_file(&file.path) {
        findings.extend(check_module_documentation(file));
        findings.extend(check_file_length(file));
        findings.extend(check_function_lengths(file));
    }
    findings
}

pub(super) fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

fn check_refused(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        for (snippet, remedy) in REFUSED.iter().filter(|(snippet, _)| line.contains(snippet)) {
            findings
                .push(Finding::new(&file.path, format!("`{snippet}` is not used here: {remedy}")).at(number));
        }
    }
    findings
}

fn check_module_documentation(file: &TextFile) -> Option<Finding> {
    let is_crate_root = file.path.ends_with("/lib.rs") || file.path.ends_with("/main.rs");
    let must_be_documented = is_crate_root || production_part(file).lines().count() > UNDOCUMENTED_LINES;
    let is_documented = file.text.starts_with("//!");
    let message = "open the module with `//!`: what it is, what it is responsible for, what it must never do";
    (must_be_documented && !is_documented).then(|| Finding::new(&file.path, message).at(1))
}

fn check_file_length(file: &TextFile) -> Option<Finding> {
    let lines = production_part(file).lines().count();
    let finding = Finding::new(&file.path, format!("{lines} lines: split the file"));
    if lines > TOO_LONG_FILE_LINES {
        return Some(finding);
    }
    (lines > LONG_FILE_LINES).then(|| finding.warning())
}

fn check_function_lengths(file: &TextFile) -> Vec<Finding> {
    let mut functions = LongFunctions { file, findings: Vec::new() };
    if let Ok(parsed) = syn::parse_file(production_part(file)) {
        functions.visit_file(&parsed);
    }
    functions.findings
}

/// Collects findings about long functions.
struct LongFunctions<'a> {
    file: &'a TextFile,
    findings: Vec<Finding>,
}

impl LongFunctions<'_> {
    /// Lines are counted from the signature to the closing brace.
    fn check(&mut self, signature: &Signature, body: &Block) {
        let first = signature.span().start().line;
        let lines = body.brace_token.span.close().end().line - first + 1;
        if lines > TOO_LONG_FUNCTION_LINES {
            let message = format!("`{}` has {lines} lines: split the function", signature.ident);
            self.findings.push(Finding::new(&self.file.path, message).at(first));
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.check(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.check(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}

/// Returns the file without its test module, which comes last.
pub(super) fn production_part(file: &TextFile) -> &str {
    file.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::finding::lines;

    #[track_caller]
    fn check_rust(path: &str, text: &str, expect: Expect) {
        expect.assert_eq(&lines(&check(&TextFile { path: path.to_owned(), text: text.to_owned() })));
    }

    #[test]
    fn undocumented_crate_roots_and_long_modules_are_reported() {
        check_rust(
            "server/text/src/lib.rs",
            "mod a;\n",
            expect![[r#"
            server/text/src/lib.rs:1: open the module with `//!`: what it is, what it is responsible for, what it must never do
        "#]],
        );
        check_rust("server/text/src/a.rs", "mod a;\n", expect![[""]]);
        check_rust(
            "server/text/src/a.rs",
            &"mod a;\n".repeat(101),
            expect![[r#"
            server/text/src/a.rs:1: open the module with `//!`: what it is, what it is responsible for, what it must never do
        "#]],
        );
        check_rust("server/text/src/a.rs", &format!("//! Docs.\n{}", "mod a;\n".repeat(101)), expect![[""]]);
    }

    #[test]
    fn long_files_are_reported_without_counting_tests() {
        let production = format!("//! Docs.\n{}", "mod a;\n".repeat(500));
        let tests = format!("\n#[cfg(test)]\nmod tests {{\n{}}}\n", "fn t() {}\n".repeat(500));
        check_rust("a.rs", &format!("{production}{tests}"), expect![[""]]);
        check_rust(
            "a.rs",
            &format!("{production}{}", "mod b;\n".repeat(100)),
            expect![[r#"
            a.rs: warning: 601 lines: split the file
        "#]],
        );
        check_rust(
            "a.rs",
            &format!("{production}{}", "mod b;\n".repeat(400)),
            expect![[r#"
            a.rs: 901 lines: split the file
        "#]],
        );
    }

    #[test]
    fn long_functions_are_found() {
        let function = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(79));
        check_rust(
            "a.rs",
            &format!("fn short() {{}}\n\n{function}"),
            expect![[r#"
            a.rs:3: `long` has 81 lines: split the function
        "#]],
        );
        check_rust("server/a/tests/it.rs", &function, expect![[""]]);
    }

    #[test]
    fn disabled_checks_are_reported() {
        for (snippet, remedy) in REFUSED {
            let file = TextFile {
                path: "server/a/tests/it.rs".to_owned(),
                text: format!("fn a() {{}}\n    {snippet}\n"),
            };
            let found = lines(&check(&file));
            assert!(
                found.starts_with("server/a/tests/it.rs:2: ") && found.ends_with(&format!("{remedy}\n")),
                "{found}"
            );
        }
    }
}
