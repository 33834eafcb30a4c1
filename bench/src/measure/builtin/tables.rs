//! Renders the answers as tables.

use std::collections::BTreeSet;
use std::fmt::Write;

use builtin::{BuiltinSettings, Method};
use cases::{Metric, MetricValue};
use scoring::{Comparison, Observation};

use super::SEED;
use super::answers::{AnswerRow, CorpusBuildTime, METHODS, RepositoryAnswers, UpperBound};
use super::cases::StudyScenario;

/// Targets: the mean exact match and edit similarity over the languages, in percent.
const TARGETS: [(StudyScenario, f64, f64); 6] = [
    (StudyScenario::StatementRest, 42.0, 72.0),
    (StudyScenario::StatementRestMidName, 40.0, 75.0),
    (StudyScenario::ControlStatement, 13.5, 50.0),
    (StudyScenario::ControlBody, 23.0, 57.0),
    (StudyScenario::FunctionBody, 10.0, 55.0),
    (StudyScenario::FunctionRest, 14.0, 55.0),
];

/// Renders the section as Markdown.
pub(super) fn section(answered: &[RepositoryAnswers]) -> String {
    let rows: Vec<&AnswerRow> = answered.iter().flat_map(|one| &one.rows).collect();
    let ceilings: Vec<&UpperBound> = answered.iter().flat_map(|one| &one.ceilings).collect();
    let mut out = format!(
        "Token-exact matches / edit similarity (indel) in percent, ungated; an empty answer is wrong except to a complete body. \
         {} cases from {} repositories that were not used for fitting. `hybrid` is the engine; it chooses among the proposals of a \
         fitted ranking of tokens, voting, the longest match and the nearest copy.\n\n",
        rows.iter().filter(|row| !row.hidden && row.method == Method::Hybrid).count(),
        answered.len(),
    );
    for (hidden, title) in
        [(false, "All files in sight"), (true, "Near-duplicates of the case's file hidden")]
    {
        let rows: Vec<&AnswerRow> = rows.iter().copied().filter(|row| row.hidden == hidden).collect();
        writeln!(out, "### {title}\n\n{}\n{}", quality(&rows), differences(&rows)).expect(STRING);
    }
    let in_sight: Vec<&AnswerRow> =
        rows.iter().copied().filter(|row| !row.hidden && row.method == Method::Hybrid).collect();
    writeln!(out, "### By language\n\n{}", languages(&in_sight)).expect(STRING);
    writeln!(out, "### Gaps to the targets\n\n{}\n{}", shortfalls(&in_sight, &ceilings), examples(&ceilings))
        .expect(STRING);
    writeln!(out, "### Gates\n\n{}", gates(&in_sight)).expect(STRING);
    let builds: Vec<&CorpusBuildTime> = answered.iter().map(|one| &one.build).collect();
    writeln!(out, "### Building\n\n{}", building(&builds)).expect(STRING);
    out
}

/// Panic message: writing to a string cannot fail.
const STRING: &str = "a string takes everything";

/// Renders all answers as comma-separated values.
pub(super) fn csv(answered: &[RepositoryAnswers]) -> String {
    let mut out =
        "case,repo,language,scenario,hidden,method,exact,similarity,milliseconds,silent,trust,continuation\n"
            .to_owned();
    for row in answered.iter().flat_map(|one| &one.rows) {
        let AnswerRow { case, repo, hidden, similarity, milliseconds, silent, trust, continuation, .. } = row;
        writeln!(
            out,
            "{case},{repo},{},\"{}\",{hidden},{},{},{similarity:.4},{milliseconds:.3},{silent},{trust:.4},{continuation:.4}",
            row.language.name(),
            row.scenario.name(),
            row.method.name(),
            u8::from(row.exact),
        )
        .expect(STRING);
    }
    out
}

fn rows_of<'r>(rows: &[&'r AnswerRow], scenario: StudyScenario, method: Method) -> Vec<&'r AnswerRow> {
    rows.iter().copied().filter(|row| row.scenario == scenario && row.method == method).collect()
}

fn percent(count: usize, all: usize) -> f64 {
    100.0 * count as f64 / all.max(1) as f64
}

