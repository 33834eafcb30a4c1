//! Words and cells of a verdict, shared by the terminal and Markdown.

use cases::Metric;
use scoring::Verdict;
use scoring::verdict::{ALPHA, Claim, MarginVerdict, POWER, PairVerdict, Quality, SampleSize, Standing};

use crate::format::{self, Alphabet};

/// Smaller p-values are not written out.
const SMALLEST_P: f64 = 0.001;

/// Title of the verdict: `verdict: exact match within 300 ms`.
pub(crate) fn title(verdict: &Verdict) -> String {
    let within = verdict.deadline.map(|deadline| format!(" within {}", format::duration(deadline)));
    format!("verdict: {}{}", verdict.metric.spec().label, within.unwrap_or_default())
}

/// Returns the ranking in one line, `good > builtin = llama > weak`; `None` for fewer than two engines.
pub(crate) fn groups(verdict: &Verdict, name: impl Fn(usize) -> String) -> Option<String> {
    let line = verdict
        .groups
        .iter()
        .map(|group| group.iter().map(|&it| name(it)).collect::<Vec<_>>().join(" = "))
        .collect::<Vec<_>>()
        .join(" > ");
    (verdict.standings.len() > 1).then_some(line)
}

/// Explains the line of [`groups`].
pub(crate) fn groups_caption(verdict: &Verdict) -> String {
    let pairs = verdict.pairs.iter().find_map(|pair| Some(pair.test?.pairs)).unwrap_or_default();
    let corrected = if pairs > 1 { format!(", corrected for {pairs} pairs") } else { String::new() };
    format!(
        ">: each engine before it is proven to be better than each one after it ({} % chance of error{corrected}). =: not proven.",
        ALPHA * 100.0
    )
}

/// Names the engines that no rank applies to.
pub(crate) fn unranked(verdict: &Verdict, name: impl Fn(usize) -> String) -> Option<String> {
    let names: Vec<String> = verdict.unranked.iter().map(|&engine| name(engine)).collect();
    let reason = "cases that it solves from the file alone were left out";
    (!names.is_empty()).then(|| format!("Not ranked: {} ({reason}).", names.join(", ")))
}

/// The ranking as a table: titles and a row for each engine.
pub(crate) struct Ranking {
    /// Titles of the columns. The first two contain words.
    pub(crate) header: Vec<String>,
    /// Cells by engine.
    pub(crate) rows: Vec<Vec<String>>,
    /// Columns to drop first if there is no room.
    pub(crate) dispensable: Vec<usize>,
}

/// Mark of engines on the Pareto front.
const ON_FRONT: &str = "*";

/// Returns the table of the ranking.
pub(crate) fn ranking(verdict: &Verdict, alphabet: Alphabet, name: impl Fn(usize) -> String) -> Ranking {
    let has_cost = verdict.standings.iter().any(|standing| standing.cost_per_thousand.is_some());
    let times = exact_times(verdict);
    let mut header =
        vec!["rank".to_owned(), "engine".to_owned(), verdict.metric.spec().short_label.to_owned()];
    header.extend(times.iter().map(|&index| time_title(verdict.standings[0].exact_within[index].deadline)));
    header.push("ms".to_owned());
    header.extend(has_cost.then(|| "per 1,000".to_owned()));
    header.push("failed".to_owned());
    let ranks = verdict.ranks();
    let row = |(standing, rank): (&Standing, &usize)| {
        let is_shared = ranks.iter().filter(|other| *other == rank).count() > 1;
        let mark = if standing.is_on_front && verdict.standings.len() > 1 { ON_FRONT } else { "" };
        let mut cells = vec![
            format!("{rank}{}", if is_shared { "=" } else { "" }),
            name(standing.engine) + mark,
            quality(&standing.quality, alphabet),
        ];
        cells.extend(times.iter().map(|&index| quality(&standing.exact_within[index], alphabet)));
        cells.push(format::latency(standing.latency, alphabet.range_dash()));
        cells
            .extend(has_cost.then(|| {
                standing.cost_per_thousand.map_or(alphabet.range_dash().to_owned(), format::amount)
            }));
        cells.push(format!("{}/{}", standing.failed, standing.answers));
        cells
    };
    let rows = verdict.standings.iter().zip(&ranks).map(row).collect();
    // The longer deadline, the shorter one, the cost.
    let first_time = 3;
    let cost = has_cost.then(|| header.len() - 2);
    let dispensable = (first_time..first_time + times.len()).rev().chain(cost).collect();
    Ranking { header, rows, dispensable }
}

