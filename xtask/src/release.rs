//! `cargo xtask release VERSION`: sets the version everywhere, and gives the changes since the last release its number.
//!
//! It only edits files: the workspace's manifest and lock file, the extension's manifest and lock file, the version of the plugin for
//! Neovim, and `CHANGELOG.md`. Packages,
//! the Homebrew formula and the other entries take the version from the manifest when they are made.

use std::fs;
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};
use xtask::process;

/// The manifest of the workspace.
const MANIFEST: &str = "Cargo.toml";

/// Files of npm with the extension's version, and how often they have it at their top.
const EXTENSION_FILES: [(&str, usize); 2] =
    [("vscode-extension/package.json", 1), ("vscode-extension/package-lock.json", 2)];

/// Before the version in a file of npm.
const NPM_VERSION: &str = "\"version\": \"";

/// The version of the plugin for Neovim, which compares it with the server's.
const PLUGIN_VERSION: &str = "editors/neovim/lua/ghostbench/version.lua";

/// The list of changes.
const CHANGELOG: &str = "CHANGELOG.md";

/// Heading of the changes that are in no release yet.
const UNRELEASED: &str = "## Unreleased\n";

/// The versions of the Python packages; that for clusters is compared with the program's.
const PYTHON_VERSIONS: [&str; 2] = [
    "python/ghostbench-ray/src/ghostbench_ray/__init__.py",
    "python/ghostbench-collect/src/ghostbench_collect/__init__.py",
];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct ReleaseArgs {
    /// The version, such as 0.2.0 or 0.2.0-rc.1
    version: String,
}

/// Edits the files, all or none of them.
pub(crate) fn run(args: &ReleaseArgs) -> Result<()> {
    let version = &args.version;
    ensure!(is_version(version), "{version} is no version; write it as 0.2.0 or 0.2.0-rc.1");
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let date = date.split('T').next().unwrap_or_default();
    let mut edited = vec![
        (MANIFEST, with_workspace_version(&read(MANIFEST)?, version)?),
        (PLUGIN_VERSION, with_plugin_version(&read(PLUGIN_VERSION)?, version)?),
        (CHANGELOG, with_release(&read(CHANGELOG)?, version, date)?),
    ];
    for path in PYTHON_VERSIONS {
        edited.push((
            path,
            with_python_version(&read(path)?, version).with_context(|| format!("{path} is unusual"))?,
        ));
    }
    for (path, count) in EXTENSION_FILES {
        edited.push((
            path,
            with_npm_version(&read(path)?, version, count).with_context(|| format!("{path} is unusual"))?,
        ));
    }
    for (path, text) in edited {
        fs::write(path, text).with_context(|| format!("failed to write {path}"))?;
    }
    // Cargo writes the new versions of our own crates into the lock file, and nothing else.
    process::output(process::cargo().args(["metadata", "--format-version", "1", "--offline"]))?;
    println!(
        "version {version} is set; commit, then push the tag v{version}, which starts the release workflow"
    );
    Ok(())
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("failed to read {path}"))
}