fn quality(rows: &[&AnswerRow]) -> String {
    let names = METHODS.map(Method::name).join(" | ");
    let mut out =
        format!("| scenario | cases | {names} | hybrid p50 / p95 ms |\n|---|---|---|---|---|---|---|---|\n");
    for scenario in StudyScenario::ALL {
        let cells = METHODS.map(|method| cell(means(&rows_of(rows, scenario, method))));
        let answers = rows_of(rows, scenario, Method::Hybrid);
        let (p50, p95) = latencies(&answers);
        let (name, cases, cells) = (scenario.name(), answers.len(), cells.join(" | "));
        writeln!(out, "| {name} | {cases} | {cells} | {p50:.1} / {p95:.1} |").expect(STRING);
    }
    out
}

/// Exact match and edit similarity in percent.
fn means(rows: &[&AnswerRow]) -> [f64; 2] {
    let exact = percent(rows.iter().filter(|row| row.exact).count(), rows.len());
    let similarity: f64 = rows.iter().map(|row| row.similarity).sum();
    [exact, 100.0 * similarity / rows.len().max(1) as f64]
}

fn cell([exact, similarity]: [f64; 2]) -> String {
    format!("{exact:.1} / {similarity:.1}")
}

/// Median and 95th percentile in milliseconds.
fn latencies(rows: &[&AnswerRow]) -> (f64, f64) {
    let mut sorted: Vec<f64> = rows.iter().map(|row| row.milliseconds).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or(f64::NAN);
    (at(50), at(95))
}

/// Differences between the engine and the single methods, with 95 % intervals clustered by repository.
fn differences(rows: &[&AnswerRow]) -> String {
    let mut out = "| hybrid minus | nearest-line, exact | similarity | longest-match, exact | similarity |\n\
                   |---|---|---|---|---|\n"
        .to_owned();
    for scenario in StudyScenario::ALL.into_iter().filter(|&scenario| scenario != StudyScenario::CompleteBody)
    {
        let cell = |method: Method, metric: Metric| difference(rows, scenario, method, metric);
        let cells = [Method::NearestLine, Method::LongestMatch].map(|method| {
            format!("{} | {}", cell(method, Metric::TokenExact), cell(method, Metric::EditSimilarity))
        });
        writeln!(out, "| {} | {} |", scenario.name(), cells.join(" | ")).expect(STRING);
    }
    out
}

fn difference(rows: &[&AnswerRow], scenario: StudyScenario, method: Method, metric: Metric) -> String {
    let observations = |method| -> Vec<Observation<'_>> {
        rows_of(rows, scenario, method).into_iter().map(observation).collect()
    };
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

fn observation(row: &AnswerRow) -> Observation<'_> {
    let metrics = [
        (Metric::TokenExact, MetricValue::Value(f64::from(u8::from(row.exact)))),
        (Metric::EditSimilarity, MetricValue::Value(row.similarity)),
    ];
    Observation::new(&row.case, row.repo, metrics.into(), Some(row.milliseconds))
}

fn scenarios() -> impl Iterator<Item = StudyScenario> {
    TARGETS.into_iter().map(|(scenario, ..)| scenario)
}

fn names_of(rows: &[&AnswerRow]) -> BTreeSet<&'static str> {
    rows.iter().map(|row| row.language.name()).collect()
}

/// The engine's answers in one language, or in all.
fn in_language<'r>(rows: &[&'r AnswerRow], scenario: StudyScenario, language: &str) -> Vec<&'r AnswerRow> {
    let rows = rows.iter().copied();
    rows.filter(|row| row.scenario == scenario && row.language.name() == language).collect()
}

/// The mean of the languages' means: each has the same weight, whatever its number of repositories.
fn mean_of_languages(rows: &[&AnswerRow], scenario: StudyScenario) -> [f64; 2] {
    let names = names_of(rows);
    let sum = names.iter().fold([0.0; 2], |sum, language| {
        let [exact, similarity] = means(&in_language(rows, scenario, language));
        [sum[0] + exact, sum[1] + similarity]
    });
    sum.map(|sum| sum / names.len().max(1) as f64)
}

