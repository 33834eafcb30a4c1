//! Memory, threads and open files of the server over the day.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Resources of a process at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourceSample {
    /// Bytes of memory that belong to the process alone.
    pub(super) anonymous: u64,
    /// Bytes of mapped files in memory, which the system can drop at any time.
    pub(super) mapped: u64,
    pub(super) threads: u64,
    /// Open files, sockets and pipes.
    pub(super) handles: u64,
}

impl ResourceSample {
    /// Reads the resources of a process.
    pub(super) fn of(process: u32) -> Result<ResourceSample> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).context("the server has ended")?;
        let handles = fs::read_dir(format!("/proc/{process}/fd"))?.count() as u64;
        ResourceSample::parse(&status, handles).context("the kernel's account of memory is not as expected")
    }

    fn parse(status: &str, handles: u64) -> Option<ResourceSample> {
        let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let bytes = |name| Some(value(name)?.strip_suffix(" kB")?.parse::<u64>().ok()? << 10);
        Some(ResourceSample {
            anonymous: bytes("RssAnon:")?,
            mapped: bytes("RssFile:")?,
            threads: value("Threads:")?.parse().ok()?,
            handles,
        })
    }
}

/// The samples of a day.
pub(super) struct ResourceHistory {
    length: Duration,
    samples: Vec<(Duration, ResourceSample)>,
}

impl ResourceHistory {
    pub(super) fn new(length: Duration) -> ResourceHistory {
        ResourceHistory { length, samples: Vec::new() }
    }

    pub(super) fn push(&mut self, time: Duration, sample: ResourceSample) {
        self.samples.push((time, sample));
    }

    /// The values of one tenth of the time, counted from 0.
    fn tenth(&self, number: u32, value: fn(&ResourceSample) -> u64) -> Vec<u64> {
        let (start, end) = (self.length * number / 10, self.length * (number + 1) / 10);
        let inside = self.samples.iter().filter(|(time, _)| (start..end).contains(time));
        inside.map(|(_, sample)| value(sample)).collect()
    }

    /// The values after the first tenth, in which caches fill.
    fn after_warm_up(&self, value: fn(&ResourceSample) -> u64) -> impl Iterator<Item = u64> {
        let start = self.length / 10;
        self.samples.iter().filter(move |(time, _)| *time >= start).map(move |(_, sample)| value(sample))
    }

    /// Means of the second and the last tenth.
    pub(super) fn means(&self, value: fn(&ResourceSample) -> u64) -> [f64; 2] {
        [1, 9].map(|number| {
            let values = self.tenth(number, value);
            values.iter().sum::<u64>() as f64 / values.len() as f64
        })
    }

    /// Growth from the second to the last tenth, as a share.
    pub(super) fn growth(&self, value: fn(&ResourceSample) -> u64) -> f64 {
        let [first, last] = self.means(value);
        last / first - 1.0
    }

    /// Smallest and largest value after the warm-up.
    pub(super) fn ranges(&self, value: fn(&ResourceSample) -> u64) -> (u64, u64) {
        let values = || self.after_warm_up(value);
        (values().min().unwrap_or_default(), values().max().unwrap_or_default())
    }

    /// Whether the largest value of the last tenth is not above that of the second one.
    pub(super) fn is_constant(&self, value: fn(&ResourceSample) -> u64) -> bool {
        let [first, last] = [1, 9].map(|number| self.tenth(number, value).into_iter().max());
        last <= first
    }
}

/// Row of an amount of memory.
pub(super) fn memory_row(what: &str, history: &ResourceHistory, value: fn(&ResourceSample) -> u64) -> String {
    let ([first, last], (least, most)) = (history.means(value), history.ranges(value));
    format!(
        "| {what} | {:.1} to {:.1}, between {:.1} and {:.1} |  |  |",
        first / 1e6,
        last / 1e6,
        least as f64 / 1e6,
        most as f64 / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_is_parsed_from_proc() {
        let status = "Name:\tx\nVmRSS:\t 30 kB\nRssAnon:\t 10 kB\nRssFile:\t 20 kB\nThreads:\t7\n";
        let sample = ResourceSample { anonymous: 10 << 10, mapped: 20 << 10, threads: 7, handles: 9 };
        assert_eq!(ResourceSample::parse(status, 9), Some(sample));
        assert_eq!(ResourceSample::parse("RssAnon: 1 kB\n", 9), None);
    }

    #[test]
    fn growth_is_that_after_the_warm_up() {
        let mut history = ResourceHistory::new(Duration::from_secs(100));
        for (second, threads) in [(1, 90), (12, 10), (17, 30), (50, 60), (92, 20), (97, 24)] {
            let sample = ResourceSample { threads, ..ResourceSample::default() };
            history.push(Duration::from_secs(second), sample);
        }
        let threads = |sample: &ResourceSample| sample.threads;
        assert_eq!(history.ranges(threads), (10, 60));
        assert!((history.growth(threads) - 0.1).abs() < 1e-9);
        assert!(history.is_constant(threads));
        history.push(Duration::from_secs(99), ResourceSample { threads: 31, ..ResourceSample::default() });
        assert!(!history.is_constant(threads));
    }
}
