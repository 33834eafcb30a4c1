//! Third-party dependencies: each needs its reason in `docs/dependencies.md`, and must be used.

use super::{Finding, Package, TextFile, npm};

/// The document with the reasons of all dependencies.
pub(crate) const DOCUMENT: &str = "docs/dependencies.md";
const MANIFEST: &str = "Cargo.toml";

/// Checks the dependencies.
pub(crate) fn check(files: &[TextFile], packages: &[Package]) -> Vec<Finding> {
    let (Some(document), Some(manifest)) = (TextFile::find(files, DOCUMENT), TextFile::find(files, MANIFEST))
    else {
        return vec![Finding::new(DOCUMENT, "write the document: it gives the reason of every dependency")];
    };
    let ours: Vec<_> = packages.iter().filter(|package| package.folder.is_some()).collect();
    let pinned = pinned_dependencies(manifest);
    let mut findings = check_document(document, manifest, &pinned);
    for (line, name) in &pinned {
        let is_ours = ours.iter().any(|package| package.name == *name);
        let is_used = ours.iter().any(|package| package.dependencies.iter().any(|used| used == name));
        if !is_ours && !is_used {
            findings.push(Finding::new(MANIFEST, format!("no crate uses `{name}`: remove it")).at(*line));
        }
    }
    for package in ours {
        findings.extend(check_use(files, package));
    }
    findings
}

/// Returns the lines of `[workspace.dependencies]` with the names they pin.
fn pinned_dependencies(manifest: &TextFile) -> Vec<(usize, &str)> {
    let section = manifest.lines().skip_while(|(_, line)| *line != "[workspace.dependencies]").skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with('['));
    section.filter_map(|(number, line)| Some((number, line.split_once(" = ")?.0))).collect()
}

/// Finds dependencies without a row in the document, and rows without a dependency. Our own crates need none.
fn check_document(document: &TextFile, manifest: &TextFile, pinned: &[(usize, &str)]) -> Vec<Finding> {
    let crates = document.lines().take_while(|(_, line)| *line != npm::SECTION);
    let documented: Vec<_> =
        crates.filter_map(|(number, line)| Some((number, documented_name(line)?))).collect();
    let mut findings = Vec::new();
    for (line, name) in pinned {
        let is_ours = manifest.text.lines().nth(line - 1).is_some_and(|line| line.contains("path = "));
        if !is_ours && !documented.iter().any(|(_, documented)| documented == name) {
            findings
                .push(Finding::new(MANIFEST, format!("give the reason of `{name}` in {DOCUMENT}")).at(*line));
        }
    }
    for (line, name) in documented {
        if !pinned.iter().any(|(_, pinned)| *pinned == name) {
            findings
                .push(Finding::new(DOCUMENT, format!("`{name}` is no dependency: remove the row")).at(line));
        }
    }
    findings
}

/// Returns the name in a row ``| `name` | ..``.
pub(crate) fn documented_name(line: &str) -> Option<&str> {
    Some(line.strip_prefix("| `")?.split_once('`')?.0)
}

/// Finds dependencies that no source file of the package names.
fn check_use(files: &[TextFile], package: &Package) -> Vec<Finding> {
    let Some(folder) = &package.folder else { return Vec::new() };
    let prefix = format!("{folder}/");
    let sources: Vec<_> =
        files.iter().filter(|file| file.path.starts_with(&prefix) && file.path.ends_with(".rs")).collect();
    let mut findings = Vec::new();
    for name in &package.dependencies {
        let identifier = name.replace('-', "_");
        if !sources.iter().any(|file| contains_word(&file.text, &identifier)) {
            findings.push(Finding::new(
                &format!("{prefix}Cargo.toml"),
                format!("`{name}` is not used: remove it"),
            ));
        }
    }
    findings
}

/// Whether `word` occurs in `text` as a whole identifier.
fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(start, _)| {
        let (before, rest) = text.split_at(start);
        let after = rest.strip_prefix(word).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::finding::lines;

    #[track_caller]
    fn check_dependencies(manifest: &str, document: &str, source: &str, uses: &[&str], expect: Expect) {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let files =
            [file(MANIFEST, manifest), file(DOCUMENT, document), file("server/text/src/lib.rs", source)];
        let package = Package {
            name: "text".to_owned(),
            version: "0.0.0".to_owned(),
            folder: Some("server/text".to_owned()),
            licence: None,
            dependencies: uses.iter().map(|used| (*used).to_owned()).collect(),
        };
        expect.assert_eq(&lines(&check(&files, &[package])));
    }

    const MANIFEST_TEXT: &str = "\
[workspace.dependencies]
# Our own.
text = { path = \"server/text\" }
tree-sitter = \"0.27.1\"

[profile.dev]
debug = true
";

    #[test]
    fn a_documented_and_used_dependency_is_fine() {
        let document = "| `tree-sitter` | parsing |\n\n## The VS Code extension\n| `esbuild` | bundle |\n";
        check_dependencies(
            MANIFEST_TEXT,
            document,
            "use tree_sitter::Tree;",
            &["tree-sitter"],
            expect![[""]],
        );
    }

    #[test]
    fn undocumented_and_unused_dependencies_are_found() {
        check_dependencies(
            MANIFEST_TEXT,
            "| `tree` | parsing |\n",
            "",
            &[],
            expect![[r#"
            Cargo.toml:4: give the reason of `tree-sitter` in docs/dependencies.md
            docs/dependencies.md:1: `tree` is no dependency: remove the row
            Cargo.toml:4: no crate uses `tree-sitter`: remove it
        "#]],
        );
    }

    #[test]
    fn a_dependency_must_be_named_in_the_sources() {
        let document = "| `tree-sitter` | parsing |\n";
        let source = "use tree_sitter_python::LANGUAGE;";
        check_dependencies(
            MANIFEST_TEXT,
            document,
            source,
            &["tree-sitter"],
            expect![[r#"
            server/text/Cargo.toml: `tree-sitter` is not used: remove it
        "#]],
        );
    }
}
