//! Unpacks packages of another Debian suite into a folder.
//!
//! apt resolves a package and its dependencies against an empty list of installed packages, in a separate state folder; it
//! checks the signatures. The packages are unpacked, none of their scripts is run, and the machine stays as it is. The mirror
//! is that of the machine's own apt configuration.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process;

/// Keyring of Debian's archive, from the package `debian-archive-keyring`.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Name of the configuration file in the state folder.
const CONFIGURATION: &str = "apt.conf";

/// Unpacks a package of a suite and all its dependencies into a folder.
pub(super) fn unpack(suite: &str, package: &str, folder: &Path) -> Result<()> {
    ensure!(process::is_installed("apt-get"), "there is no apt-get here");
    ensure!(Path::new(KEYRING).is_file(), "{KEYRING} is missing");
    let state = folder.join("apt");
    prepare_state(&state, suite)?;
    process::run(apt_get(&state).arg("update"))?;
    process::run(apt_get(&state).args(["install", "--yes", "--download-only", package]))?;
    for entry in fs::read_dir(state.join("archives"))? {
        let archive = entry?.path();
        if archive.extension().is_some_and(|extension| extension == "deb") {
            process::output(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(folder))?;
        }
    }
    fs::remove_dir_all(state)?;
    Ok(())
}

/// Creates the files that apt requires: its configuration, one source, folders and an empty list of installed packages.
fn prepare_state(state: &Path, suite: &str) -> Result<()> {
    for folder in ["lists/partial", "archives/partial", "empty"] {
        fs::create_dir_all(state.join(folder))?;
    }
    let mirror = mirror().context("the machine's apt names no Debian mirror")?;
    fs::write(state.join("status"), "")?;
    fs::write(state.join("sources.list"), format!("deb [signed-by={KEYRING}] {mirror} {suite} main\n"))?;
    fs::write(state.join(CONFIGURATION), configuration(state))?;
    Ok(())
}

fn configuration(state: &Path) -> String {
    let state = state.display();
    format!(
        "Dir::State \"{state}\";\n\
         Dir::State::Lists \"{state}/lists\";\n\
         Dir::State::Status \"{state}/status\";\n\
         Dir::Cache \"{state}\";\n\
         Dir::Cache::Archives \"{state}/archives\";\n\
         Dir::Etc::SourceList \"{state}/sources.list\";\n\
         Dir::Etc::SourceParts \"{state}/empty\";\n\
         Dir::Etc::Preferences \"/dev/null\";\n\
         Dir::Etc::PreferencesParts \"{state}/empty\";\n\
         APT::Install-Recommends \"false\";\n\
         APT::Sandbox::User \"root\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::Retries \"5\";\n"
    )
}

fn apt_get(state: &Path) -> Command {
    let mut command = Command::new("apt-get");
    command.arg("-qq").arg("--config-file").arg(state.join(CONFIGURATION));
    command
}

/// Returns the address of the machine's Debian archive.
fn mirror() -> Option<String> {
    let mut files = vec!["/etc/apt/sources.list".into()];
    let parts = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
    files.extend(parts.map(|entry| entry.path()));
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).find_map(|sources| mirror_in(&sources))
}

/// Returns the first address of a Debian archive in apt sources of either notation. Security and third-party archives have
/// other names.
fn mirror_in(sources: &str) -> Option<String> {
    let lines = sources.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut words = lines.flat_map(str::split_whitespace);
    words
        .find(|word| {
            let is_web = word.starts_with("http://") || word.starts_with("https://");
            is_web && word.trim_end_matches('/').ends_with("/debian")
        })
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirror_is_found_in_deb822_and_one_line_format() {
        let stanza = "Types: deb\n# http://old.example/debian\nURIs: http://one.example/debian-security\n\n\
                      URIs: https://two.example/debian/\nSuites: bookworm\n";
        assert_eq!(mirror_in(stanza).as_deref(), Some("https://two.example/debian/"));
        let line =
            "# deb http://old.example/debian a main\ndeb [arch=amd64] http://three.example/debian b main\n";
        assert_eq!(mirror_in(line).as_deref(), Some("http://three.example/debian"));
        assert_eq!(mirror_in("deb http://four.example/ubuntu c main\n"), None);
    }
}
