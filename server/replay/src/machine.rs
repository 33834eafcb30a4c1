//! The machine on which times are measured.

use std::num::NonZeroUsize;
use std::thread;

use cases::Machine;

/// Describes this machine.
pub(crate) fn machine() -> Machine {
    Machine {
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        cpu: cpu().unwrap_or_else(|| "unknown".to_owned()),
        cores: cores() as u64,
    }
}

/// Returns the number of processors available to this process.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Returns the processor's name on Linux; other platforms are not worth a dependency.
fn cpu() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
