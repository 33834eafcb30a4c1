//! Processor time: the share of other programs, as an indicator of the times' reliability, and whether a process is idle.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Processor time since boot, in the kernel's ticks.
struct CpuTicks {
    /// Of all processors, idle or not.
    all: u64,
    /// Used by any process.
    used: u64,
    /// Used by this process and its children that ended.
    ours: u64,
}

/// A measurement that starts at its creation.
pub(super) struct BackgroundLoad {
    start: CpuTicks,
}

impl BackgroundLoad {
    pub(super) fn watch() -> Result<BackgroundLoad> {
        Ok(BackgroundLoad { start: CpuTicks::now()? })
    }

    /// Returns the share of processor time that other programs took since then, in percent.
    pub(super) fn share(&self) -> Result<f64> {
        let now = CpuTicks::now()?;
        let used = now.used - self.start.used;
        let others = used.saturating_sub(now.ours - self.start.ours);
        Ok(100.0 * others as f64 / (now.all - self.start.all).max(1) as f64)
    }
}

/// The kernel's ticks per second: the same on all of Linux, whatever its own clock rate.
const TICKS_PER_SECOND: f64 = 100.0;

/// Returns the processor time of this process and its children that ended, in seconds.
pub(super) fn core_seconds() -> Result<f64> {
    Ok(CpuTicks::now()?.ours as f64 / TICKS_PER_SECOND)
}

/// Waits until a process uses less than a twentieth of a processor for some seconds.
pub(super) fn wait_until_idle(process: u32) -> Result<()> {
    const PERIOD: Duration = Duration::from_secs(3);
    const DEADLINE: Duration = Duration::from_secs(600);
    let ticks = || -> Result<u64> {
        let process = fs::read_to_string(format!("/proc/{process}/stat")).context("the process has ended")?;
        ticks_of_process(&process).context("the kernel's account of processor time is not as expected")
    };
    let (start, mut before) = (Instant::now(), ticks()?);
    loop {
        thread::sleep(PERIOD);
        let now = ticks()?;
        if (now - before) as f64 <= PERIOD.as_secs_f64() * TICKS_PER_SECOND / 20.0 {
            return Ok(());
        }
        ensure!(start.elapsed() < DEADLINE, "the process is still busy after {DEADLINE:?}");
        before = now;
    }
}

/// Returns the ticks of a process and its children that ended: the 14th to 17th field are user and system time of both.
fn ticks_of_process(process: &str) -> Option<u64> {
    let behind_name = process.rsplit_once(") ")?.1.split_whitespace().skip(11).take(4);
    behind_name.map(str::parse::<u64>).sum::<Result<u64, _>>().ok()
}

impl CpuTicks {
    fn now() -> Result<CpuTicks> {
        let machine = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        let process = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
        CpuTicks::parse(&machine, &process)
            .context("the kernel's account of processor time is not as expected")
    }

    /// `machine` begins with `cpu user nice system idle iowait irq softirq steal`.
    fn parse(machine: &str, process: &str) -> Option<CpuTicks> {
        let numbers = |text: &str| text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let machine: Vec<u64> = numbers(machine.lines().next()?.strip_prefix("cpu ")?);
        let idle = machine.get(3..5)?.iter().sum::<u64>();
        let all = machine.get(..8)?.iter().sum::<u64>();
        Some(CpuTicks { all, used: all - idle, ours: ticks_of_process(process)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_ticks_are_parsed_from_proc() {
        let process = "7 (a b) R 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0";
        let ticks = CpuTicks::parse("cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1", process)
            .expect("it is as the kernel writes it");
        assert_eq!((ticks.all, ticks.used, ticks.ours), (531, 81, 127));
    }
}
