//! Peak memory of a child process.

use std::fs;
use std::process::Child;
use std::time::Duration;

use anyhow::Result;

/// Waits for the child and returns its peak resident set in bytes, as of the last poll.
pub(super) fn wait(child: &mut Child) -> Result<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(high_water_mark(&status).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(peak)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
