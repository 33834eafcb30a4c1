//! Packages of the VS Code extension: each needs an exact version and its reason in the document of dependencies. The lock file
//! must not name a registry, so that each user's own registry is used.

use serde_json::Value;

use super::dependencies::{DOCUMENT, documented_name};
use super::{Finding, TextFile};

const MANIFEST: &str = "vscode-extension/package.json";
const LOCK: &str = "vscode-extension/package-lock.json";

/// The heading above the table of these packages.
pub(crate) const SECTION: &str = "## The VS Code extension";

/// Checks these packages.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let (Some(document), Some(manifest), Some(lock)) =
        (TextFile::find(files, DOCUMENT), TextFile::find(files, MANIFEST), TextFile::find(files, LOCK))
    else {
        return vec![Finding::new(MANIFEST, format!("keep it beside its lock file, and write {DOCUMENT}"))];
    };
    let Ok(value) = serde_json::from_str::<Value>(&manifest.text) else {
        return vec![Finding::new(MANIFEST, "correct it: it is no JSON")];
    };
    let mut findings = check_packages(document, &packages(&value));
    findings.extend(check_version(files, value["version"].as_str().unwrap_or_default()));
    for (number, line) in lock.lines().filter(|(_, line)| line.contains("\"resolved\":")) {
        let address = line.trim();
        let message =
            format!("remove {address}: install with `omit-lockfile-registry-resolved=true` in your .npmrc");
        findings.push(Finding::new(LOCK, message).at(number));
    }
    findings
}

/// Finds a version of the extension that is not the one of the workspace.
fn check_version(files: &[TextFile], version: &str) -> Option<Finding> {
    let workspace = TextFile::find(files, "Cargo.toml")?.text.split_once("[workspace.package]")?.1;
    let expected = workspace.split_once("version = \"")?.1.split_once('"')?.0;
    let message =
        format!("the version is {version} instead of {expected}: set both with `cargo xtask release`");
    (version != expected).then(|| Finding::new(MANIFEST, message))
}

/// Returns names and versions of all packages in the manifest.
fn packages(manifest: &Value) -> Vec<(&str, &str)> {
    let tables = ["dependencies", "devDependencies"].iter().filter_map(|table| manifest[table].as_object());
    tables.flatten().map(|(name, version)| (name.as_str(), version.as_str().unwrap_or_default())).collect()
}

fn check_packages(document: &TextFile, packages: &[(&str, &str)]) -> Vec<Finding> {
    let section = document.lines().skip_while(|(_, line)| *line != SECTION).skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let documented: Vec<_> =
        section.filter_map(|(number, line)| Some((number, documented_name(line)?))).collect();
    let mut findings = Vec::new();
    for &(name, version) in packages {
        if !documented.iter().any(|&(_, documented)| documented == name) {
            let message = format!("give the reason of `{name}` in {DOCUMENT}, below `{SECTION}`");
            findings.push(Finding::new(MANIFEST, message));
        }
        if !version.starts_with(|first: char| first.is_ascii_digit()) {
            findings.push(Finding::new(MANIFEST, format!("pin `{name}`: {version} is no exact version")));
        }
    }
    for (line, name) in documented {
        if !packages.iter().any(|&(package, _)| package == name) {
            findings.push(Finding::new(DOCUMENT, format!("`{name}` is no package: remove the row")).at(line));
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
    fn check_files(document: &str, manifest: &str, lock: &str, expect: Expect) {
        let texts = [(DOCUMENT, document), (MANIFEST, manifest), (LOCK, lock)];
        let files = texts.map(|(path, text)| TextFile { path: path.to_owned(), text: text.to_owned() });
        expect.assert_eq(&lines(&check(&files)));
    }

    #[test]
    fn a_documented_and_pinned_package_is_fine() {
        let document =
            "| `serde` | rows |\n\n## The VS Code extension\n\n| `esbuild` | bundle |\n\n## Search\n";
        check_files(document, r#"{"devDependencies": {"esbuild": "0.28.2"}}"#, "{}", expect![[""]]);
    }

    #[test]
    fn version_that_differs_from_the_workspace_is_found() {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let files = [file("Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"\n")];
        assert_eq!(check_version(&files, "0.2.0"), None);
        let finding = check_version(&files, "0.1.0").expect("they differ").to_string();
        assert!(finding.contains("0.1.0 instead of 0.2.0"), "{finding}");
    }

    #[test]
    fn undocumented_or_unpinned_packages_and_registries_are_found() {
        check_files(
            "## The VS Code extension\n| `esbuild` | bundle |\n",
            r#"{"dependencies": {"vsce": "^3.9.2"}}"#,
            "{\n  \"resolved\": \"https://npm.example/vsce.tgz\",\n}\n",
            expect![[r#"
                vscode-extension/package.json: give the reason of `vsce` in docs/dependencies.md, below `## The VS Code extension`
                vscode-extension/package.json: pin `vsce`: ^3.9.2 is no exact version
                docs/dependencies.md:2: `esbuild` is no package: remove the row
                vscode-extension/package-lock.json:2: remove "resolved": "https://npm.example/vsce.tgz",: install with `omit-lockfile-registry-resolved=true` in your .npmrc
            "#]],
        );
    }
}
