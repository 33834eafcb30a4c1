//! `ghostbench engines complete`: makes one completion at a position, like the editor, and explains it.

mod explanation;

use std::sync::Arc;
use std::time::Duration;

use crate::views::engines::{CompletionView, completion_text};
use ::engines::{Cassette, RegisteredEngine, Role, ServerTimings, Usage};
use completion::{ConfiguredEngine, DocumentSnapshot, DocumentText, Outcome, OutcomeStatus, TimingSource};
use config::{Config, EngineKind};
use serde_json::{Value, json};
use session::role_settings;
use syntax::SourceFile;
use text::PositionEncoding;
use tokio_util::sync::CancellationToken;

use super::check::template_note;
use crate::args::EnginesCompleteArgs;
use crate::exit::NoAnswerError;
use crate::interrupt::unless_stopped;
use crate::output::{print, print_message, style};
use crate::steps::cassette;
use crate::steps::cursor_arg::{cursor_offset, find_file};
use crate::steps::engine_registry;
use crate::steps::index::index;
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::SettingsSources;
use explanation::{alternatives, json_alternatives, json_explanation, terminal_explanation};

/// Number of lines shown before and after the position.
const CONTEXT_LINES: usize = 4;

/// Runs the command.
pub(super) fn run(args: &EnginesCompleteArgs) -> anyhow::Result<()> {
    workspace::check_folder(&args.workspace)?;
    // Report an invalid position before reading the workspace.
    let file = find_file(&args.workspace, &args.place.path)?;
    let cursor = cursor_offset(&args.place, &file.text)?;
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&args.workspace)?;
    let cassette = cassette::open(&args.cassette)?;
    let candidates = candidates(&config, &args.engines, cassette.as_ref())?;
    if !config.completion.is_enabled {
        print_message("ghost text is switched off in the settings; the editor would show none");
    }
    let world = index(&args.workspace)?.index_with_tokens();
    let document =
        DocumentText { path: file.path.clone(), language: file.language, text: file.text.to_arc() };
    let snapshot = world.snapshot(document);
    let asking = async {
        let mut answers = Vec::new();
        for candidate in &candidates {
            let settings = role_settings(Role::GhostText, &config);
            let Some(automatic) = ConfiguredEngine::new(candidate, Role::GhostText, settings) else {
                continue;
            };
            let mut engine = if args.invoked { automatic.invoked() } else { automatic };
            engine.settings.explain = args.explain;
            answers.push(ask(candidate, engine, &snapshot, cursor).await);
        }
        answers
    };
    let answers = runtime()?.block_on(unless_stopped(asking))?;
    print(&if args.json {
        as_json(&file, cursor, &answers, args)
    } else {
        as_text(&file, cursor, &answers, args)
    })?;
    cassette::close(&args.cassette, cassette.as_deref())?;
    if answers
        .iter()
        .any(|answer| matches!(answer.outcome.status, OutcomeStatus::Failed(_) | OutcomeStatus::Timeout))
    {
        return Err(NoAnswerError("engines gave no answer".to_owned()).into());
    }
    Ok(())
}

/// Returns the named engines, or the one that writes the ghost text.
fn candidates(
    config: &Config,
    names: &[String],
    cassette: Option<&Arc<Cassette>>,
) -> anyhow::Result<Vec<RegisteredEngine>> {
    let writing: Vec<String> = config.completion.engine.iter().cloned().collect();
    let mut candidates =
        engine_registry::select_for_run(config, if names.is_empty() { &writing } else { names }, cassette)?;
    if names.is_empty() {
        candidates.truncate(1);
    }
    Ok(candidates)
}

/// Returns the source of the times if they were not measured now.
fn timing_source_name(clock: TimingSource) -> Option<&'static str> {
    match clock {
        TimingSource::Measured => None,
        TimingSource::Recorded(_) => Some("times of its recording"),
        TimingSource::Unknown => Some("recorded without times"),
    }
}

/// An engine's answer.
struct EngineOutcome<'a> {
    candidate: &'a RegisteredEngine,
    /// How its prompt was built.
    template_note: Option<String>,
    outcome: Outcome,
}

async fn ask<'a>(
    candidate: &'a RegisteredEngine,
    asked: ConfiguredEngine,
    snapshot: &DocumentSnapshot,
    cursor: usize,
) -> EngineOutcome<'a> {
    let cancel = CancellationToken::new();
    let outcome = completion::complete(snapshot, cursor, &*asked.engine, &asked.settings, &cancel).await;
    let is_there = !matches!(outcome.status, OutcomeStatus::Failed(_) | OutcomeStatus::Timeout);
    let introduction = if is_there { asked.engine.probe().await.ok() } else { None };
    let way = introduction.and_then(|introduction| introduction.prompt_mode);
    EngineOutcome { candidate, template_note: way.as_ref().map(template_note), outcome }
}

fn status(status: &OutcomeStatus) -> (&'static str, Option<String>) {
    match status {
        OutcomeStatus::Ok => ("ok", None),
        OutcomeStatus::Silent(reason) => ("silent", Some((*reason).to_owned())),
        OutcomeStatus::Gated(gate) => ("kept back", Some(gate.to_string())),
        OutcomeStatus::Timeout => ("timeout", Some("the deadline passed".to_owned())),
        OutcomeStatus::Cancelled => ("cancelled", None),
        OutcomeStatus::Failed(error) => ("failed", Some(error.to_string())),
    }
}