/// Returns the columns of exact match by time, without the one that the metric itself shows.
fn exact_times(verdict: &Verdict) -> Vec<usize> {
    let Some(first) = verdict.standings.first() else { return Vec::new() };
    let is_shown_already =
        |quality: &Quality| verdict.metric == Metric::ExactMatch && quality.deadline == verdict.deadline;
    let times = first.exact_within.iter().enumerate().filter(|(_, quality)| !is_shown_already(quality));
    times.map(|(index, _)| index).collect()
}

fn time_title(deadline: Option<f64>) -> String {
    deadline.map_or_else(|| "any time".to_owned(), |deadline| format!("in {}", short_duration(deadline)))
}

fn short_duration(ms: f64) -> String {
    if ms >= 1_000.0 { format!("{} s", format::one_decimal(ms / 1e3)) } else { format::duration(ms) }
}

/// Formats quality as a percentage, or as counts if there are too few cases.
pub(crate) fn quality(quality: &Quality, alphabet: Alphabet) -> String {
    match quality.value {
        Some(value) => format::percent(value),
        None if quality.cases == 0 => alphabet.range_dash().to_owned(),
        None => format!("{}/{}", format::one_decimal(quality.num), format::one_decimal(quality.den)),
    }
}

/// Tells in how many of the shared cases silence is right.
pub(crate) fn without_code(verdict: &Verdict) -> Option<String> {
    let count = verdict.without_code;
    (count > 0)
        .then(|| format!("In {count} of them the right answer is nothing: silent engines are right there."))
}

/// Explains the table of the ranking.
pub(crate) fn ranking_caption(verdict: &Verdict, name: impl Fn(usize) -> String) -> String {
    let cases = match (verdict.is_on_shared_cases, verdict.standings.len()) {
        (_, ..=1) => String::new(),
        (true, _) => {
            let cases = format::count_of(verdict.cases, "case");
            format!(
                "On the {cases} from {} that all of them answered. {}",
                format::count_of(verdict.files, "file"),
                without_code(verdict).map_or_else(String::new, |sentence| sentence + " ")
            )
        }
        (false, _) => "On all cases of each engine: they share too few. ".to_owned(),
    };
    let limits = time_limits(verdict, name).map_or_else(String::new, |limits| format!("; {limits}"));
    let front = match (verdict.standings.len(), verdict.front.latency, verdict.front.cost) {
        (..=1, ..) | (_, false, false) => String::new(),
        (_, latency, cost) => {
            let others = [(latency, "median latency"), (cost, "cost")];
            let others: Vec<&str> =
                others.iter().filter(|(is_known, _)| *is_known).map(|(_, it)| *it).collect();
            format!(
                " *: no other engine is at least as good in quality and {}, and better in one of them.",
                others.join(" and ")
            )
        }
    };
    format!("{cases}In 300 ms, in 1 s: exact match of the answers that were complete by then{limits}.{front}")
}

/// Tells how long the runs waited for answers, which need not be as long as an editor waits; by engine if they differ.
pub(crate) fn time_limits(verdict: &Verdict, name: impl Fn(usize) -> String) -> Option<String> {
    let mut engines: Vec<(f64, Vec<String>)> = Vec::new();
    for standing in &verdict.standings {
        let Some(limit) = standing.time_limit else { continue };
        match engines.iter_mut().find(|(other, _)| *other == limit) {
            Some((_, names)) => names.push(name(standing.engine)),
            None => engines.push((limit, vec![name(standing.engine)])),
        }
    }
    let limits: Vec<String> = match engines.as_slice() {
        [] => return None,
        [(limit, _)] => vec![short_duration(*limit)],
        limits => limits
            .iter()
            .map(|(limit, names)| format!("{} ({})", short_duration(*limit), names.join(", ")))
            .collect(),
    };
    Some(format!(
        "requests were given up after {}, whatever the editor's deadline_ms is (--deadline counts answers within it)",
        limits.join(" or ")
    ))
}

