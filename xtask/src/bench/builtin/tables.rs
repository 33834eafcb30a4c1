//! The answers as tables.

use std::fmt::Write;

use builtin::{Method, Settings};
use scoring::metric::{EDIT_SIMILARITY, MetricValue, TOKEN_EXACT};
use scoring::{Comparison, Observation};

use super::SEED;
use super::answers::{Build, METHODS, Row};
use super::cases::Scenario;

/// The Markdown of the section.
pub(super) fn section(rows: &[Row], builds: &[Build]) -> String {
    let mut out = format!(
        "Token-exact matches / edit similarity (indel) in percent, ungated; a silent answer is wrong except to a complete body. \
         {} cases from {} repositories.\n\n",
        rows.iter().filter(|row| !row.hidden && row.method == Method::Hybrid).count(),
        builds.len(),
    );
    for (hidden, title) in
        [(false, "All files in sight"), (true, "Near-duplicates of the case's file hidden")]
    {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.hidden == hidden).collect();
        writeln!(out, "### {title}\n\n{}\n{}", quality(&rows), differences(&rows)).expect(STRING);
    }
    let in_sight: Vec<&Row> = rows.iter().filter(|row| !row.hidden && row.method == Method::Hybrid).collect();
    writeln!(out, "### Gates\n\n{}\n### Building\n\n{}", gates(&in_sight), building(builds)).expect(STRING);
    out
}

/// Why writing into a string cannot fail.
const STRING: &str = "a string takes everything";

/// All answers as comma-separated values.
pub(super) fn csv(rows: &[Row]) -> String {
    let mut out =
        "case,repo,path,scenario,hidden,method,exact,similarity,milliseconds,min_probability,continuation\n"
            .to_owned();
    for row in rows {
        let Row { case, repo, path, hidden, similarity, milliseconds, min_probability, continuation, .. } =
            row;
        writeln!(
            out,
            "{case},{repo},\"{path}\",\"{}\",{hidden},{},{},{similarity:.4},{milliseconds:.3},{min_probability:.4},{continuation:.4}",
            row.scenario.name(),
            row.method.name(),
            u8::from(row.exact),
        )
        .expect(STRING);
    }
    out
}

fn of<'r>(rows: &[&'r Row], scenario: Scenario, method: Method) -> Vec<&'r Row> {
    rows.iter().copied().filter(|row| row.scenario == scenario && row.method == method).collect()
}

fn percent(count: usize, all: usize) -> f64 {
    100.0 * count as f64 / all.max(1) as f64
}

fn quality(rows: &[&Row]) -> String {
    let names = METHODS.map(Method::name).join(" | ");
    let mut out =
        format!("| scenario | cases | {names} | hybrid p50 / p95 ms |\n|---|---|---|---|---|---|---|\n");
    for scenario in Scenario::ALL {
        let cells = METHODS.map(|method| quality_cell(&of(rows, scenario, method)));
        let answers = of(rows, scenario, Method::Hybrid);
        let (p50, p95) = latencies(&answers);
        let (name, cases, cells) = (scenario.name(), answers.len(), cells.join(" | "));
        writeln!(out, "| {name} | {cases} | {cells} | {p50:.1} / {p95:.1} |").expect(STRING);
    }
    out
}

fn quality_cell(rows: &[&Row]) -> String {
    let exact = percent(rows.iter().filter(|row| row.exact).count(), rows.len());
    let similarity: f64 = rows.iter().map(|row| row.similarity).sum();
    format!("{exact:.1} / {:.1}", 100.0 * similarity / rows.len().max(1) as f64)
}

/// Median and 95th percentile, milliseconds.
fn latencies(rows: &[&Row]) -> (f64, f64) {
    let mut sorted: Vec<f64> = rows.iter().map(|row| row.milliseconds).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or(f64::NAN);
    (at(50), at(95))
}

/// What the engine gains over the plain methods, with 95 % intervals clustered by file.
fn differences(rows: &[&Row]) -> String {
    let mut out = "| hybrid minus | nearest-line, exact | similarity | longest-match, exact | similarity |\n\
                   |---|---|---|---|---|\n"
        .to_owned();
    for scenario in Scenario::ALL.into_iter().filter(|&scenario| scenario != Scenario::CompleteBody) {
        let cell = |method: Method, metric: &str| difference(rows, scenario, method, metric);
        let cells = [Method::NearestLine, Method::LongestMatch]
            .map(|method| format!("{} | {}", cell(method, TOKEN_EXACT), cell(method, EDIT_SIMILARITY)));
        writeln!(out, "| {} | {} |", scenario.name(), cells.join(" | ")).expect(STRING);
    }
    out
}

