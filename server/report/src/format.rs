//! Formatting of numbers and text, shared by all renderers.

use std::fmt::Write as _;

use cases::{CrossFileContext, Exposure, Metric, OriginKind};
use scoring::run_summary::{
    ContextEffect, CutoffSlice, EngineCost, EngineLine, NameResolution, ReportSection, ScenarioGroup,
    SelectedCases, Selection,
};
use scoring::{Interval, Latency, MetricCell, RunSummary};

/// Character set for dashes and other symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// ASCII only.
    Ascii,
    /// Any character.
    Unicode,
}

impl Alphabet {
    /// Returns the dash between the ends of a range.
    pub fn range_dash(self) -> &'static str {
        match self {
            Alphabet::Ascii => "-",
            Alphabet::Unicode => "–",
        }
    }

    /// Returns the separator between the words of a label.
    pub fn dot(self) -> &'static str {
        match self {
            Alphabet::Ascii => "-",
            Alphabet::Unicode => "·",
        }
    }

    /// Returns the mark after counts of cases that were cut from another tree than the run's workspace.
    fn other_tree(self) -> &'static str {
        match self {
            Alphabet::Ascii => "!",
            Alphabet::Unicode => "†",
        }
    }

    fn ellipsis(self) -> &'static str {
        match self {
            Alphabet::Ascii => "~",
            Alphabet::Unicode => "…",
        }
    }
}

/// Formats a share as percent with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Formats an interval in whole percents, rounded outward: a value inside it is never displayed outside of it.
pub fn interval(interval: Interval, alphabet: Alphabet) -> String {
    let (low, high) = round_outward(interval);
    format!("{low:.0}{}{high:.0}", alphabet.range_dash())
}

/// Returns the ends in whole percents, rounded outward except for numerical noise. Adding zero turns minus zero into zero.
fn round_outward(Interval { low, high, .. }: Interval) -> (f64, f64) {
    const NOISE: f64 = 1e-9;
    ((low * 100.0 + NOISE).floor() + 0.0, (high * 100.0 - NOISE).ceil() + 0.0)
}

/// Formats a difference of shares in percentage points.
pub fn signed_percent(difference: f64) -> String {
    format!("{:+.1}", difference * 100.0)
}

/// Formats the interval of a difference, without a dash because its ends have signs.
pub fn signed_interval(interval: Interval) -> String {
    let (low, high) = round_outward(interval);
    format!("{low:+.0} to {high:+.0}")
}

/// Formats the cell's value in percent, or its counts if there are too few cases for a ratio.
pub fn share(cell: &MetricCell) -> String {
    cell.value.map_or_else(|| counts(cell), |value| format!("{} %", percent(value)))
}

/// Formats the sums of a cell with too few cases for a ratio: `3/8`.
pub fn counts(cell: &MetricCell) -> String {
    format!("{}/{}", one_decimal(cell.num), one_decimal(cell.den))
}

/// Formats a number with at most one decimal.
pub fn one_decimal(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Formats the name of a metric in files as words.
pub fn metric_name(metric: Metric) -> String {
    metric.name().replace('_', " ")
}

/// Formats a duration in milliseconds, without its unit below ten seconds.
pub fn milliseconds(ms: f64) -> String {
    if ms.is_infinite() {
        "timeout".to_owned()
    } else if ms >= 10_000.0 {
        format!("{}s", one_decimal(ms / 1000.0))
    } else if ms < 9.95 {
        format!("{ms:.1}")
    } else {
        format!("{ms:.0}")
    }
}

/// Formats a duration in milliseconds, with its unit.
pub fn duration(ms: f64) -> String {
    if ms >= 10_000.0 {
        format!("{} s", one_decimal(ms / 1000.0))
    } else {
        format!("{} ms", milliseconds(ms))
    }
}

/// Formats an amount of money with four significant digits, and at least two decimals.
pub fn amount(amount: f64) -> String {
    let digits = if amount > 0.0 { 3.0 - amount.log10().floor() } else { 2.0 };
    format!("{amount:.0$}", digits.clamp(2.0, 9.0) as usize)
}

/// Formats a power of ten, as on an axis.
pub fn significant(value: f64) -> String {
    if value >= 1.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.0$}", (-value.log10()).ceil().clamp(0.0, 9.0) as usize)
    }
}

