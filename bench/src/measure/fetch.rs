//! Fetches the pinned repositories into `target/bench-repos`, with the registries' ordinary clients.
//!
//! A repository is unpacked next to its final folder and moved there when complete, so that an interrupted fetch leaves nothing
//! incomplete. Each client gets exactly the pinned version, and the archive's name must contain it. Unpacked files are never
//! built or run.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use xtask::process;

use super::repositories::{PinnedRepository, Registry, Repo};

/// Folder of repositories and downloads, relative to the repository root.
const FOLDER: &str = "target/bench-repos";

/// Fetches the missing repositories of a set and returns all that are available: those from the golden data only if
/// `GHOSTBENCH_GOLDEN` names its folder.
pub(crate) fn repositories(set: &[PinnedRepository]) -> Result<Vec<Repo>> {
    let mut repos = Vec::new();
    for pinned in set {
        if pinned.registry == Registry::Golden && golden_folder().is_none() {
            eprintln!("SKIPPED {}: GHOSTBENCH_GOLDEN does not name the folder of golden data", pinned.name);
            continue;
        }
        repos.push(repository(pinned).with_context(|| format!("failed to fetch {}", pinned.name))?);
    }
    Ok(repos)
}

/// The folder of golden data, from the environment.
pub(crate) fn golden_folder() -> Option<PathBuf> {
    std::env::var_os("GHOSTBENCH_GOLDEN").map(PathBuf::from)
}

fn repository(pinned: &PinnedRepository) -> Result<Repo> {
    let folder = Path::new(FOLDER).join(format!("{}-{}", pinned.name, pinned.version));
    if !folder.is_dir() {
        let unfinished = folder.with_file_name(format!("{}.unfinished", pinned.name));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        unpack(pinned, &unfinished)?;
        fs::rename(&unfinished, &folder)?;
    }
    let root = folder.join(pinned.sources).canonicalize();
    let root = root.with_context(|| format!("the package holds no `{}`", pinned.sources))?;
    Ok(Repo { pinned: *pinned, root })
}

fn unpack(pinned: &PinnedRepository, target: &Path) -> Result<()> {
    let downloads = Path::new(FOLDER).join("downloads");
    fs::create_dir_all(&downloads)?;
    match pinned.registry {
        Registry::PyPi => unpack_pypi(pinned, &downloads, target),
        Registry::Npm => unpack_npm(pinned, &downloads, target),
        Registry::Cargo => unpack_crate(pinned, &downloads, target),
        Registry::DebianBinary => unpack_debian_binary(pinned, &downloads, target),
        Registry::DebianSource => unpack_debian_source(pinned, &downloads, target),
        Registry::Golden => unpack_golden(pinned, target),
    }
}

fn unpack_pypi(pinned: &PinnedRepository, downloads: &Path, target: &Path) -> Result<()> {
    let requirement = format!("{}=={}", pinned.package, pinned.version);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", pinned.package, "--dest"]);
    process::run(pip.arg(downloads).arg(requirement))?;
    untar(&downloads.join(format!("{}-{}.tar.gz", pinned.package, pinned.version)), target)
}

fn unpack_npm(pinned: &PinnedRepository, downloads: &Path, target: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(downloads);
    process::run(npm.arg(format!("{}@{}", pinned.package, pinned.version)))?;
    let name = pinned.package.trim_start_matches('@').replace('/', "-");
    untar(&downloads.join(format!("{name}-{}.tgz", pinned.version)), target)?;
    remove_built(target)
}

/// Source files of an npm package; the others are build output.
const NPM_SOURCES: &[&str] = &["src", "package.json", "tsconfig.json"];