fn difference(rows: &[&Row], scenario: Scenario, method: Method, metric: &str) -> String {
    let observations =
        |method| -> Vec<Observation> { of(rows, scenario, method).into_iter().map(observation).collect() };
    let Comparison { difference, interval, .. } =
        scoring::comparison::compare(&observations(method), &observations(Method::Hybrid), metric, SEED);
    match (difference, interval) {
        (Some(difference), Some(interval)) => {
            let [difference, low, high] =
                [difference, interval.low, interval.high].map(|share| 100.0 * share);
            format!("{difference:+.1} [{low:+.1}, {high:+.1}]")
        }
        _ => "too few cases".to_owned(),
    }
}

fn observation(row: &Row) -> Observation {
    let metrics = [
        (TOKEN_EXACT.to_owned(), MetricValue::Value(f64::from(u8::from(row.exact)))),
        (EDIT_SIMILARITY.to_owned(), MetricValue::Value(row.similarity)),
    ];
    Observation {
        case: row.case.clone(),
        cluster: format!("{}/{}", row.repo, row.path),
        labels: [].into(),
        metrics: metrics.into(),
        latency: Some(row.milliseconds),
    }
}

/// What the two gates of the editor's settings keep back.
fn gates(rows: &[&Row]) -> String {
    let probability = Settings::for_editor().min_probability.unwrap_or_default();
    let mut out = "| gate | shown | of those exact |\n|---|---|---|\n".to_owned();
    for scenario in [Scenario::StatementRest, Scenario::StatementRestMidName] {
        let all = of(rows, scenario, Method::Hybrid);
        let shown: Vec<_> =
            all.iter().filter(|row| !row.silent && row.min_probability >= probability).collect();
        let exact = percent(shown.iter().filter(|row| row.exact).count(), shown.len());
        let (name, shown) = (scenario.name(), percent(shown.len(), all.len()));
        writeln!(out, "| {name}, probability of {probability} | {shown:.0} % | {exact:.0} % |")
            .expect(STRING);
    }
    format!("{out}\n{}", continuations(rows))
}

/// Thresholds around the chosen one.
const CONTINUATIONS: [f64; 7] = [0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99];

/// What each threshold of the continuation would leave alone, rightly and wrongly.
fn continuations(rows: &[&Row]) -> String {
    let chosen = Settings::for_editor().min_continuation;
    let mut out = "| continuation of | complete bodies left alone | rests left alone | exact rests lost |\n\
                   |---|---|---|---|\n"
        .to_owned();
    let complete = of(rows, Scenario::CompleteBody, Method::Hybrid);
    let rest = of(rows, Scenario::FunctionRest, Method::Hybrid);
    let exact: Vec<&Row> = rest.iter().copied().filter(|row| row.exact).collect();
    for least in CONTINUATIONS {
        let left_alone = |rows: &[&Row]| rows.iter().filter(|row| row.continuation < least).count();
        let rightly = percent(left_alone(&complete), complete.len());
        let wrongly = percent(left_alone(&rest), rest.len());
        let lost = percent(left_alone(&exact), rest.len());
        let mark = if Some(least) == chosen { " (chosen)" } else { "" };
        writeln!(out, "| {least}{mark} | {rightly:.0} % | {wrongly:.0} % | {lost:.1} points |")
            .expect(STRING);
    }
    out
}

fn building(builds: &[Build]) -> String {
    let tokens: usize = builds.iter().map(|build| build.tokens).sum();
    let bytes: usize = builds.iter().map(|build| build.bytes).sum();
    let seconds: f64 = builds.iter().map(|build| build.seconds).sum();
    let per_token = bytes as f64 / tokens.max(1) as f64;
    format!(
        "{:.2} M tokens in {seconds:.2} s: {:.1} M tokens/s, lexing and both arrays; {per_token:.1} bytes a token, without the \
         vocabulary.\n",
        tokens as f64 / 1e6,
        tokens as f64 / 1e6 / seconds,
    )
}
