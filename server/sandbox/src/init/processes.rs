//! The processes that a command starts: their limits, their use of memory, and their end.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, setrlimit, setsid, wait,
};

use crate::limits::Limits;

/// Rounds of killing: a process that is started in one is killed in the next.
const KILL_ROUNDS: usize = 200;

/// Memory and threads of all processes below this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Resident memory; pages that processes share count for each.
    pub(super) memory_bytes: u64,
    /// Threads of all processes.
    pub(super) threads: u32,
}

/// Makes this process the parent of processes whose own parent ends, and keeps them from reading its memory and files.
pub(super) fn become_reaper() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        let failed = |error: rustix::io::Errno| format!("prctl: {error}");
        rustix::process::set_child_subreaper(Some(getpid())).map_err(failed)?;
        let hidden = rustix::process::DumpableBehavior::NotDumpable;
        rustix::process::set_dumpable_behavior(hidden).map_err(failed)?;
    }
    Ok(())
}

/// Limits each process of a command, and puts them into a session of their own.
pub(super) fn limit(command: &mut Command, limits: Limits) {
    let limits = [
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.disk_bytes),
        (Resource::Core, 0),
        (Resource::Nproc, u64::from(limits.processes)),
    ];
    #[expect(unsafe_code, reason = "the only way to limit a program before it starts")]
    // SAFETY: system calls only, which are safe between fork and exec.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            for (resource, limit) in limits {
                // A lower limit of the system stays.
                let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
            }
            Ok(())
        });
    }
}

/// Kills all processes below this one and waits for them.
pub(super) fn kill_all() {
    for _ in 0..KILL_ROUNDS {
        let rest = descendants();
        for pid in rest.keys().filter_map(|&pid| Pid::from_raw(pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if rest.is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Returns the usage of the processes below this one.
pub(super) fn usage() -> Usage {
    descendants().values().fold(Usage::default(), |sum, usage| Usage {
        memory_bytes: sum.memory_bytes + usage.memory_bytes,
        threads: sum.threads + usage.threads,
    })
}

/// Returns the processes below this one. Zombies count, because they are to be waited for.
fn descendants() -> HashMap<i32, Usage> {
    let mut processes: HashMap<i32, (i32, Usage)> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(status) =
            fs::read_to_string(entry.path().join("stat")).ok().as_deref().and_then(parse_stat)
        {
            processes.insert(pid, status);
        }
    }
    let own = getpid().as_raw_nonzero().get();
    let is_below = |mut pid: i32| {
        // Ids are used again, so parents might form a circle in the list.
        for _ in 0..processes.len() {
            let Some(&(parent, _)) = processes.get(&pid) else { return false };
            if parent == own {
                return true;
            }
            pid = parent;
        }
        false
    };
    processes
        .iter()
        .filter(|&(&pid, _)| pid != own && is_below(pid))
        .map(|(&pid, &(_, usage))| (pid, usage))
        .collect()
}

/// Returns the parent and the usage in a line of `/proc/PID/stat`, see proc(5). The name of the program, which is in parentheses, may
/// contain anything.
fn parse_stat(line: &str) -> Option<(i32, Usage)> {
    let (_, fields) = line.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let pages: u64 = fields.get(21)?.parse().ok()?;
    let usage = Usage {
        memory_bytes: pages.saturating_mul(rustix::param::page_size() as u64),
        threads: fields.get(17)?.parse().ok()?,
    };
    Some((fields.get(1)?.parse().ok()?, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_of_a_program_with_a_misleading_name_is_read() {
        let line =
            "7 (a) S 1 (b) R 3 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 5 0 100 4096 10 18446744073709551615";
        let page = rustix::param::page_size() as u64;
        assert_eq!(parse_stat(line), Some((3, Usage { memory_bytes: 10 * page, threads: 5 })));
        assert_eq!(parse_stat("7 (a) S 1"), None);
    }

    #[test]
    fn own_process_is_not_below_itself() {
        assert!(!descendants().contains_key(&getpid().as_raw_nonzero().get()));
    }
}