fn remove_built(package: &Path) -> Result<()> {
    for entry in fs::read_dir(package)? {
        let entry = entry?;
        if NPM_SOURCES.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Uses cargo to vendor the crate as the only dependency of an empty package.
fn unpack_crate(pinned: &PinnedRepository, downloads: &Path, target: &Path) -> Result<()> {
    let user = downloads.join(format!("user-of-{}", pinned.name));
    fs::create_dir_all(user.join("src"))?;
    fs::write(user.join("src/lib.rs"), "")?;
    let version = pinned.version.split('+').next().unwrap_or(pinned.version);
    let manifest = format!(
        "[workspace]\n[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\n{} = {{ version = \"={version}\", default-features = false }}\n",
        pinned.package
    );
    fs::write(user.join("Cargo.toml"), manifest)?;
    let vendored = user.join("vendor");
    let mut cargo = process::cargo();
    cargo.args(["vendor", "--quiet", "--versioned-dirs", "--manifest-path"]).arg(user.join("Cargo.toml"));
    process::output(cargo.arg(&vendored))?;
    fs::rename(vendored.join(format!("{}-{}", pinned.package, pinned.version)), target)?;
    Ok(())
}

fn unpack_debian_binary(pinned: &PinnedRepository, downloads: &Path, target: &Path) -> Result<()> {
    let package = format!("{}={}", pinned.package, pinned.version);
    process::run(apt_get(downloads)?.current_dir(downloads).args(["download", &package]))?;
    let archive = only_file(downloads, &format!("{}_{}_", pinned.package, pinned.version), ".deb")?;
    process::run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(target))
}

/// Unpacks the upstream archive of a source package; Debian's patches are not applied.
fn unpack_debian_source(pinned: &PinnedRepository, downloads: &Path, target: &Path) -> Result<()> {
    let package = format!("{}={}", pinned.package, pinned.version);
    let arguments = ["source", "--download-only", "--tar-only", "--only-source", &package];
    process::run(apt_get(downloads)?.current_dir(downloads).args(arguments))?;
    let upstream = pinned.version.rsplit_once('-').map_or(pinned.version, |(upstream, _)| upstream);
    let archive = only_file(downloads, &format!("{}_{upstream}.orig.tar", pinned.package), "")?;
    untar(&archive, target)
}

/// An `apt-get` with its own state folder, so that the machine's lists stay unchanged. Its sources are the machine's, with
/// source packages enabled.
fn apt_get(downloads: &Path) -> Result<Command> {
    let state = downloads.canonicalize()?.join("apt");
    let configuration = state.join("apt.conf");
    let apt_get = || {
        let mut command = Command::new("apt-get");
        command.arg("-qq").env("APT_CONFIG", &configuration);
        command
    };
    if !configuration.is_file() {
        fs::create_dir_all(state.join("lists/partial"))?;
        fs::create_dir_all(state.join("sources.list.d"))?;
        copy_apt_sources(&state.join("sources.list.d"))?;
        fs::write(&configuration, apt_configuration(&state))?;
        process::run(apt_get().arg("update"))?;
    }
    Ok(apt_get())
}

fn apt_configuration(state: &Path) -> String {
    let state = state.display();
    format!(
        "Dir::State \"{state}\";\n\
         Dir::State::status \"/var/lib/dpkg/status\";\n\
         Dir::Cache \"{state}/cache\";\n\
         Dir::Etc::SourceList \"/dev/null\";\n\
         Dir::Etc::SourceParts \"{state}/sources.list.d\";\n\
         APT::Sandbox::User \"root\";\n"
    )
}

fn copy_apt_sources(target: &Path) -> Result<()> {
    let one_line_list = Path::new("/etc/apt/sources.list");
    if one_line_list.is_file() {
        copy_apt_source(one_line_list, &target.join("sources.list"))?;
    }
    for entry in fs::read_dir("/etc/apt/sources.list.d").context("this part needs Debian's apt")? {
        let entry = entry?;
        copy_apt_source(&entry.path(), &target.join(entry.file_name()))?;
    }
    Ok(())
}

/// Copies an apt source in either notation.
fn copy_apt_source(from: &Path, to: &Path) -> Result<()> {
    let mut with_sources = String::new();
    for line in fs::read_to_string(from)?.lines() {
        if let Some(rest) = line.strip_prefix("deb ") {
            with_sources.push_str(&format!("deb-src {rest}\n"));
        }
        let types = if line.trim() == "Types: deb" { "Types: deb deb-src" } else { line };
        with_sources.push_str(types);
        with_sources.push('\n');
    }
    fs::write(to, with_sources)?;
    Ok(())
}

/// Writes the files of a repository that is one JSON row of the golden data.
fn unpack_golden(pinned: &PinnedRepository, target: &Path) -> Result<()> {
    let golden = golden_folder().context("GHOSTBENCH_GOLDEN is not set")?;
    let rows = fs::read_to_string(golden.join("cceval_repos.jsonl"))?;
    for line in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        if row["id"] == pinned.package {
            return write_golden_files(&row["files"], target);
        }
    }
    bail!("cceval_repos.jsonl holds no `{}`", pinned.package)
}

fn write_golden_files(files: &serde_json::Value, target: &Path) -> Result<()> {
    for (path, text) in files.as_object().context("`files` is no object")? {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(is_inside, "`{path}` leads out of the repository");
        let file = target.join(path);
        fs::create_dir_all(file.parent().context("a file has a folder")?)?;
        fs::write(file, text.as_str().context("a file's text is no string")?)?;
    }
    Ok(())
}

fn untar(archive: &Path, target: &Path) -> Result<()> {
    ensure!(archive.is_file(), "the registry's client did not bring {}", archive.display());
    let mut tar = Command::new("tar");
    process::run(tar.arg("-xf").arg(archive).arg("-C").arg(target).arg("--strip-components=1"))
}

/// Returns the only file with this prefix and suffix; there may be signatures beside the archives.
fn only_file(folder: &Path, start: &str, end: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(start) && name.ends_with(end) && !name.ends_with(".asc") {
            return Ok(folder.join(&*name));
        }
    }
    bail!("the registry's client did not bring {start}*{end}")
}
