//! What the arms of a workspace's trials were asked and cost today: `usage-<date>.jsonl` in the folder for trials, one line a
//! request, and one more when its cost is known.
//!
//! Requests are counted in the file before they are sent, so that neither a restart nor a second server begins again at zero. Only the
//! lines that were added since the last look are read, so that counting a request takes some microseconds also at the end of a day.
#![expect(clippy::disallowed_methods, reason = "the counters of a trial are read and written here")]

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cases::TrialArm;
use serde::{Deserialize, Serialize};

/// Largest file that is read, bytes: some hundred thousand requests.
const MAX_BYTES: u64 = 16 << 20;
/// The time for which a rate is limited, in ms.
const MINUTE: u64 = 60_000;
/// Times of requests that are kept for each arm: more a minute than any limit makes sense for.
const MAX_RECENT: usize = 10_000;

const PREFIX: &str = "usage-";
const EXTENSION: &str = ".jsonl";

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct UsageLine<'a> {
    arm: &'a str,
    #[serde(default)]
    requests: u32,
    #[serde(default)]
    cost: f64,
    /// Time of the request in ms since 1970.
    #[serde(default)]
    at: u64,
}

/// Why an arm is not asked.
#[derive(Clone, Debug, PartialEq)]
pub enum UsageRefusal {
    /// Its requests of the last minute.
    PerMinute(u32),
    /// Its requests of the day.
    PerDay(u32),
    /// Its cost of the day.
    Budget(f64),
    /// The file cannot be read or written; the reason.
    Uncounted(String),
}

impl fmt::Display for UsageRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: &u32| if *count == 1 { "" } else { "s" };
        match self {
            UsageRefusal::PerMinute(limit) => write!(f, "limit of {limit} request{} a minute", plural(limit)),
            UsageRefusal::PerDay(limit) => write!(f, "limit of {limit} request{} a day", plural(limit)),
            UsageRefusal::Budget(budget) => write!(f, "budget of {budget} a day"),
            UsageRefusal::Uncounted(reason) => write!(f, "requests cannot be counted: {reason}"),
        }
    }
}

/// The arm of which a limit forbids a request, and the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedArm {
    /// Its name.
    pub arm: String,
    /// The limit.
    pub refusal: UsageRefusal,
}

/// What the arms of a folder's trials were asked and cost today, by all servers.
#[derive(Debug)]
pub struct DailyUsage {
    folder: PathBuf,
    /// The file that was read last.
    path: PathBuf,
    /// Its bytes that were read.
    read: u64,
    arms: HashMap<String, ArmUsage>,
}

/// Requests and cost of one arm today.
#[derive(Debug, Default)]
struct ArmUsage {
    requests: u64,
    cost: f64,
    /// Times of its last requests in ms since 1970.
    recent: VecDeque<u64>,
}

impl DailyUsage {
    /// Creates the counters of a folder for trials, without reading anything.
    pub fn new(folder: PathBuf) -> DailyUsage {
        DailyUsage { folder, path: PathBuf::new(), read: 0, arms: HashMap::new() }
    }

    /// Counts a request of each of these arms, which answer one question together: all are counted, or none. Waits for the disk.
    ///
    /// # Errors
    /// The first arm of which a limit is reached, or whose request cannot be counted. No request must be sent then.
    pub fn admit(&mut self, arms: &[&TrialArm], now: SystemTime) -> Result<(), RefusedArm> {
        let Some(first) = arms.first() else { return Ok(()) };
        let refused = |arm: &TrialArm, refusal| RefusedArm { arm: arm.name.clone(), refusal };
        let uncounted = |error: io::Error| refused(first, UsageRefusal::Uncounted(error.to_string()));
        self.refresh(now).map_err(uncounted)?;
        for arm in arms {
            if let Some(refusal) = self.refusal(arm, now) {
                return Err(refused(arm, refusal));
            }
        }
        let lines = arms
            .iter()
            .map(|arm| UsageLine { arm: &arm.name, requests: 1, cost: 0.0, at: unix_ms(now) })
            .collect::<Vec<_>>();
        self.append(&lines, now).map_err(uncounted)
    }

