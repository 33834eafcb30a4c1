//! `cargo xtask test`: one command from a fresh checkout to all tests run.
//!
//! It installs missing components, checks the house rules, compiles and runs every test. All steps run even if one fails, so that
//! one call reports everything. The end-to-end tests use the debug build, which shares its dependencies with the other tests.
//!
//! Steps that wait for something else than the processor run beside others: components are installed, mostly downloaded, while the
//! tests compile; and many tests wait for an editor or a server, while the documentation is checked.

use std::env;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use xtask::{components, extension, process};

use crate::tidy;

/// Environment variables with folders of test data that is not in the repository.
const TEST_DATA: [&str; 2] = ["GHOSTBENCH_GOLDEN", "GHOSTBENCH_HISTORIES"];

/// Runs everything; `nextest_args` are passed to `cargo nextest run`.
pub(crate) fn run(nextest_args: &[String]) -> Result<()> {
    let ([tidy, compilation], (installation, components)) = thread::scope(|scope| {
        let installation = scope.spawn(|| timed_value("components", components::install));
        let steps = [timed("tidy", tidy::check), timed("compilation", compile)];
        (steps, installation.join().expect("the installation does not panic"))
    });
    let extension = timed("the VS Code extension", extension::build);
    let (tests, documentation) = thread::scope(|scope| {
        let documentation = scope.spawn(|| timed("documentation", check_documentation));
        let tests = timed("tests", || match components {
            Some(components) => run_tests(nextest_args, components),
            None => bail!("they need the components"),
        });
        (tests, documentation.join().expect("the checks do not panic"))
    });
    let steps = [installation, tidy, compilation, extension, tests, documentation];
    for Step { name, seconds, .. } in &steps {
        println!("{seconds:6} s  {name}");
    }
    let failed: Vec<_> = steps.into_iter().filter_map(|step| Some((step.name, step.result.err()?))).collect();
    for (name, error) in &failed {
        eprintln!("FAILED {name}: {error:#}");
    }
    if !failed.is_empty() {
        bail!("{} of the steps failed", failed.len());
    }
    println!("all tests passed");
    Ok(())
}

/// A finished step of the tests.
struct Step {
    name: &'static str,
    result: Result<()>,
    seconds: u64,
}

fn timed(name: &'static str, run: impl FnOnce() -> Result<()>) -> Step {
    timed_value(name, run).0
}

/// Also returns the step's value, unless it fails.
fn timed_value<T>(name: &'static str, run: impl FnOnce() -> Result<T>) -> (Step, Option<T>) {
    let start = Instant::now();
    let (result, value) = match run() {
        Ok(value) => (Ok(()), Some(value)),
        Err(error) => (Err(error), None),
    };
    (Step { name, result, seconds: start.elapsed().as_secs() }, value)
}

/// Builds the binary of the end-to-end tests and all tests in one call: a call for the binary alone selects other features, and
/// compiles most dependencies a second time.
fn compile() -> Result<()> {
    process::run(
        process::cargo()
            .args(["build", "--workspace", "--bins", "--tests", "--examples"])
            .args(process::FEATURES),
    )
}

/// Runs the examples in the documentation, and builds that of all items, also private ones: a link to a name that does not exist is an
/// error. Has the lowest priority, and prints nothing until it is done, because the tests run beside it.
fn check_documentation() -> Result<()> {
    let examples = ["test", "--workspace", "--doc", "--quiet"];
    let links = ["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"];
    let check = |arguments: &[&str]| {
        process::run_in_background(process::cargo().args(arguments).args(process::FEATURES))
    };
    let (examples, links) = (check(&examples), check(&links));
    examples.and(links)
}

fn run_tests(nextest_args: &[String], components: Vec<(&str, PathBuf)>) -> Result<()> {
    let mut cargo = process::cargo();
    cargo.args(["nextest", "run", "--workspace"]).args(process::FEATURES).args(nextest_args).envs(components);
    // Tests run in the folder of their package, so a relative path must become an absolute one here.
    for variable in TEST_DATA {
        let Some(folder) = env::var_os(variable) else { continue };
        let absolute = Path::new(&folder).canonicalize();
        cargo.env(variable, absolute.with_context(|| format!("{variable} names {}", folder.display()))?);
    }
    process::run(&mut cargo)
}
