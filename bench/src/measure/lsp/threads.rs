//! Whether a process computes, from the kernel's thread states.

use std::fs;

use anyhow::{Context, Result};

/// Whether any thread of the process is running, runnable, or waiting for memory.
pub(super) fn any_runs(process: u32) -> Result<bool> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).context("cannot list the server's threads")?;
    for task in tasks {
        // A thread that has just ended does not run.
        let Ok(stat) = fs::read_to_string(task?.path().join("stat")) else { continue };
        if state(&stat).is_some_and(|state| ["R", "D"].contains(&state)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the state in a line of `/proc/*/stat`: it follows the name, which is in brackets and may contain any character.
fn state(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ")?.1.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_state_is_parsed_after_the_name() {
        assert_eq!(state("17 (a thread) S 1 17"), Some("S"));
        assert_eq!(state("17 (R) R (x) R 1 17"), Some("R"));
        assert_eq!(state(""), None);
    }
}
