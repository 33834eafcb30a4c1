//! One-line descriptions of cases and results.

use crate::ext::{CaseSummary, EngineResult};

/// Returns the description of a case with the results of the engines.
pub(crate) fn with_results(case: &CaseSummary) -> String {
    let edited = if case.edited { ", edited since" } else { "" };
    let results: Vec<String> = case.results.iter().map(result).collect();
    let results = if results.is_empty() { "not replayed yet".to_owned() } else { results.join(" | ") };
    format!("{}{edited}: {results}", scenario(case))
}

/// Returns the scenario with its variant.
pub(crate) fn scenario(case: &CaseSummary) -> String {
    match &case.variant {
        Some(variant) => format!("{}/{variant}", case.scenario),
        None => case.scenario.clone(),
    }
}

/// Returns the result of an engine.
pub(crate) fn result(result: &EngineResult) -> String {
    let EngineResult { engine, status, exact, edit_similarity, ms, passed, .. } = result;
    let verdict = match status.as_str() {
        _ if *exact => "exact".to_owned(),
        "ok" => format!("{edit_similarity:.0} % similar"),
        other => other.to_owned(),
    };
    let tests = match passed {
        Some(true) => ", tests passed",
        Some(false) => ", tests failed",
        None => "",
    };
    format!("{engine} {verdict}{tests}, {ms:.1} ms")
}
