//! Runs other programs, prints their commands, and names the command in errors.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Features that are off by default. Every step of the tests builds with them: other features compile most dependencies a second time.
pub const FEATURES: [&str; 2] = ["--features", "cli/postgres"];

/// Returns the root folder of the repository that this program was built from.
pub fn repository_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ lies in the repository")
}

/// Returns the cargo that started this task.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Prints and runs the command; any exit code but 0 is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let status = command.status().with_context(|| format!("failed to start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// Runs the command with the lowest priority, where a program sets that. Prints what it prints only if it fails, in the error.
pub fn run_in_background(command: &Command) -> Result<()> {
    let mut words = vec![command.get_program()];
    if is_installed("nice") {
        words.splice(..0, ["nice", "-n", "19"].map(OsStr::new));
    }
    let mut background = Command::new(words[0]);
    let shown = show(background.args(&words[1..]).args(command.get_args()));
    println!("$ {shown}");
    let output = background.output().with_context(|| format!("failed to start `{shown}`"))?;
    if !output.status.success() {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("`{shown}` failed: {}\n{out}{err}", output.status);
    }
    Ok(())
}

/// Runs the command and returns its output; its standard error is inherited.
pub fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("failed to start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed invalid UTF-8"))
}

/// Whether a program of this name is in `PATH`.
pub fn is_installed(program: &str) -> bool {
    find_program(program).is_some()
}

/// Returns the file of the program of this name in `PATH`.
pub fn find_program(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&paths).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

/// Returns the command as typed in a shell.
fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
