//! The third-party packages that are linked into the binary, and the file with their licences.
//!
//! The packages are those of `cargo metadata` for one platform, without those that only build scripts, macros and tests use. Features are
//! those of the whole workspace, so the list may name a package too many, but none is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::process;

/// Beginnings of the names of files with licences, in lower case.
const LICENCE_FILES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "patents"];

/// Before the list of packages.
const HEADER: &str = "\
Ghostbench contains these packages of others. Their licences follow.

Its program also contains Rust's standard library, by the Rust Project's contributors (MIT OR Apache-2.0), and, if it is built for
musl, that C library, by Rich Felker and others (MIT).
";

/// A linked package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinkedPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SPDX expression.
    pub licence: String,
    /// Its authors, for packages without a licence text.
    pub authors: Vec<String>,
    /// Its licence texts.
    pub texts: Vec<String>,
}

/// Returns the packages that are linked for a target of rustc, sorted by name.
pub(super) fn linked_packages(triple: &str) -> Result<Vec<LinkedPackage>> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", triple];
    let metadata: Value = serde_json::from_str(&process::output(process::cargo().args(arguments))?)?;
    let packages = list(&metadata["packages"]);
    let by_id: BTreeMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let root = packages.iter().find(|package| package["name"] == "cli").and_then(|cli| cli["id"].as_str());
    let linked = linked_ids(&metadata["resolve"], &by_id, root.context("there is no crate `cli`")?);
    let mut found = Vec::new();
    for package in linked.iter().filter_map(|id| by_id.get(id)).filter(|package| !package["source"].is_null())
    {
        found.push(crate_package(package).with_context(|| format!("failed to read {}", package["name"]))?);
    }
    found.sort();
    Ok(found)
}

/// Follows the normal dependencies of a package. Macros run in the compiler, so nothing of them is linked.
fn linked_ids<'a>(resolve: &'a Value, packages: &BTreeMap<&str, &Value>, root: &'a str) -> BTreeSet<&'a str> {
    let nodes: BTreeMap<&str, &'a Value> =
        list(&resolve["nodes"]).iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let mut found = BTreeSet::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        if !found.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).map_or(&[][..], |node| list(&node["deps"]));
        let normal = dependencies
            .iter()
            .filter(|dependency| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
        waiting.extend(
            normal
                .filter_map(|dependency| dependency["pkg"].as_str())
                .filter(|id| packages.get(id).is_some_and(|package| !is_macro(package))),
        );
    }
    found
}

fn is_macro(package: &Value) -> bool {
    list(&package["targets"])
        .iter()
        .any(|target| list(&target["kind"]).iter().any(|kind| kind == "proc-macro"))
}

fn crate_package(package: &Value) -> Result<LinkedPackage> {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let manifest = text("manifest_path");
    let folder = Path::new(&manifest).parent().context("a manifest is in a folder")?;
    let authors = list(&package["authors"]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(LinkedPackage {
        name: text("name"),
        version: text("version"),
        // The slash is the former notation.
        licence: text("license").replace('/', " OR "),
        authors,
        texts: licence_texts(folder)?,
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the texts of the files with licences in the folder of a package.
pub(super) fn licence_texts(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if LICENCE_FILES.iter().any(|start| name.starts_with(start)) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    let texts = files.iter().map(|file| Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned()));
    texts.collect()
}

/// Returns the file with the licences of packages: a list, then each different text once with the packages under it.
pub(super) fn notices(packages: &[LinkedPackage]) -> String {
    let mut notices = format!("{HEADER}\n");
    let mut texts: BTreeMap<String, (&str, Vec<String>)> = BTreeMap::new();
    for package in packages {
        let LinkedPackage { name, version, licence, authors, .. } = package;
        notices += &format!("  {name} {version}: {licence}");
        if package.texts.is_empty() {
            notices += &format!(", by {}; the package has no licence file", authors.join(", "));
        }
        notices += "\n";
        for text in &package.texts {
            // Copies differ in line breaks.
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            texts.entry(words).or_insert((text, Vec::new())).1.push(format!("{name} {version}"));
        }
    }
    for (text, users) in texts.into_values() {
        let rule = "-".repeat(80);
        notices += &format!("\n{rule}\n{}\n\n{}\n", users.join(", "), text.trim_end());
    }
    notices
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn packages_of_build_scripts_tests_and_macros_are_not_linked() {
        let kind = |kind: Value| json!([{ "kind": kind }]);
        let node = |id: &str, dependencies: Value| json!({ "id": id, "deps": dependencies });
        let resolve = json!({ "nodes": [
            node("cli", json!([
                { "pkg": "serde", "dep_kinds": kind(Value::Null) },
                { "pkg": "cc", "dep_kinds": kind(json!("build")) },
                { "pkg": "proptest", "dep_kinds": kind(json!("dev")) },
                { "pkg": "derive", "dep_kinds": kind(Value::Null) },
            ])),
            node("serde", json!([{ "pkg": "core", "dep_kinds": kind(Value::Null) }])),
            node("derive", json!([{ "pkg": "syn", "dep_kinds": kind(Value::Null) }])),
        ] });
        let library = json!({ "targets": [{ "kind": ["lib"] }] });
        let macros = json!({ "targets": [{ "kind": ["proc-macro"] }] });
        let packages = BTreeMap::from([
            ("cli", &library),
            ("serde", &library),
            ("core", &library),
            ("cc", &library),
            ("proptest", &library),
            ("derive", &macros),
            ("syn", &library),
        ]);
        let linked: Vec<_> = linked_ids(&resolve, &packages, "cli").into_iter().collect();
        assert_eq!(linked, ["cli", "core", "serde"]);
    }

    #[test]
    fn equal_licence_texts_are_written_once() {
        let package = |name: &str, texts: &[&str]| LinkedPackage {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            authors: vec!["Ann".to_owned()],
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        let packages =
            [package("a", &["You may\ndo it."]), package("b", &["You may do it.\n"]), package("c", &[])];
        let notices = notices(&packages);
        expect![[r#"

              a 1.0.0: MIT
              b 1.0.0: MIT
              c 1.0.0: MIT, by Ann; the package has no licence file

            --------------------------------------------------------------------------------
            a 1.0.0, b 1.0.0

            You may
            do it.
        "#]]
        .assert_eq(notices.strip_prefix(HEADER).expect("it begins with the header"));
    }
}