    /// Counts the cost of an arm's request, in the currency of its engine's prices. Waits for the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_cost(&mut self, arm: &str, cost: f64, now: SystemTime) -> io::Result<()> {
        self.append(&[UsageLine { arm, requests: 0, cost, at: unix_ms(now) }], now)
    }

    fn refusal(&self, arm: &TrialArm, now: SystemTime) -> Option<UsageRefusal> {
        let none = ArmUsage::default();
        let used = self.arms.get(&arm.name).unwrap_or(&none);
        if let Some(limit) = arm.requests_per_day.filter(|limit| used.requests >= u64::from(*limit)) {
            return Some(UsageRefusal::PerDay(limit));
        }
        if let Some(budget) = arm.budget_per_day.filter(|budget| used.cost >= *budget) {
            return Some(UsageRefusal::Budget(budget));
        }
        let limit = arm.requests_per_minute?;
        let now = unix_ms(now);
        // Times in the future are those before the clock was set back.
        let recent = used.recent.iter().filter(|time| now.abs_diff(**time) < MINUTE).count();
        (recent >= limit as usize).then_some(UsageRefusal::PerMinute(limit))
    }

    /// Reads the lines that were added to the file of this day.
    fn refresh(&mut self, now: SystemTime) -> io::Result<()> {
        let path = file(&self.folder, now);
        let length = match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            found => found?.len(),
        };
        if path != self.path || length < self.read {
            // Another day, or the file was removed.
            *self = DailyUsage { path, ..DailyUsage::new(std::mem::take(&mut self.folder)) };
        }
        if length > MAX_BYTES {
            return Err(io::Error::other(format!("{} is too long; remove it", self.path.display())));
        }
        if length == self.read {
            return Ok(());
        }
        let mut added = Vec::new();
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        file.take(length - self.read).read_to_end(&mut added)?;
        // Another server may be writing the last line.
        let complete = added.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.read += complete as u64;
        for line in String::from_utf8_lossy(&added[..complete]).lines() {
            if let Ok(line) = serde_json::from_str::<UsageLine<'_>>(line) {
                self.count(&line);
            }
        }
        Ok(())
    }

    fn count(&mut self, line: &UsageLine<'_>) {
        let used = self.arms.entry(line.arm.to_owned()).or_default();
        used.requests += u64::from(line.requests);
        used.cost += if line.cost.is_finite() { line.cost.max(0.0) } else { 0.0 };
        if line.requests > 0 {
            used.recent.push_back(line.at);
            if used.recent.len() > MAX_RECENT {
                used.recent.pop_front();
            }
        }
    }

    fn append(&self, lines: &[UsageLine<'_>], now: SystemTime) -> io::Result<()> {
        let path = file(&self.folder, now);
        let is_new = !path.exists();
        let mut text = String::new();
        for line in lines {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        private_files::own_folder(&self.folder)?;
        // One write at the end of the file, so that servers do not tear each other's lines.
        private_files::open(OpenOptions::new().append(true).create(true), &path)?
            .write_all(text.as_bytes())?;
        if is_new {
            remove_earlier(&self.folder, &path);
        }
        Ok(())
    }
}

/// Removes the files of earlier days; one that cannot be removed is harmless.
fn remove_earlier(folder: &Path, today: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path != today) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PREFIX) && name.ends_with(EXTENSION) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn file(folder: &Path, now: SystemTime) -> PathBuf {
    folder.join(format!("{PREFIX}{}{EXTENSION}", utc_date(now)))
}

