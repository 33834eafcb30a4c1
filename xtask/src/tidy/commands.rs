//! Checks by other programs.

use super::Finding;
use xtask::process;

/// Formatting and lints.
pub(crate) fn check() -> Vec<Finding> {
    let lints = [
        &["clippy", "--workspace", "--all-targets", "--locked"][..],
        &process::FEATURES,
        &["--", "-D", "warnings"],
    ]
    .concat();
    let commands = [
        (vec!["fmt", "--all", "--check", "--", "-l"], "run `cargo fmt --all`"),
        (lints, "see the messages of clippy above"),
    ];
    let failed =
        commands.iter().filter(|(arguments, _)| process::run(process::cargo().args(arguments)).is_err());
    failed.map(|(_, remedy)| Finding::new("Cargo.toml", *remedy)).collect()
}