/// Column titles of [`cost`], after the engine.
pub const COST: [&str; 5] = ["answers", "cost", "per 1,000", "estimated", "unknown"];

/// Formats the cost of an engine's answers as table cells.
pub fn cost(cost: &EngineCost, alphabet: Alphabet) -> [String; 5] {
    [
        cases(cost.answers, cost.other_tree > 0, alphabet),
        amount(cost.amount),
        cost.per_thousand.map_or_else(String::new, amount),
        cost.estimated.to_string(),
        cost.unknown.to_string(),
    ]
}

/// Formats median and 95th percentile.
pub fn latency(latency: Option<Latency>, none: &str) -> String {
    latency.map_or_else(
        || none.to_owned(),
        |latency| format!("{}/{}", milliseconds(latency.p50), milliseconds(latency.p95)),
    )
}

/// Formats the number of answers with an outcome in a line. Repetitions of one case weigh as one.
pub fn status_count(line: &EngineLine, status: Metric) -> String {
    line.metrics.get(&status).map_or_else(|| "0".to_owned(), |cell| one_decimal(cell.num))
}

/// Formats `2 silent, 1 gated, 0 failed` as `2+1+0`.
pub fn unanswered_counts(line: &EngineLine) -> String {
    [Metric::Silent, Metric::Gated, Metric::Failed].map(|status| status_count(line, status)).join("+")
}

