//! Compares the crate table of `ARCHITECTURE.md` with the manifests: allowed dependencies, and crates without IO.

use super::{Finding, Package, TextFile};

const DOCUMENT: &str = "ARCHITECTURE.md";

/// The crates without IO; `clippy.toml` lists the functions that they may not call.
const PURE_CRATES: &[&str] = &[
    "text",
    "syntax",
    "cases",
    "scoring",
    "benchmarks",
    "builtin",
    "mining",
    "index",
    "report",
    "config",
    "prompt",
    "secrets",
];

/// The attribute that enables that list.
const PURITY: &str = "#![deny(clippy::disallowed_methods)]";

/// Foreign crates whose types may appear in one of our crates only: the protocol ends in `lsp`.
const RESERVED: &[(&str, &str)] =
    &[("tower-lsp-server", "lsp"), ("gen-lsp-types", "lsp"), ("lsp-types", "lsp")];

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
struct CrateRow {
    /// Name of the crate.
    name: String,
    /// 1-based line in the document.
    line: usize,
    /// Crates it may depend on.
    may_use: Vec<String>,
    /// Whether the crate does not exist yet.
    is_planned: bool,
}

/// Checks our crates.
pub(crate) fn check(files: &[TextFile], packages: &[Package]) -> Vec<Finding> {
    let Some(document) = TextFile::find(files, DOCUMENT) else {
        return vec![Finding::new(DOCUMENT, "write the document: it holds the crate table")];
    };
    let rows = parse_table(document);
    let crates: Vec<_> = packages.iter().filter_map(our_crate).collect();
    let mut findings = check_rows(&rows, &crates);
    for &(folder, package) in &crates {
        findings.extend(check_folder(&rows, folder, package));
        findings.extend(check_dependencies(&rows, package, packages, files));
    }
    findings.extend(check_purity(files, &crates));
    findings
}

/// Returns the package with its folder, if it is a crate of the server.
fn our_crate(package: &Package) -> Option<(&str, &Package)> {
    let folder = package.folder.as_deref()?;
    folder.starts_with("server/").then_some((folder, package))
}

/// Parses the rows ``| `name` | what it is | may use | invariant |``.
fn parse_table(document: &TextFile) -> Vec<CrateRow> {
    let mut rows: Vec<CrateRow> = Vec::new();
    for (line, text) in document.lines() {
        let cells: Vec<_> = text.split('|').map(str::trim).collect();
        let &["", name, _, may_use, _, ""] = cells.as_slice() else { continue };
        let Some((name, remark)) = name.strip_prefix('`').and_then(|name| name.split_once('`')) else {
            continue;
        };
        let may_use = match may_use {
            "any above" => rows.iter().map(|row| row.name.clone()).collect(),
            "–" => Vec::new(),
            listed => listed.split(", ").map(str::to_owned).collect(),
        };
        rows.push(CrateRow {
            name: name.to_owned(),
            line,
            may_use,
            is_planned: remark.trim() == "(planned)",
        });
    }
    rows
}

