//! Values of arguments: their types and parsers. Messages say which form is expected.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ::engines::ScriptedReply;
use cases::{Metric, Scenario};
use scoring::VerdictSettings;
use scoring::gate::{Condition, ConditionError};
use scoring::trial_scoreboard::{NetWeights, TrialMetric};
use syntax::Language;

/// Input of the retrieval.
#[derive(Clone, Debug)]
pub(crate) enum RetrieveTarget {
    /// One position.
    Place(CursorArg),
    /// The positions of a suite's cases.
    Suite(PathBuf),
}

/// A position in a file.
#[derive(Clone, Debug)]
pub(crate) struct CursorArg {
    /// The file.
    pub(crate) path: PathBuf,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
}

/// Parses a position or the path of a suite. Text that ends in two numbers is a position, in the forms used by editors and compilers.
pub(super) fn parse_target(word: &str) -> Result<RetrieveTarget, String> {
    match cursor_in(word) {
        Some(place) => Ok(RetrieveTarget::Place(place?)),
        None if word.ends_with(".jsonl") || Path::new(word).is_file() => {
            Ok(RetrieveTarget::Suite(word.into()))
        }
        None => Err("name a place as FILE:LINE:COLUMN, or a suite (a .jsonl file)".to_owned()),
    }
}

pub(super) fn parse_cursor(word: &str) -> Result<CursorArg, String> {
    cursor_in(word).unwrap_or_else(|| Err("name a place as FILE:LINE:COLUMN".to_owned()))
}

/// Parses `FILE:LINE:COLUMN`, with or without a final colon, or `FILE(LINE,COLUMN)`; `None` if the text is no position.
fn cursor_in(word: &str) -> Option<Result<CursorArg, String>> {
    let is_number = |text: &str| {
        let digits = text.trim_start_matches(['-', '+']);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let bare = word.strip_suffix(':').unwrap_or(word);
    let with_colons = || {
        let (rest, column) = bare.rsplit_once(':')?;
        let (path, line) = rest.rsplit_once(':')?;
        Some((path, line, column)).filter(|_| is_number(line) && is_number(column))
    };
    let Some((path, line, column)) = with_colons().or_else(|| {
        let (path, numbers) = bare.strip_suffix(')')?.rsplit_once('(')?;
        let (line, column) = numbers.split_once(',')?;
        Some((path, line, column)).filter(|_| is_number(line) && is_number(column))
    }) else {
        let has_line = bare.rsplit_once(':').is_some_and(|(_, line)| is_number(line));
        if has_line {
            return Some(Err("name the column too: FILE:LINE:COLUMN".to_owned()));
        }
        let is_code = Language::from_path(word).is_some();
        return is_code.then(|| Err(format!("name the line and the column too: {word}:LINE:COLUMN")));
    };
    Some(match (line.parse(), column.parse()) {
        (Ok(line @ 1..), Ok(column @ 1..)) => Ok(CursorArg { path: path.into(), line, column }),
        _ => Err(format!("lines and columns count from 1 to {}", u32::MAX)),
    })
}

/// Parses an amount of money.
pub(super) fn parse_amount(word: &str) -> Result<f64, String> {
    let amount = word.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "name an amount such as 2.50, without a currency".to_owned())
}

pub(super) fn parse_rules(json: &str) -> Result<Arc<[ScriptedReply]>, String> {
    serde_json::from_str(json)
        .map(|rules: Vec<ScriptedReply>| rules.into())
        .map_err(|error| error.to_string())
}

pub(super) fn parse_ranking_metric(word: &str) -> Result<Metric, String> {
    let ranks = |metric: &Metric| VerdictSettings::check_metric(*metric).is_ok();
    word.parse().ok().filter(ranks).ok_or_else(|| {
        let known: Vec<&str> = Metric::ALL.iter().copied().filter(ranks).map(Metric::name).collect();
        format!("metrics that rank engines are {}", known.join(", "))
    })
}