/// Whether a text is `1.2.3` or `1.2.3-rc.4`, which every packaging system can express.
fn is_version(text: &str) -> bool {
    let (numbers, candidate) =
        text.split_once("-rc.").map_or((text, "0"), |(numbers, candidate)| (numbers, candidate));
    let is_number = |text: &str| {
        let has_leading_zero = text.len() > 1 && text.starts_with('0');
        !text.is_empty() && !has_leading_zero && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    numbers.split('.').count() == 3 && numbers.split('.').all(is_number) && is_number(candidate)
}

/// Returns the manifest with another version of the workspace.
fn with_workspace_version(manifest: &str, version: &str) -> Result<String> {
    const BEFORE: &str = "[workspace.package]\nversion = \"";
    let (before, rest) =
        manifest.split_once(BEFORE).context("[workspace.package] does not begin with a version")?;
    let (_, after) = rest.split_once('"').context("the version has no end")?;
    Ok(format!("{before}{BEFORE}{version}\"{after}"))
}

/// Returns the plugin's module with another version.
fn with_plugin_version(module: &str, version: &str) -> Result<String> {
    const BEFORE: &str = "M.VERSION = '";
    let (before, rest) = module.split_once(BEFORE).context("the plugin for Neovim has no version")?;
    let (_, after) = rest.split_once('\'').context("the plugin's version has no end")?;
    Ok(format!("{before}{BEFORE}{version}'{after}"))
}

/// Returns the module of the Python package with another version.
fn with_python_version(module: &str, version: &str) -> Result<String> {
    const BEFORE: &str = "__version__ = \"";
    let (before, rest) = module.split_once(BEFORE).context("the Python package has no version")?;
    let (_, after) = rest.split_once('"').context("the Python package's version has no end")?;
    Ok(format!("{before}{BEFORE}{version}\"{after}"))
}

/// Returns a file of npm with another version in its first `count` places; those of other packages follow.
fn with_npm_version(text: &str, version: &str, count: usize) -> Option<String> {
    let mut edited = String::new();
    let mut rest = text;
    for _ in 0..count {
        let (before, after) = rest.split_once(NPM_VERSION)?;
        let (_, after) = after.split_once('"')?;
        edited += &format!("{before}{NPM_VERSION}{version}\"");
        rest = after;
    }
    Some(edited + rest)
}

/// Returns the list of changes with the unreleased ones under a version, and an empty section for the next ones.
fn with_release(changelog: &str, version: &str, date: &str) -> Result<String> {
    let (before, after) =
        changelog.split_once(UNRELEASED).context("CHANGELOG.md has no section `Unreleased`")?;
    if changelog.contains(&format!("\n## {version} ")) {
        bail!("CHANGELOG.md already has a section {version}");
    }
    let changes = after.split("\n## ").next().unwrap_or_default();
    ensure!(
        !changes.trim().is_empty(),
        "CHANGELOG.md lists no unreleased changes; there is nothing to release"
    );
    Ok(format!("{before}{UNRELEASED}\n## {version} ({date})\n{after}"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn only_versions_that_all_packages_can_express_are_accepted() {
        for version in ["0.1.0", "10.20.30", "0.2.0-rc.1"] {
            assert!(is_version(version), "{version}");
        }
        for text in [
            "",
            "1",
            "0.1",
            "0.1.0.0",
            "v0.1.0",
            "0.01.0",
            "0.1.0-rc",
            "0.1.0-rc.",
            "0.1.0-beta.1",
            "0.1.x",
            "0.1.0 ",
        ] {
            assert!(!is_version(text), "{text}");
        }
    }

    #[test]
    fn version_of_the_workspace_changes_and_those_of_dependencies_stay() {
        let manifest = "[workspace]\nversion = \"9\"\n[workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                        [workspace.dependencies]\nserde = { version = \"1.0\" }\n";
        expect![[r#"
            [workspace]
            version = "9"
            [workspace.package]
            version = "0.2.0"
            edition = "2024"
            [workspace.dependencies]
            serde = { version = "1.0" }
        "#]]
        .assert_eq(&with_workspace_version(manifest, "0.2.0").expect("it has one"));
    }

    #[test]
    fn versions_of_other_packages_in_the_lock_file_stay() {
        let lock = "{\n  \"version\": \"0.1.0\",\n  \"packages\": {\n    \"\": {\n      \"version\": \"0.1.0\",\n    },\n    \
                    \"a\": {\n      \"version\": \"0.1.0\"\n";
        let edited = with_npm_version(lock, "0.2.0", 2).expect("it has two");
        assert_eq!(edited, lock.replacen("0.1.0", "0.2.0", 2));
        assert_eq!(with_npm_version("{}\n", "0.2.0", 1), None);
    }

    #[test]
    fn version_of_the_plugin_is_set() {
        let module = "-- set by a task\nM.VERSION = '0.1.0'\n\nreturn M\n";
        let edited = with_plugin_version(module, "0.2.0-rc.1").expect("it has one");
        assert_eq!(edited, module.replace("0.1.0", "0.2.0-rc.1"));
        assert!(with_plugin_version("return {}\n", "0.2.0").is_err());
    }

    #[test]
    fn version_of_the_python_package_is_set() {
        let module = "\"\"\"Carries requests.\"\"\"\n\n__version__ = \"0.1.0\"\n";
        let edited = with_python_version(module, "0.2.0-rc.1").expect("it has one");
        assert_eq!(edited, module.replace("0.1.0", "0.2.0-rc.1"));
        assert!(with_python_version("", "0.2.0").is_err());
    }

    #[test]
    fn unreleased_changes_get_the_version_and_an_empty_section_follows() {
        let changelog = "# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.1.0 (2026-01-01)\n\n- First.\n";
        let released = with_release(changelog, "0.2.0", "2026-02-03").expect("there is a change");
        expect![[r#"
            # Changelog

            ## Unreleased

            ## 0.2.0 (2026-02-03)

            - A change.

            ## 0.1.0 (2026-01-01)

            - First.
        "#]]
        .assert_eq(&released);
        assert!(with_release(&released, "0.3.0", "2026-02-04").is_err(), "nothing changed");
        assert!(with_release(changelog, "0.1.0", "2026-02-04").is_err(), "it was released");
    }
}