fn languages(rows: &[&AnswerRow]) -> String {
    let heads: Vec<&str> = scenarios().map(StudyScenario::name).collect();
    let mut out = format!("| language | {} |\n|---|---|---|---|---|---|---|\n", heads.join(" | "));
    for language in names_of(rows) {
        let cells: Vec<String> =
            scenarios().map(|scenario| cell(means(&in_language(rows, scenario, language)))).collect();
        writeln!(out, "| {language} | {} |", cells.join(" | ")).expect(STRING);
    }
    let cells: Vec<String> = scenarios().map(|scenario| cell(mean_of_languages(rows, scenario))).collect();
    writeln!(out, "| mean of the languages | {} |", cells.join(" | ")).expect(STRING);
    let targets = TARGETS.map(|(_, exact, similarity)| cell([exact, similarity]));
    writeln!(out, "| target | {} |", targets.join(" | ")).expect(STRING);
    out
}

/// The distance to each target, with the upper bounds.
fn shortfalls(rows: &[&AnswerRow], ceilings: &[&UpperBound]) -> String {
    let mut out = "Means of the languages. *Best proposal*: if the best of the four proposals were always chosen. *Elsewhere*: truths that \
                   also occur elsewhere in the repository, ignoring blanks; few others can be copied. The study with the targets \
                   counted 66.7, 65.3, 19.7, 34.8, 12.7 and 25.0 % on its repositories.\n\n\
                   | scenario | hybrid | target | missing | best proposal | elsewhere |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (scenario, exact, similarity) in TARGETS {
        let [reached_exact, reached_similarity] = mean_of_languages(rows, scenario);
        let of_language = |language: &str| -> Vec<&UpperBound> {
            ceilings
                .iter()
                .filter(|one| one.scenario == scenario && one.language.name() == language)
                .copied()
                .collect()
        };
        let names = names_of(rows);
        let mean = |value: &dyn Fn(&UpperBound) -> f64| {
            100.0
                * names
                    .iter()
                    .map(|language| {
                        let all = of_language(language);
                        all.iter().map(|one| value(one)).sum::<f64>() / all.len().max(1) as f64
                    })
                    .sum::<f64>()
                / names.len().max(1) as f64
        };
        let missing = |wanted: f64, reached: f64| match wanted - reached {
            missing if missing > 0.0 => format!("{missing:.1}"),
            _ => "–".to_owned(),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} / {} | {} | {:.1} |",
            scenario.name(),
            cell([reached_exact, reached_similarity]),
            cell([exact, similarity]),
            missing(exact, reached_exact),
            missing(similarity, reached_similarity),
            cell([mean(&|one| f64::from(u8::from(one.best_exact))), mean(&|one| one.best_similarity)]),
            mean(&|one| f64::from(u8::from(one.occurs_elsewhere))),
        )
        .expect(STRING);
    }
    out
}

/// Number of wrong statements shown per kind, and their maximum length in bytes.
const EXAMPLES: usize = 6;
const EXAMPLE_BYTES: usize = 60;

/// Whether a wrong answer is of a kind.
type IsKind = fn(&UpperBound) -> bool;

/// Wrong statements, spread over the repositories, by the kind of error.
fn examples(ceilings: &[&UpperBound]) -> String {
    let fits = |text: &str| text.len() <= EXAMPLE_BYTES && !text.contains(['\n', '|', '`']);
    let wrong: Vec<&UpperBound> = ceilings
        .iter()
        .copied()
        .filter(|one| one.scenario == StudyScenario::StatementRest && !one.exact)
        .collect();
    let kinds: [(&str, IsKind); 3] = [
        ("another proposal was right", |one| one.best_exact),
        ("it occurs elsewhere, but was not proposed", |one| !one.best_exact && one.occurs_elsewhere),
        ("it occurs nowhere else", |one| !one.best_exact && !one.occurs_elsewhere),
    ];
    let mut out = "Wrong statements by cause:\n\n".to_owned();
    for (name, is_kind) in &kinds {
        let share = percent(wrong.iter().filter(|one| is_kind(one)).count(), wrong.len());
        writeln!(out, "- {share:.0} %: {name}").expect(STRING);
    }
    out.push_str("\n| repository | before the cursor | truth | answer | cause |\n|---|---|---|---|---|\n");
    for (name, is_kind) in kinds {
        let shown: Vec<&&UpperBound> = wrong
            .iter()
            .filter(|one| {
                is_kind(one) && [&one.line, &one.truth, &one.answer].into_iter().all(|text| fits(text))
            })
            .collect();
        for one in shown.iter().step_by(shown.len().div_ceil(EXAMPLES).max(1)) {
            let UpperBound { repo, line, truth, answer, .. } = one;
            writeln!(out, "| {repo} | `{line}` | `{truth}` | `{answer}` | {name} |").expect(STRING);
        }
    }
    out
}