/// Formats a count with its noun: `1 case`, `2 cases`.
pub fn count_of(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Formats a number of opportunities: `1 opportunity`, `2 opportunities`.
pub fn opportunities(count: u64) -> String {
    format!("{count} {}", if count == 1 { "opportunity" } else { "opportunities" })
}

/// Formats the origin of cases as the filters of the page name it: `mined`, `live/shown`.
pub fn origin(origin: OriginKind, exposure: Exposure) -> String {
    match exposure {
        Exposure::None => origin.to_string(),
        exposure => format!("{origin}/{exposure}"),
    }
}

/// Describes the cases of a section: `mined cases`, `live cases, suggestion shown`.
pub fn section_title(section: &ReportSection) -> String {
    origin_title(section.origin, section.exposure)
}

/// Describes cases of an origin, as [`section_title`] does.
pub fn origin_title(origin: OriginKind, exposure: Exposure) -> String {
    match exposure {
        Exposure::None => format!("{origin} cases"),
        exposure => format!("{origin} cases, suggestion {exposure}"),
    }
}

/// Formats the size of a section: `60 cases from 15 files`, and the number of other cases that count in no total.
pub fn section_size(section: &ReportSection) -> String {
    let (cases, files) = section.size();
    let size = format!("{} from {}", count_of(cases, "case"), count_of(files, "file"));
    match section.controls {
        0 => size,
        controls => format!("{size} (and {controls} in no total)"),
    }
}

/// Formats a count of cases or answers, marked if some of the cases were cut from another tree than the run's workspace.
pub fn cases(count: usize, is_from_other_tree: bool, alphabet: Alphabet) -> String {
    format!("{count}{}", if is_from_other_tree { alphabet.other_tree() } else { "" })
}

/// Adds the meaning of the mark of [`cases()`] to a caption if the mark occurs in the section.
fn with_tree(caption: String, section: &ReportSection, alphabet: Alphabet) -> String {
    let all = section.selection.cases + section.controls;
    match section.other_tree {
        0 => caption,
        other => format!(
            "{caption} {}: {other} of {} were cut from another tree than the workspace that engines could read.",
            alphabet.other_tree(),
            count_of(all, "case"),
        ),
    }
}

/// Describes the cases of totals and rows by language, and the cases left out.
pub fn totals_caption(section: &ReportSection, alphabet: Alphabet) -> String {
    with_tree(totals(section), section, alphabet)
}

/// Describes the cases of a difference between engines, and the cases left out.
pub fn differences_caption(section: &ReportSection, alphabet: Alphabet) -> String {
    let caption = format!("Cases in totals that both engines answered. {}", totals(section));
    with_tree(caption, section, alphabet)
}

fn totals(section: &ReportSection) -> String {
    let Selection { cases, scenarios, left_out } = &section.selection;
    let judged = |part: &SelectedCases| match part.judged {
        0 => String::new(),
        judged => format!(" ({judged} selected by a judge)"),
    };
    let parts = scenarios.iter().map(|part| format!("{} {}{}", part.scenario, part.cases, judged(part)));
    let counted =
        format!("In totals: {}: {}.", count_of(*cases, "case"), parts.collect::<Vec<_>>().join(", "));
    let left_out: Vec<String> =
        left_out.iter().map(|part| format!("{} {} ({})", part.scenario, part.cases, part.reason)).collect();
    match left_out.is_empty() {
        true => counted,
        false => format!("{counted} In no total: {}.", left_out.join("; ")),
    }
}

/// Describes the cases of the tables by scenario.
pub fn scenarios_caption(section: &ReportSection, alphabet: Alphabet) -> String {
    let all = section.selection.cases + section.controls;
    let caption = match section.controls {
        0 => format!("All {}.", count_of(all, "case")),
        controls => format!("All {}, {controls} of which are in no total.", count_of(all, "case")),
    };
    with_tree(caption, section, alphabet)
}

/// Describes the cases of the effects of context.
pub fn contexts_caption(section: &ReportSection, alphabet: Alphabet) -> String {
    let caption = "Only holes of cross_file that were asked both with and without context.";
    with_tree(caption.to_owned(), section, alphabet)
}

/// Describes the cases of the costs.
pub fn costs_caption(summary: &RunSummary, alphabet: Alphabet) -> Option<String> {
    let is_marked = summary.costs.iter().any(|cost| cost.other_tree > 0);
    is_marked.then(|| {
        let mark = alphabet.other_tree();
        format!(
            "{mark}: some of the cases were cut from another tree than the workspace that engines could read."
        )
    })
}

/// Returns the title of the table with a row: rows of one scenario share a table, except those of cases with an empty truth.
pub fn table_title(group: ScenarioGroup) -> String {
    if group.is_empty() { ScenarioGroup::Empty.to_string() } else { group.scenario().to_string() }
}

/// Returns the part of a row's name that distinguishes it from others of its table: `retrieval, unresolved`.
pub fn row_title(group: ScenarioGroup) -> Option<String> {
    match group {
        ScenarioGroup::EmptyAfterJump => Some("after_jump".to_owned()),
        ScenarioGroup::WriteFunction(scope) => scope.map(|scope| scope.to_string()),
        ScenarioGroup::CrossFile(NameResolution::Resolved, context) => Some(context.to_string()),
        ScenarioGroup::CrossFile(NameResolution::Unresolved, context) => {
            Some(format!("{context}, unresolved"))
        }
        _ => None,
    }
}

/// Mark of values that are no rank, because the cases were selected against the engine.
pub const SELECTED_AGAINST: &str = "*";

/// Formats the compared variants: `retrieval - in_file`, with a mark if the effect is no rank.
pub fn effect_title(effect: &ContextEffect) -> String {
    let unresolved = if effect.is_resolved { "" } else { ", unresolved" };
    let mark = if effect.is_selected_against { SELECTED_AGAINST } else { "" };
    format!("{} - {}{mark}{unresolved}", effect.variant, CrossFileContext::InFile)
}

/// Returns the first `width` characters, with a mark if the text was cut.
pub fn clipped(text: &str, width: usize, alphabet: Alphabet) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push_str(alphabet.ellipsis());
    cut
}

