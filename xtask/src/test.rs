//! `cargo xtask test`: one command from a fresh checkout to all tests run.
//!
//! It installs what is missing, checks the house rules, builds the binary that the end-to-end tests drive and runs every
//! test. All steps run even when one fails, so that one call tells everything. The end-to-end tests drive the debug
//! build: it shares its dependencies with the other tests.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{process, tidy};

/// Runs everything; `nextest_args` go to `cargo nextest run`.
pub(crate) fn run(nextest_args: &[String]) -> Result<()> {
    install_nextest()?;
    install_chromium()?;
    let steps = [
        ("tidy", tidy::check()),
        ("the binary", process::run(process::cargo().args(["build", "--package", "cli"]))),
        ("tests", run_tests(nextest_args)),
        ("documentation tests", process::run(process::cargo().args(["test", "--workspace", "--doc"]))),
    ];
    let failed: Vec<_> = steps.into_iter().filter_map(|(name, result)| Some((name, result.err()?))).collect();
    for (name, error) in &failed {
        eprintln!("FAILED {name}: {error:#}");
    }
    if !failed.is_empty() {
        bail!("{} of the steps failed", failed.len());
    }
    println!("all tests passed");
    Ok(())
}

fn run_tests(nextest_args: &[String]) -> Result<()> {
    let mut cargo = process::cargo();
    cargo.args(["nextest", "run", "--workspace"]).args(nextest_args);
    // Tests run in the folder of their package, so a relative path must become an absolute one here.
    if let Some(golden) = env::var_os("GHOSTBENCH_GOLDEN") {
        let absolute = Path::new(&golden).canonicalize();
        let absolute = absolute.with_context(|| format!("GHOSTBENCH_GOLDEN names {}", golden.display()))?;
        cargo.env("GHOSTBENCH_GOLDEN", absolute);
    }
    process::run(&mut cargo)
}

fn install_nextest() -> Result<()> {
    if process::is_installed("cargo-nextest") {
        return Ok(());
    }
    process::run(process::cargo().args(["install", "--locked", "cargo-nextest"]))
}

/// The browser that opens the HTML report in an end-to-end test.
fn install_chromium() -> Result<()> {
    if process::is_installed("chromium") {
        return Ok(());
    }
    if process::is_installed("apt-get") && is_root() {
        process::run(Command::new("apt-get").args(["-qq", "update"]))?;
        let arguments = ["-qq", "install", "--yes", "--no-install-recommends", "chromium"];
        return process::run(
            Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"),
        );
    }
    let remedy = "chromium is not installed; install it with the system's package manager";
    if env::var_os("CI").is_some() {
        bail!("{remedy}: under CI no test may be skipped");
    }
    eprintln!("SKIPPED the tests in a browser: {remedy}");
    Ok(())
}

fn is_root() -> bool {
    process::output(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}