fn unix_ms(now: SystemTime) -> u64 {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the date in UTC: `2026-01-02`.
pub fn utc_date(now: SystemTime) -> String {
    let mut date = humantime::format_rfc3339_seconds(now).to_string();
    date.truncate("2026-01-02".len());
    date
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn arm(requests_per_day: u32) -> TrialArm {
        TrialArm { requests_per_day: Some(requests_per_day), ..TrialArm::new("b".to_owned()) }
    }

    fn day(number: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(number * 24 * 60 * 60)
    }

    #[test]
    fn requests_are_limited_by_day_and_arm_in_all_servers() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let [mut one, mut other] = [0, 1].map(|_| DailyUsage::new(folder.path().to_owned()));
        assert_eq!(one.admit(&[&arm(2)], day(1)), Ok(()));
        assert_eq!(other.admit(&[&arm(2)], day(1)), Ok(()));
        let refused = one.admit(&[&arm(2)], day(1)).expect_err("both servers count");
        assert_eq!(refused.refusal.to_string(), "limit of 2 requests a day");
        assert_eq!(one.admit(&[&TrialArm { name: "c".to_owned(), ..arm(1) }], day(1)), Ok(()));
        assert_eq!(one.admit(&[&arm(2)], day(2)), Ok(()));
        assert_eq!(other.admit(&[&arm(2)], day(2)), Ok(()));
        assert!(other.admit(&[&arm(2)], day(2)).is_err());
        let files = fs::read_dir(folder.path()).expect("it can be read").count();
        assert_eq!(files, 1, "the file of the day before is removed");
    }

    #[test]
    fn arms_of_one_question_are_counted_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let mut usage = DailyUsage::new(folder.path().to_owned());
        let (first, rival) = (arm(10), TrialArm { name: "c".to_owned(), ..arm(1) });
        assert_eq!(usage.admit(&[&first, &rival], day(1)), Ok(()));
        for _ in 0..3 {
            let refused = usage.admit(&[&first, &rival], day(1)).expect_err("the rival is at its limit");
            assert_eq!(refused, RefusedArm { arm: "c".to_owned(), refusal: UsageRefusal::PerDay(1) });
        }
        usage.refresh(day(1)).expect("it can be read");
        assert_eq!((usage.arms["b"].requests, usage.arms["c"].requests), (1, 1));
    }

    #[test]
    fn requests_are_limited_by_minute_also_after_a_restart() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let limited = TrialArm { requests_per_minute: Some(2), ..TrialArm::new("b".to_owned()) };
        let at = |seconds: u64| day(1) + Duration::from_secs(3_600 + seconds);
        let admit =
            |seconds| DailyUsage::new(folder.path().to_owned()).admit(&[&limited], at(seconds)).is_ok();
        assert_eq!([0, 30, 59].map(admit), [true, true, false]);
        assert_eq!([61, 80, 91].map(admit), [true, false, true]);
        let admit = |seconds| DailyUsage::new(folder.path().to_owned()).admit(&[&limited], at(seconds));
        let refusal = admit(92);
        assert_eq!(refusal.clone().map_err(|refused| refused.refusal), Err(UsageRefusal::PerMinute(2)));
        // The clock was set back.
        assert_eq!(admit(50), refusal);
    }

    #[test]
    fn money_is_limited() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let metered = TrialArm { budget_per_day: Some(0.5), ..arm(100) };
        let mut usage = DailyUsage::new(folder.path().to_owned());
        assert_eq!(usage.admit(&[&metered], day(1)), Ok(()));
        usage.add_cost("b", 0.5, day(1)).expect("it can be written");
        let refused = usage.admit(&[&metered], day(1)).expect_err("it has cost that much");
        assert_eq!(refused.refusal.to_string(), "budget of 0.5 a day");
        let without = TrialArm { name: "c".to_owned(), budget_per_day: Some(0.0), ..arm(100) };
        usage.admit(&[&without], day(1)).expect_err("nothing may be spent, not even by the first request");
    }

    #[test]
    fn damaged_lines_count_nothing_and_an_unreadable_file_admits_nothing() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let path = file(folder.path(), day(1));
        fs::write(&path, b"\xff\n{\"arm\":\"b\",\"requests\":1}\n{\"arm\":\"b\",\"cost\":-1e300}\n{\"arm\"")
            .expect("it can be written");
        let mut usage = DailyUsage::new(folder.path().to_owned());
        usage.refresh(day(1)).expect("it can be read");
        assert_eq!((usage.arms["b"].requests, usage.arms["b"].cost), (1, 0.0));
        fs::remove_file(&path).expect("it can be removed");
        fs::create_dir(&path).expect("it can be created");
        let refusal = usage.admit(&[&arm(2)], day(1)).expect_err("it is refused").refusal.to_string();
        assert!(refusal.starts_with("requests cannot be counted"), "{refusal}");
    }
}