/// Formats a corrected p-value in a sentence: `p < 0.001`, `p = 0.062`.
pub(crate) fn p_value(pair: &PairVerdict) -> Option<String> {
    let p = corrected_p(pair)?;
    Some(if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") })
}

/// Formats a corrected p-value in a cell: `< 0.001`, `0.062`.
pub(crate) fn corrected_p(pair: &PairVerdict) -> Option<String> {
    let p = pair.test?.corrected_p;
    Some(if p < SMALLEST_P { format!("< {SMALLEST_P}") } else { format!("{p:.3}") })
}

/// Returns what is proven about a pair, or how many cases would prove it.
pub(crate) fn conclusion(pair: &PairVerdict) -> String {
    let claim = match pair.claim {
        Claim::Better => "better".to_owned(),
        Claim::Worse => "worse".to_owned(),
        Claim::Undecided => undecided(pair),
        Claim::TooFewCases => "too few cases".to_owned(),
        Claim::TooFewFiles => format!("too few files, {} are needed", pair.files_needed),
    };
    claim + &pair.margin.as_ref().map_or_else(String::new, margin)
}

fn undecided(pair: &PairVerdict) -> String {
    let Some(size) = pair.sample_size else { return "undecided".to_owned() };
    let power = format!("undecided (power {} %{})", whole_percent(size.power), resolution(&size));
    match size.more_cases {
        Some(0) => power,
        Some(more) => format!("{power}; about {}", about(more)),
        None => format!("{power}; more than 10 million cases needed"),
    }
}

/// Formats the number of cases over the number that would decide, rounded down: 1.00 is resolved.
fn resolution(size: &SampleSize) -> String {
    size.resolution
        .map_or_else(String::new, |resolution| format!(", N/N* {:.2}", (resolution * 100.0).floor() / 100.0))
}

fn whole_percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// Explains the sample size of a pair, for those who look closer; `None` without one.
pub(crate) fn sample_size_text(pair: &PairVerdict) -> Option<String> {
    let size = pair.sample_size?;
    let needed = match size.needed {
        Some(needed) => format!(
            "N/N* {:.2}: {} of the {needed} cases that show this difference in {} % of the repeats",
            size.resolution.unwrap_or_default(),
            pair.cases,
            whole_percent(POWER)
        ),
        None => "N* is unknown or over 10 million cases".to_owned(),
    };
    Some(format!(
        "power {} %: the chance that a repeat with as many cases claims a difference, if the true one is as observed; {needed}; as many cases \
         show a difference of {} points",
        whole_percent(size.power),
        format::percent(size.detectable)
    ))
}

fn margin(margin: &MarginVerdict) -> String {
    let points = format!("{} pt", format::one_decimal(margin.margin * 100.0));
    let claim = match (margin.is_equivalent, margin.is_not_inferior) {
        (true, _) => "equivalent within",
        (false, true) => "not inferior by",
        (false, false) => "not proven non-inferior by",
    };
    format!("; {claim} {points}")
}

/// Formats an estimated number of further cases with two significant digits, and a comma after thousands: `1,200 more cases`.
fn about(count: usize) -> String {
    let unit = 10_usize.pow(count.checked_ilog10().unwrap_or(0).saturating_sub(1));
    let digits = (count.div_ceil(unit) * unit).to_string();
    let groups = digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok());
    let noun = if count == 1 { "case" } else { "cases" };
    format!("{} more {noun}", groups.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_have_two_digits() {
        let shown = [1, 9, 51, 101, 1_234, 98_765, 9_999_999].map(about);
        let expected = [
            "1 more case",
            "9 more cases",
            "51 more cases",
            "110 more cases",
            "1,300 more cases",
            "99,000 more cases",
            "10,000,000 more cases",
        ];
        assert_eq!(shown, expected);
    }
}