/// Parses a metric that decides a trial: one that replays and trials have.
pub(super) fn parse_trial_metric(word: &str) -> Result<Metric, String> {
    let is_of_trials = |metric: &Metric| metric.name().parse::<TrialMetric>().is_ok();
    word.parse().ok().filter(is_of_trials).ok_or_else(|| {
        let known = Metric::ALL.iter().copied().filter(is_of_trials).map(Metric::name);
        format!("metrics that decide trials are {}", known.collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn parse_date(word: &str) -> Result<String, String> {
    if config::is_date(word) {
        Ok(word.to_owned())
    } else {
        Err("write a date as 2025-06-30 or 2025-06".to_owned())
    }
}

pub(super) fn parse_condition(text: &str) -> Result<Condition, ConditionError> {
    text.parse()
}

/// Parses percentage points, `1pt` or `1%`, and returns them as a share.
pub(super) fn parse_margin(word: &str) -> Result<f64, String> {
    let number = word.strip_suffix("pt").or_else(|| word.strip_suffix('%'));
    let points = number.and_then(|number| number.trim().parse::<f64>().ok());
    let valid = points.filter(|points| *points > 0.0 && *points < 100.0);
    valid
        .map(|points| points / 100.0)
        .ok_or_else(|| "write points above 0 and below 100, such as 1pt or 0.5pt".to_owned())
}

/// Parses three finite numbers, such as `0.75,-0.25,0`.
pub(super) fn parse_weights(word: &str) -> Result<NetWeights, String> {
    let numbers: Option<Vec<f64>> = word
        .split(',')
        .map(|number| number.trim().parse::<f64>().ok().filter(|number| number.is_finite()))
        .collect();
    match numbers.as_deref() {
        Some(&[accepted, rejected, silent]) => Ok(NetWeights { accepted, rejected, silent }),
        _ => Err("write three numbers, for accepted, rejected and silent, such as 0.75,-0.25,0".to_owned()),
    }
}

pub(super) fn parse_scenario(word: &str) -> Result<Scenario, String> {
    let scenario: Scenario = word.parse().map_err(|_| known_scenarios())?;
    if mining::SCENARIOS.contains(&scenario) { Ok(scenario) } else { Err(known_scenarios()) }
}

fn known_scenarios() -> String {
    format!("known are {}", mining::SCENARIOS.map(Scenario::name).join(", "))
}

/// Parses a share of opportunities at which nothing is shown.
pub(super) fn parse_holdout(word: &str) -> Result<f64, String> {
    let share = word.parse::<f64>().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "name a share from 0 to below 1, such as 0.1".to_owned())
}

/// Parses `ENGINE=NUMBER`, a number above 0. Names may contain `=`.
pub(super) fn parse_arm_number(word: &str) -> Result<(String, f64), String> {
    let pair = word.rsplit_once('=').and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?)));
    let valid = pair.filter(|(name, number)| !name.is_empty() && number.is_finite() && *number > 0.0);
    valid
        .map(|(name, number)| (name.to_owned(), number))
        .ok_or_else(|| "write ENGINE=NUMBER with a number above 0, such as qwen=1.5".to_owned())
}

/// Parses `ENGINE=COUNT`, a count above 0.
pub(super) fn parse_arm_limit(word: &str) -> Result<(String, u32), String> {
    let pair = word.rsplit_once('=').and_then(|(name, number)| Some((name, number.parse::<u32>().ok()?)));
    let valid = pair.filter(|(name, number)| !name.is_empty() && *number > 0);
    valid
        .map(|(name, number)| (name.to_owned(), number))
        .ok_or_else(|| "write ENGINE=COUNT with a count above 0, such as qwen=500".to_owned())
}

/// Parses a moment: a day, a time in RFC 3339, or an age. Returns ms since 1970.
pub(super) fn parse_moment(word: &str) -> Result<i64, String> {
    let day = || humantime::parse_rfc3339(&format!("{word}T00:00:00Z")).ok();
    let age = || SystemTime::now().checked_sub(humantime::parse_duration(word).ok()?);
    let moment = humantime::parse_rfc3339(word).ok().or_else(day).or_else(age);
    let since = moment.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).ok_or_else(|| {
        "write a day such as 2026-01-31, a time such as 2026-01-31T08:00:00Z, or an age such as 7d".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_times_and_ages() {
        assert_eq!(parse_moment("1970-01-02"), Ok(86_400_000));
        assert_eq!(parse_moment("1970-01-01T00:00:01Z"), Ok(1_000));
        let (now, hour) = (parse_moment("0s").expect("now"), parse_moment("1h").expect("an hour ago"));
        assert!((3_599_000..=3_601_000).contains(&(now - hour)));
        for word in ["", "yesterday", "2026-13-01", "99999999999y"] {
            parse_moment(word).unwrap_err();
        }
    }

    #[test]
    fn limits_of_arms_name_an_engine_and_a_number() {
        assert_eq!(parse_arm_number("a=b=1.5"), Ok(("a=b".to_owned(), 1.5)));
        assert_eq!(parse_arm_limit("qwen=5"), Ok(("qwen".to_owned(), 5)));
        for word in ["qwen", "=1", "qwen=0", "qwen=-1", "qwen=nan", "qwen=inf"] {
            parse_arm_number(word).unwrap_err();
            parse_arm_limit(word).unwrap_err();
        }
    }
}