/// Precisions that a gate may be set to.
const PRECISIONS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];

/// Coverage at a given precision, and the effect of the gates in the editor's settings.
fn gates(rows: &[&AnswerRow]) -> String {
    let least = BuiltinSettings::for_editor().min_probability.unwrap_or_default();
    let mut out = format!(
        "Answers in the order of the engine's confidence: the largest share of all cases that can be shown while 50, 60, 70 and 80 % of \
         the shown answers are exactly right (target for statements: 80, 60, 44 %), and the share that passes a threshold of {least}, the \
         editor's for statements; that for blocks is 0.5.\n\n\
         | scenario | 50 % | 60 % | 70 % | 80 % | passing | of those exact |\n|---|---|---|---|---|---|---|\n"
    );
    for scenario in scenarios() {
        let all = rows_of(rows, scenario, Method::Hybrid);
        let covered = PRECISIONS.map(|precision| format!("{:.0} %", coverage(&all, precision)));
        let shown: Vec<_> = all.iter().filter(|row| !row.silent && row.trust >= least).collect();
        let exact = percent(shown.iter().filter(|row| row.exact).count(), shown.len());
        let (name, shown) = (scenario.name(), percent(shown.len(), all.len()));
        writeln!(out, "| {name} | {} | {shown:.0} % | {exact:.0} % |", covered.join(" | ")).expect(STRING);
    }
    format!("{out}\n{}", continuations(rows))
}

/// Returns the largest share of the cases, in percent, whose most confident answers have this precision.
fn coverage(rows: &[&AnswerRow], precision: f64) -> f64 {
    let mut shown: Vec<&&AnswerRow> = rows.iter().filter(|row| !row.silent).collect();
    shown.sort_by(|a, b| b.trust.total_cmp(&a.trust));
    let (mut right, mut most) = (0, 0);
    for (place, row) in shown.iter().enumerate() {
        right += usize::from(row.exact);
        if right as f64 >= precision * (place + 1) as f64 {
            most = place + 1;
        }
    }
    percent(most, rows.len())
}

/// Thresholds around the chosen one.
const CONTINUATIONS: [f64; 7] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];

/// The number of blocks that each threshold would leave alone, rightly and wrongly.
fn continuations(rows: &[&AnswerRow]) -> String {
    let chosen = BuiltinSettings::for_editor().min_continuation;
    let mut out = "| continuation of | complete bodies left alone | rests left alone | exact rests lost |\n\
                   |---|---|---|---|\n"
        .to_owned();
    let complete = rows_of(rows, StudyScenario::CompleteBody, Method::Hybrid);
    let rest = rows_of(rows, StudyScenario::FunctionRest, Method::Hybrid);
    let exact: Vec<&AnswerRow> = rest.iter().copied().filter(|row| row.exact).collect();
    for least in CONTINUATIONS {
        let left_alone = |rows: &[&AnswerRow]| rows.iter().filter(|row| row.continuation < least).count();
        let rightly = percent(left_alone(&complete), complete.len());
        let wrongly = percent(left_alone(&rest), rest.len());
        let lost = percent(left_alone(&exact), rest.len());
        let mark = if Some(least) == chosen { " (chosen)" } else { "" };
        writeln!(out, "| {least}{mark} | {rightly:.0} % | {wrongly:.1} % | {lost:.1} points |")
            .expect(STRING);
    }
    let mut likely: Vec<f64> = rest.iter().map(|row| row.continuation).collect();
    likely.sort_by(f64::total_cmp);
    let threshold = likely.get(likely.len() / 20).copied().unwrap_or_default();
    let silent = complete.iter().filter(|row| row.continuation < threshold).count();
    writeln!(
        out,
        "\nAt 5 % of the rests lost, {:.0} % of the complete bodies are left alone (target: 60 %).",
        percent(silent, complete.len())
    )
    .expect(STRING);
    out
}

fn building(builds: &[&CorpusBuildTime]) -> String {
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
