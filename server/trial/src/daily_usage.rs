//! What the arms of a workspace's trials were asked and cost today: `usage-<date>.jsonl` in the folder for trials, one line a
//! request, and one more when its cost is known.
//!
//! Requests are counted in the file before they are sent, so that neither a restart nor a second server begins again at zero.
#![expect(clippy::disallowed_methods, reason = "the counters of a trial are read and written here")]

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cases::TrialArm;
use serde::{Deserialize, Serialize};

/// Largest file that is read, bytes: some hundred thousand requests.
const MAX_BYTES: u64 = 16 << 20;

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
}

/// Counts a request of an arm, unless one of its limits of the day is reached: then returns the reason not to ask.
pub fn admit_request(folder: &Path, arm: &TrialArm, now: SystemTime) -> Option<String> {
    match try_admit(folder, arm, now) {
        Ok(refusal) => refusal,
        Err(error) => Some(format!("requests cannot be counted: {error}")),
    }
}

fn try_admit(folder: &Path, arm: &TrialArm, now: SystemTime) -> io::Result<Option<String>> {
    let (requests, cost) = used(folder, &arm.name, now)?;
    if requests >= u64::from(arm.requests_per_day) {
        return Ok(Some(format!("limit of {} requests a day", arm.requests_per_day)));
    }
    if let Some(budget) = arm.budget_per_day.filter(|budget| cost >= *budget) {
        return Ok(Some(format!("budget of {budget} a day")));
    }
    append(folder, &UsageLine { arm: &arm.name, requests: 1, cost: 0.0 }, now)?;
    Ok(None)
}

/// Counts the cost of an arm's request, in the currency of its engine's prices.
///
/// # Errors
/// The file cannot be written.
pub fn add_cost(folder: &Path, arm: &str, cost: f64, now: SystemTime) -> io::Result<()> {
    append(folder, &UsageLine { arm, requests: 0, cost }, now)
}

/// Returns the requests and the cost of an arm on this day.
fn used(folder: &Path, arm: &str, now: SystemTime) -> io::Result<(u64, f64)> {
    let path = file(folder, now);
    match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((0, 0.0)),
        Ok(found) if found.len() > MAX_BYTES => {
            return Err(io::Error::other(format!("{} is too long; remove it", path.display())));
        }
        found => found?,
    };
    let bytes = fs::read(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<UsageLine<'_>>(line).ok());
    Ok(lines.filter(|line| line.arm == arm).fold((0, 0.0), |(requests, cost), line| {
        let spent = if line.cost.is_finite() { line.cost.max(0.0) } else { 0.0 };
        (requests + u64::from(line.requests), cost + spent)
    }))
}

fn append(folder: &Path, line: &UsageLine<'_>, now: SystemTime) -> io::Result<()> {
    let path = file(folder, now);
    let is_new = !path.exists();
    let mut line = serde_json::to_string(line)?;
    line.push('\n');
    private_files::own_folder(folder)?;
    // One write at the end of the file, so that servers do not tear each other's lines.
    private_files::open(OpenOptions::new().append(true).create(true), &path)?.write_all(line.as_bytes())?;
    if is_new {
        remove_earlier(folder, &path);
    }
    Ok(())
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

    fn arm(requests_per_day: u32, budget_per_day: Option<f64>) -> TrialArm {
        TrialArm { name: "b".to_owned(), weight: 1.0, requests_per_day, budget_per_day }
    }

    fn day(number: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(number * 24 * 60 * 60)
    }

    #[test]
    fn requests_are_limited_by_day_and_arm() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let admit = |arm: &TrialArm, now| admit_request(folder.path(), arm, now);
        let other = TrialArm { name: "c".to_owned(), ..arm(1, None) };
        assert_eq!(admit(&arm(2, None), day(1)), None);
        assert_eq!(admit(&arm(2, None), day(1)), None);
        assert_eq!(admit(&arm(2, None), day(1)).as_deref(), Some("limit of 2 requests a day"));
        assert_eq!(admit(&other, day(1)), None);
        assert_eq!(admit(&arm(2, None), day(2)), None);
        let files = fs::read_dir(folder.path()).expect("it can be read").count();
        assert_eq!(files, 1, "the file of the day before is removed");
    }

    #[test]
    fn money_is_limited() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let metered = arm(100, Some(0.5));
        assert_eq!(admit_request(folder.path(), &metered, day(1)), None);
        add_cost(folder.path(), "b", 0.5, day(1)).expect("it can be written");
        assert_eq!(admit_request(folder.path(), &metered, day(1)).as_deref(), Some("budget of 0.5 a day"));
    }

    #[test]
    fn damaged_lines_count_nothing_and_an_unreadable_file_admits_nothing() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let path = file(folder.path(), day(1));
        fs::write(&path, b"\xff\n{\"arm\":\"b\",\"requests\":1}\n{\"arm\":\"b\",\"cost\":-1e300}\n{\"arm\"")
            .expect("it can be written");
        assert_eq!(used(folder.path(), "b", day(1)).expect("it can be read"), (1, 0.0));
        fs::remove_file(&path).expect("it can be removed");
        fs::create_dir(&path).expect("it can be created");
        let refusal = admit_request(folder.path(), &arm(2, None), day(1)).expect("it is refused");
        assert!(refusal.starts_with("requests cannot be counted"), "{refusal}");
    }
}
