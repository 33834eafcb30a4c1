//! The estimate of a run: shown before requests leave this process, and alone with `--dry-run`.

use cases::Prediction;
use replay::{DataFolder, EngineEstimate, RequestPlan, RunEstimate, RunInputs};
use report::format;
use report::terminal::{Style, TextTable};
use serde_json::{Value, json};

use crate::args::LimitArgs;
use crate::exit::UsageError;
use crate::folders;
use crate::output::{self, count, print_message};

/// Returns the estimate of the requests that are missing in `done`; the latencies are those of `done` and of the newest run called `name`.
pub(crate) fn estimate(
    inputs: &RunInputs,
    plan: &RequestPlan,
    done: &[Prediction],
    name: &str,
) -> RunEstimate {
    let newest = folders::data_path().map(|folder| DataFolder::new(folder).newest_answers(name));
    RunEstimate::new(inputs, plan, done, &newest.unwrap_or_default())
}

/// Checks that the budget can limit an engine, and names those that it does not limit.
pub(crate) fn check_budget(limits: &LimitArgs, inputs: &RunInputs) -> Result<(), UsageError> {
    let external = || inputs.engines.iter().filter(|engine| engine.engine.description().kind.is_external());
    if limits.budget.is_none() || external().next().is_none() {
        return Ok(());
    }
    let free: Vec<String> = external()
        .filter(|engine| engine.price.is_none())
        .map(|engine| format!("`{}`", engine.name()))
        .collect();
    if free.len() == external().count() {
        let message =
            "--budget limits no engine: set `price_in` and `price_out` of the engines in the settings";
        return Err(UsageError(message.to_owned()));
    }
    if !free.is_empty() {
        let names = free.join(", ");
        print_message(&format!(
            "--budget does not limit {names}: without `price_in` and `price_out`, an engine is free"
        ));
    }
    Ok(())
}

/// Formats the estimate for people.
pub(crate) fn text(estimate: &RunEstimate, style: Style) -> String {
    let header = ["engine", "requests", "prompt tokens", "answer tokens", "cost", "median ms"];
    let rows = estimate.engines.iter().map(row).collect();
    let table = TextTable { header: &header, words: 1, dispensable: &[5, 3], rows }.draw(style);
    let mut lines = vec![format!("{}\n{table}", style.title("estimate"))];
    lines.extend(
        (estimate.answered > 0).then(|| format!("{} exist already.", count(estimate.answered, "answer"))),
    );
    lines.extend((estimate.reused > 0).then(|| {
        let answers = count(estimate.reused, "answer");
        format!("{answers} without copies need no request, because hiding the copies does not change it.")
    }));
    lines.push(match estimate.seconds {
        Some(seconds) => format!("Time: about {}.", duration(seconds)),
        None => "Time: unknown, because an engine has no earlier answers to this suite.".to_owned(),
    });
    lines.push(
        "Tokens are estimated from the texts. The first number of answer tokens and cost assumes answers as long as the truths, the second \
         one the longest possible answers."
            .to_owned(),
    );
    lines.join("\n") + "\n"
}

fn row(engine: &EngineEstimate) -> Vec<String> {
    let range = |low: String, high: String| if low == high { low } else { format!("{low}-{high}") };
    let is_asked = engine.is_external && engine.requests > 0;
    let tokens = |text: String| if is_asked { text } else { String::new() };
    let cost = engine.cost.zip(engine.highest_cost);
    vec![
        engine.engine.clone(),
        engine.requests.to_string(),
        tokens(thousands(engine.prompt_tokens)),
        tokens(range(thousands(engine.answer_tokens), thousands(engine.longest_answer_tokens))),
        tokens(cost.map_or_else(
            || "no price".to_owned(),
            |(low, high)| range(format::amount(low), format::amount(high)),
        )),
        engine.latency.map(|ms| format!("{ms:.0}")).unwrap_or_default(),
    ]
}

/// Formats a number of tokens with three digits at most.
fn thousands(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{:.0}k", tokens as f64 / 1e3),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// Returns the estimate as JSON.
pub(crate) fn json(estimate: &RunEstimate) -> Value {
    let engine = |engine: &EngineEstimate| {
        json!({
            "engine": engine.engine,
            "is_external": engine.is_external,
            "requests": engine.requests,
            "prompt_tokens": engine.prompt_tokens,
            "answer_tokens": engine.answer_tokens,
            "longest_answer_tokens": engine.longest_answer_tokens,
            "cost": engine.cost,
            "highest_cost": engine.highest_cost,
            "median_ms": engine.latency,
        })
    };
    json!({
        "engines": estimate.engines.iter().map(engine).collect::<Vec<_>>(),
        "answered": estimate.answered,
        "reused": estimate.reused,
        "seconds": estimate.seconds,
    })
}

/// Prints the estimate alone.
pub(crate) fn print_estimate(estimate: &RunEstimate, as_json: bool) -> anyhow::Result<()> {
    let text = if as_json { format!("{:#}\n", json(estimate)) } else { text(estimate, output::style()) };
    Ok(output::print(&text)?)
}