/// Replaces characters that are invisible, or that change the order of others, with `[U+202E]` and the like.
pub fn escape_invisible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_invisible(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "[U+{:04X}]", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Formats any name as [`escape_invisible`] does, and without line ends.
pub fn on_one_line(name: &str) -> String {
    escape_invisible(name).replace('\n', "[U+000A]").replace('\t', "[U+0009]")
}

/// Whether the character is one of `INVISIBLE` in `templates/text.js`.
pub fn is_invisible(character: char) -> bool {
    match character {
        '\t' | '\n' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control(),
    }
}

/// Returns the title of the cases on both sides of a cut-off.
pub fn cutoff_title(summary: &RunSummary, slice: &CutoffSlice) -> String {
    let names = slice.engines.iter().filter_map(|&engine| summary.engines.get(engine));
    let names: Vec<&str> = names.map(|engine| &*engine.name).collect();
    format!("code written until and after the training cut-off {} of {}", slice.cutoff, names.join(", "))
}

/// Explains the cases on both sides of a cut-off.
pub const CUTOFF_CAPTION: &str = "An engine may have seen the code until its cut-off. If it falls behind the other engines after it, that is \
    a sign of memory; if all fall, the later code is harder.";

#[cfg(test)]
mod tests {
    use scoring::IntervalMethod;

    use super::*;

    /// Returns the character class of `INVISIBLE` in the script, as ranges.
    fn invisible_ranges_of_the_script() -> Vec<(u32, u32)> {
        let script = include_str!("templates/text.js");
        let (_, rest) = script.split_once("/[").expect("the class starts");
        let (class, _) = rest.split_once("]/gu").expect("the class ends");
        let escapes = class.split("\\u").skip(1).map(|escape| {
            let digits = escape.trim_start_matches('{').trim_end_matches('-').trim_end_matches('}');
            (u32::from_str_radix(digits, 16).expect("digits"), escape.ends_with('-'))
        });
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut is_open = false;
        for (code, opens) in escapes {
            match ranges.last_mut() {
                Some(range) if is_open => range.1 = code,
                _ => ranges.push((code, code)),
            }
            is_open = opens;
        }
        ranges
    }

    #[test]
    fn invisible_characters_match_those_of_the_script() {
        let ranges = invisible_ranges_of_the_script();
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let code = u32::from(character);
            let in_script = ranges.iter().any(|&(first, last)| (first..=last).contains(&code));
            assert_eq!(is_invisible(character), in_script, "U+{code:04X}");
        }
    }

    proptest::proptest! {
        #[test]
        fn rounded_value_stays_inside_its_rounded_interval(
            ends in proptest::array::uniform3(proptest::prop_oneof![-1.0..=1.0, -0.001..=0.001, 0.998..=1.0]),
        ) {
            let mut ends = ends;
            ends.sort_by(f64::total_cmp);
            let [low, value, high] = ends;
            let shown = Interval { low, high, method: IntervalMethod::ClopperPearson { effective_cases: 1.0 } };
            let number = |text: &str| text.parse::<f64>().expect("a number");
            let text = signed_interval(shown);
            let (first, last) = text.split_once(" to ").expect("two ends");
            let difference = number(&signed_percent(value));
            proptest::prop_assert!(number(first) <= difference && difference <= number(last), "{difference} {text}");
            if low >= 0.0 {
                let text = interval(shown, Alphabet::Ascii);
                let (first, last) = text.split_once('-').expect("two ends");
                let share = number(&percent(value));
                proptest::prop_assert!(number(first) <= share && share <= number(last), "{share} {text}");
            }
        }
    }

    #[test]
    fn amounts_are_rounded_to_significant_digits() {
        let shown = [0.0, 0.000_123_456, 0.5, 12.345, 123_456.0].map(amount);
        assert_eq!(shown, ["0.00", "0.0001235", "0.5000", "12.35", "123456.00"]);
    }

    #[test]
    fn durations_are_rounded_and_get_a_unit() {
        let shown = [0.04, 9.94, 9.96, 999.6, 9_999.0, 10_000.0, 12_340.0, f64::INFINITY].map(milliseconds);
        assert_eq!(shown, ["0.0", "9.9", "10", "1000", "9999", "10s", "12.3s", "timeout"]);
        assert_eq!([0.04, 120_000.0].map(duration), ["0.0 ms", "120 s"]);
    }
}