fn as_text(
    file: &SourceFile,
    cursor: usize,
    answers: &[EngineOutcome<'_>],
    args: &EnginesCompleteArgs,
) -> String {
    let shown =
        answers.iter().map(|answer| completion_text(&render_answer(file, cursor, answer, args), style()));
    shown.collect::<Vec<_>>().join("\n")
}

fn render_answer(
    file: &SourceFile,
    cursor: usize,
    answer: &EngineOutcome<'_>,
    args: &EnginesCompleteArgs,
) -> CompletionView {
    let EngineOutcome { candidate, template_note: asked_as, outcome } = answer;
    let (prefix, suffix) = file.text.split_at(cursor);
    let start = prefix.rmatch_indices('\n').nth(CONTEXT_LINES).map_or(0, |(at, _)| at + 1);
    let end = suffix.match_indices('\n').nth(CONTEXT_LINES).map_or(suffix.len(), |(at, _)| at);
    let engine = [
        Some(candidate.name.clone()),
        candidate.kind.map(|kind| kind.name().to_owned()),
        candidate.model().map(str::to_owned),
        asked_as.as_ref().map(|form| format!("asked as {form}")),
    ];
    let (word, reason) = status(&outcome.status);
    CompletionView {
        engine: engine.into_iter().flatten().collect(),
        status: reason.map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}")),
        facts: timings_and_tokens(outcome),
        first_line: prefix[..start].matches('\n').count() + 1,
        before: prefix[start..].to_owned(),
        text: outcome.text.clone(),
        after: suffix[..end].to_owned(),
        explanation: args.explain.then(|| terminal_explanation(&candidate.name, outcome, args.invoked)),
        alternatives: alternatives(outcome),
        cuts: filter_changes(outcome),
        prompt: outcome.trace.prompt.clone().filter(|_| args.prompt),
    }
}

/// Formats the known times and token counts.
fn timings_and_tokens(outcome: &Outcome) -> Vec<String> {
    let trace = &outcome.trace;
    let ms = |duration: Duration| format!("{:.1} ms", duration.as_secs_f64() * 1e3);
    let context = match (trace.is_context_late, trace.context.len()) {
        (true, _) => "no context in time".to_owned(),
        (false, pieces) => format!("context of {pieces} pieces in {}", ms(trace.timings.gather)),
    };
    let tokens = trace.usage.map(|Usage { input, output, cached }| {
        let cached = cached.map(|cached| format!(" ({cached} cached)")).unwrap_or_default();
        format!("{input} tokens read{cached}, {output} written")
    });
    let facts = [
        Some(context),
        trace.timings.first.map(|first| format!("first text after {}", ms(first))),
        Some(format!("all after {}", ms(trace.timings.total))),
        timing_source_name(trace.timings.clock).map(str::to_owned),
        tokens,
    ];
    facts.into_iter().flatten().collect()
}

/// Describes the changes of each filter.
fn filter_changes(outcome: &Outcome) -> Vec<String> {
    let befores = outcome.trace.cuts.iter().map(|cut| &cut.before);
    let afters = befores.skip(1).chain([&outcome.text]);
    let cuts = outcome.trace.cuts.iter().zip(afters);
    cuts.map(|(cut, after)| match cut.before.strip_prefix(after.as_str()) {
        Some(gone) => format!("{} cut {gone:?}", cut.filter),
        None => format!("{} made {after:?} of {:?}", cut.filter, cut.before),
    })
    .collect()
}

/// Formats positions as in a case: 0-based lines, and 0-based characters in UTF-16 units.
fn as_json(
    file: &SourceFile,
    cursor: usize,
    answers: &[EngineOutcome<'_>],
    args: &EnginesCompleteArgs,
) -> String {
    let position = text::Document::new(&file.text).position(cursor, PositionEncoding::Utf16);
    let report = json!({
        "path": *file.path,
        "line": position.map(|position| position.line),
        "character": position.map(|position| position.character),
        "engines": answers.iter().map(|answer| json_answer(answer, args)).collect::<Vec<_>>(),
    });
    format!("{report:#}\n")
}

fn json_answer(answer: &EngineOutcome<'_>, args: &EnginesCompleteArgs) -> Value {
    let EngineOutcome { candidate, template_note: asked_as, outcome } = answer;
    let trace = &outcome.trace;
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    let server = |server: ServerTimings| json!({"load": server.load.map(ms), "prompt": server.prompt.map(ms), "generation": server.generation.map(ms)});
    let (word, reason) = status(&outcome.status);
    let mut row = json!({
        "name": candidate.name,
        "kind": candidate.kind.map(EngineKind::name),
        "model": candidate.model(),
        "asked_as": asked_as,
        "status": if word == "kept back" { "gated" } else { word },
        "reason": reason,
        "text": outcome.text,
        "raw": trace.received,
        "ms": {"gather": ms(trace.timings.gather), "first": trace.timings.first.map(ms), "total": ms(trace.timings.total)},
        "clock": timing_source_name(trace.timings.clock),
        "server_ms": trace.server.map(server),
        "tokens": trace.usage.map(|usage| json!({"in": usage.input, "out": usage.output, "cached": usage.cached})),
        "sent_bytes": {"prefix": trace.request_size.prefix, "suffix": trace.request_size.suffix, "context": trace.request_size.context},
        "context": trace.context.iter().map(|item| &*item.path).collect::<Vec<_>>(),
        "cuts": trace.cuts.iter().map(|cut| json!({"filter": cut.filter, "before": cut.before})).collect::<Vec<_>>(),
    });
    if !trace.edits.is_empty() {
        row["edits"] = trace
            .edits
            .iter()
            .map(|edit| json!({"start": edit.range.start, "end": edit.range.end, "text": edit.text}))
            .collect();
    }
    if args.invoked {
        row["alternatives"] = json_alternatives(outcome, args.explain);
    }
    if args.explain {
        row["explanation"] = json_explanation(outcome.trace.explanation.as_ref());
    }
    if args.prompt {
        row["prompt"] = trace.prompt.clone().into();
    }
    row
}