/// Finds rows without a crate, and rows that use a crate without a row.
fn check_rows(rows: &[CrateRow], crates: &[(&str, &Package)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in rows {
        let exists = crates.iter().any(|(_, package)| package.name == row.name);
        let problem = match (exists, row.is_planned) {
            (false, false) => {
                Some(format!("there is no crate `{}`: mark the row `(planned)` or remove it", row.name))
            }
            (true, true) => Some(format!("the crate `{}` exists: remove `(planned)`", row.name)),
            _ => None,
        };
        let unknown = row.may_use.iter().filter(|used| !rows.iter().any(|row| row.name == **used));
        let unknown = unknown.map(|used| format!("`{used}` has no row"));
        findings.extend(
            problem.into_iter().chain(unknown).map(|message| Finding::new(DOCUMENT, message).at(row.line)),
        );
    }
    findings
}

/// Checks that a crate's folder has the crate's name, and that the crate has a row.
fn check_folder(rows: &[CrateRow], folder: &str, package: &Package) -> Vec<Finding> {
    let mut findings = Vec::new();
    if folder != format!("server/{}", package.name) {
        findings.push(Finding::new(folder, format!("name the folder `server/{}`", package.name)));
    }
    if !rows.iter().any(|row| row.name == package.name) {
        findings.push(Finding::new(folder, format!("add a row for `{}` to {DOCUMENT}", package.name)));
    }
    findings
}

/// Checks that a crate depends only on those of our packages that its row lists.
fn check_dependencies(
    rows: &[CrateRow],
    package: &Package,
    packages: &[Package],
    files: &[TextFile],
) -> Vec<Finding> {
    let Some(row) = rows.iter().find(|row| row.name == package.name) else { return Vec::new() };
    let manifest = format!("server/{}/Cargo.toml", package.name);
    let is_ours =
        |name: &str| packages.iter().any(|package| package.folder.is_some() && package.name == name);
    let mut findings = Vec::new();
    for used in package.dependencies.iter().filter(|used| is_ours(used) && !row.may_use.contains(used)) {
        let message = format!("`{}` may not use `{used}`: see the table of {DOCUMENT}", row.name);
        findings.push(Finding::new(&manifest, message).at(line_of_dependency(files, &manifest, used)));
    }
    for (reserved, owner) in RESERVED.iter().filter(|(_, owner)| package.name != *owner) {
        if package.dependencies.iter().any(|used| used == reserved) {
            let message = format!("`{}` may not use `{reserved}`: only `{owner}` does", row.name);
            findings
                .push(Finding::new(&manifest, message).at(line_of_dependency(files, &manifest, reserved)));
        }
    }
    findings
}

/// Returns the 1-based line of a manifest that names a dependency.
fn line_of_dependency(files: &[TextFile], manifest: &str, name: &str) -> usize {
    let names_it = |line: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    let line = TextFile::find(files, manifest).and_then(|file| file.lines().find(|(_, line)| names_it(line)));
    line.map_or(1, |(number, _)| number)
}

fn check_purity(files: &[TextFile], crates: &[(&str, &Package)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, _) in crates.iter().filter(|(_, package)| PURE_CRATES.contains(&package.name.as_str())) {
        let root = format!("{folder}/src/lib.rs");
        if !TextFile::find(files, &root).is_some_and(|file| file.text.contains(PURITY)) {
            findings.push(Finding::new(&root, format!("add `{PURITY}`: the crate does no IO")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::finding::lines;

    const TABLE: &str = "\
| crate | what it is | may use | invariant |
|---|---|---|---|
| `text` | ropes | – | no IO |
| `engines` | engines | text | – |
| `trial` (planned) | trials | text | – |
| `cli` | the binary | any above | – |
";

    #[track_caller]
    fn check_crates(table: &str, crates: &[(&str, &[&str])], expect: Expect) {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let mut files = vec![file(DOCUMENT, table), file("server/text/src/lib.rs", PURITY)];
        files.push(file("server/engines/Cargo.toml", "[dependencies]\ncli.workspace = true\n"));
        let packages: Vec<_> = crates.iter().map(|(name, uses)| package(name, uses)).collect();
        expect.assert_eq(&lines(&check(&files, &packages)));
    }

    fn package(name: &str, uses: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            version: "0.0.0".to_owned(),
            folder: Some(format!("server/{name}")),
            licence: None,
            dependencies: uses.iter().map(|used| (*used).to_owned()).collect(),
        }
    }

    #[test]
    fn complete_table_has_no_findings() {
        check_crates(
            TABLE,
            &[("text", &["ropey"]), ("engines", &["text"]), ("cli", &["text", "engines"])],
            expect![[""]],
        );
    }

    #[test]
    fn dependency_not_allowed_by_the_table_is_reported() {
        check_crates(
            TABLE,
            &[("text", &[]), ("engines", &["cli"]), ("cli", &[])],
            expect![[r#"
            server/engines/Cargo.toml:2: `engines` may not use `cli`: see the table of ARCHITECTURE.md
        "#]],
        );
    }

    #[test]
    fn types_of_the_protocol_are_used_in_one_crate_only() {
        check_crates(
            "| `lsp` | server | – | – |\n| `engines` | engines | – | – |\n",
            &[("lsp", &["tower-lsp-server"]), ("engines", &["tower-lsp-server"])],
            expect![[r#"
                server/engines/Cargo.toml:1: `engines` may not use `tower-lsp-server`: only `lsp` does
            "#]],
        );
    }

    #[test]
    fn crates_without_rows_and_rows_without_crates_are_reported() {
        check_crates(
            TABLE,
            &[("text", &[]), ("trial", &[]), ("cli", &[]), ("lsp", &[])],
            expect![[r#"
                ARCHITECTURE.md:4: there is no crate `engines`: mark the row `(planned)` or remove it
                ARCHITECTURE.md:5: the crate `trial` exists: remove `(planned)`
                server/lsp: add a row for `lsp` to ARCHITECTURE.md
            "#]],
        );
    }

    #[test]
    fn an_unknown_name_in_a_row_is_found() {
        check_crates(
            "| `text` | ropes | rope | no IO |\n",
            &[("text", &[])],
            expect![[r#"
            ARCHITECTURE.md:1: `rope` has no row
        "#]],
        );
    }

    #[test]
    fn a_pure_crate_without_its_lint_is_found() {
        let table = "| `cases` | formats | – | pure |\n";
        check_crates(
            table,
            &[("cases", &[])],
            expect![[r#"
            server/cases/src/lib.rs: add `#![deny(clippy::disallowed_methods)]`: the crate does no IO
        "#]],
        );
    }
}
