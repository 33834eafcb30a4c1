//! `cargo xtask fuzz`: looks for inputs that break the targets of the package `fuzz`, with libFuzzer.
//!
//! The driver is compiled with counters of its branches, which rustc offers without a nightly version. The C code of tree-sitter has none.
//! Inputs that reach new branches stay in `target/fuzz/corpus`, where the next run begins. They are thousands: the corpus of the
//! repository has examples of each format, and inputs that broke something.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use xtask::process;

/// The package with libFuzzer.
const DRIVER: &str = "fuzz/driver/Cargo.toml";

/// Inputs of the repository: a folder for each target.
const CORPUS: &str = "fuzz/corpus";

/// Everything that is made.
const FOLDER: &str = "target/fuzz";

/// Counters of branches and values of comparisons, as libFuzzer expects them.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Limits of one input: seconds, bytes, and megabytes of memory.
const LIMITS: [&str; 3] = ["-timeout=10", "-max_len=8192", "-rss_limit_mb=2048"];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct FuzzArgs {
    /// Targets; all if none is named
    targets: Vec<String>,
    /// Time for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Fuzzes one target after the other; fails if one of them breaks.
pub(crate) fn run(args: &FuzzArgs) -> Result<()> {
    let targets = if args.targets.is_empty() { all_targets()? } else { args.targets.clone() };
    let driver = build()?;
    let mut broken = Vec::new();
    for target in targets {
        println!("{target}");
        if !fuzz(&driver, &target, args.seconds)? {
            broken.push(target);
        }
    }
    if !broken.is_empty() {
        bail!(
            "inputs that break {} are in {FOLDER}/found; run one by `{}=TARGET {} FILE`, and copy it to {CORPUS}/TARGET",
            broken.join(", "),
            TARGET,
            driver.display()
        );
    }
    Ok(())
}

/// Variable with the name of the target.
const TARGET: &str = "GHOSTBENCH_FUZZ_TARGET";

fn all_targets() -> Result<Vec<String>> {
    let folders = fs::read_dir(CORPUS).context(CORPUS)?;
    let names = folders.map(|folder| Ok(folder?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// Builds the driver and returns its path.
fn build() -> Result<PathBuf> {
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let mut cargo = process::cargo();
    // Build scripts are for the host, without counters: that is what a named platform means.
    cargo.args(["build", "--release", "--manifest-path", DRIVER, "--target-dir", FOLDER, "--target", host]);
    process::run(cargo.env("RUSTFLAGS", FLAGS))?;
    Ok(Path::new(FOLDER).join(host).join("release/fuzz-driver"))
}

/// Fuzzes a target. Returns whether nothing broke.
fn fuzz(driver: &Path, target: &str, seconds: u32) -> Result<bool> {
    let corpus = Path::new(CORPUS).join(target);
    ensure!(corpus.is_dir(), "{} is missing: it has the inputs to start with", corpus.display());
    let (own, found) = (Path::new(FOLDER).join("corpus").join(target), Path::new(FOLDER).join("found"));
    fs::create_dir_all(&own)?;
    fs::create_dir_all(&found)?;
    let mut command = Command::new(driver);
    command.env(TARGET, target).args(LIMITS).arg("-print_final_stats=1");
    command.arg(format!("-max_total_time={}", seconds));
    command.arg(format!("-artifact_prefix={}/{target}-", found.display()));
    Ok(command.arg(&own).arg(&corpus).status()?.success())
}
