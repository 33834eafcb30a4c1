//! Checks by other programs.

use super::Finding;
use xtask::process;

/// Formatting and lints.
pub(crate) fn check() -> Vec<Finding> {
    let commands: &[(&[&str], &str)] = &[
        (&["fmt", "--all", "--check", "--", "-l"], "run `cargo fmt --all`"),
        (
            &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            "see the messages of clippy above",
        ),
    ];
    let failed =
        commands.iter().filter(|(arguments, _)| process::run(process::cargo().args(*arguments)).is_err());
    failed.map(|(_, remedy)| Finding::new("Cargo.toml", *remedy)).collect()
}
