//! `ghostbench engines complete`: one completion at a place, by the way that the editor's take, and how it came about.

mod explained;

use std::sync::Arc;
use std::time::Duration;

use ::engines::{Cassette, RegisteredEngine, ServerTimings, Usage};
use completion::{Clock, Document, Outcome, Snapshot, Status};
use config::{Config, Kind};
use lsp::EditorEngine;
use replay::ConfiguredEngine;
use report::terminal::{Completed, completed};
use serde_json::{Value, json};
use syntax::SourceFile;
use text::Encoding;
use tokio_util::sync::CancellationToken;

use super::check::asked_as;
use crate::args::EnginesCompleteArgs;
use crate::exit::Unanswered;
use crate::interrupt::unless_stopped;
use crate::output::{print, say, style};
use crate::steps::ask::runtime;
use crate::steps::cassette;
use crate::steps::engines;
use crate::steps::index::index;
use crate::steps::place::{cursor, file};
use crate::steps::settings::Sources;
use explained::{alternatives, explained, json_alternatives, json_explanation};

/// Lines of code that are shown before the place and behind it.
const LINES: usize = 4;

/// Runs the command.
pub(super) fn run(args: &EnginesCompleteArgs) -> anyhow::Result<()> {
    workspace::check_folder(&args.workspace)?;
    // What is wrong with the place is told before the workspace is read.
    let file = file(&args.workspace, &args.place.path)?;
    let cursor = cursor(&args.place, &file.text)?;
    let config = Sources::new(args.settings.file.as_deref()).config(&args.workspace)?;
    let cassette = cassette::open(&args.cassette)?;
    let candidates = candidates(&config, &args.engines, cassette.as_ref())?;
    if !config.completion.is_enabled {
        say("ghost text is switched off in the settings; the editor would show none");
    }
    let world = index(&args.workspace)?.world();
    let document =
        Document { path: file.path.clone(), language: file.language, text: file.text.as_ref().into() };
    let snapshot = world.open(document);
    let asking = async {
        let mut answers = Vec::new();
        for candidate in &candidates {
            let Some(EditorEngine { automatic, invoked, .. }) = EditorEngine::new(candidate, &config) else {
                continue;
            };
            let mut engine = if args.invoked { invoked } else { automatic };
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
    if answers.iter().any(|answer| matches!(answer.outcome.status, Status::Failed(_) | Status::Timeout)) {
        return Err(Unanswered("engines gave no answer".to_owned()).into());
    }
    Ok(())
}

/// Those that are named; else the one that writes the ghost text.
fn candidates(
    config: &Config,
    names: &[String],
    cassette: Option<&Arc<Cassette>>,
) -> anyhow::Result<Vec<RegisteredEngine>> {
    let writing: Vec<String> = config.completion.engine.iter().cloned().collect();
    let mut candidates = engines::to_ask(config, if names.is_empty() { &writing } else { names }, cassette)?;
    if names.is_empty() {
        candidates.truncate(1);
    }
    Ok(candidates)
}

/// Whose times they are, if they were not measured now.
fn clock(clock: Clock) -> Option<&'static str> {
    match clock {
        Clock::Measured => None,
        Clock::Recorded(_) => Some("times of its recording"),
        Clock::Unknown => Some("recorded without times"),
    }
}

/// What an engine answered.
struct Answer<'a> {
    candidate: &'a RegisteredEngine,
    /// How its model was asked.
    asked_as: Option<String>,
    outcome: Outcome,
}

async fn ask<'a>(
    candidate: &'a RegisteredEngine,
    asked: ConfiguredEngine,
    snapshot: &Snapshot,
    cursor: usize,
) -> Answer<'a> {
    let cancel = CancellationToken::new();
    let outcome = completion::complete(snapshot, cursor, &*asked.engine, &asked.settings, &cancel).await;
    let is_there = !matches!(outcome.status, Status::Failed(_) | Status::Timeout);
    let introduction = if is_there { asked.engine.introduce().await.ok() } else { None };
    let way = introduction.and_then(|introduction| introduction.way);
    Answer { candidate, asked_as: way.as_ref().map(asked_as), outcome }
}

fn status(status: &Status) -> (&'static str, Option<String>) {
    match status {
        Status::Ok => ("ok", None),
        Status::Silent(reason) => ("silent", Some((*reason).to_owned())),
        Status::Gated(gate) => ("kept back", Some(gate.to_string())),
        Status::Timeout => ("timeout", Some("the deadline passed".to_owned())),
        Status::Cancelled => ("cancelled", None),
        Status::Failed(error) => ("failed", Some(error.to_string())),
    }
}

fn as_text(file: &SourceFile, cursor: usize, answers: &[Answer<'_>], args: &EnginesCompleteArgs) -> String {
    let shown = answers.iter().map(|answer| completed(&shown(file, cursor, answer, args), style()));
    shown.collect::<Vec<_>>().join("\n")
}

fn shown(file: &SourceFile, cursor: usize, answer: &Answer<'_>, args: &EnginesCompleteArgs) -> Completed {
    let Answer { candidate, asked_as, outcome } = answer;
    let (prefix, suffix) = file.text.split_at(cursor);
    let start = prefix.rmatch_indices('\n').nth(LINES).map_or(0, |(at, _)| at + 1);
    let end = suffix.match_indices('\n').nth(LINES).map_or(suffix.len(), |(at, _)| at);
    let engine = [
        Some(candidate.name.clone()),
        candidate.kind.map(|kind| kind.name().to_owned()),
        candidate.model().map(str::to_owned),
        asked_as.as_ref().map(|form| format!("asked as {form}")),
    ];
    let (word, reason) = status(&outcome.status);
    Completed {
        engine: engine.into_iter().flatten().collect(),
        status: reason.map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}")),
        facts: facts(outcome),
        first_line: prefix[..start].matches('\n').count() + 1,
        before: prefix[start..].to_owned(),
        text: outcome.text.clone(),
        after: suffix[..end].to_owned(),
        explained: args.explain.then(|| explained(&candidate.name, outcome, args.invoked)),
        alternatives: alternatives(outcome),
        cuts: cuts(outcome),
        prompt: outcome.trace.prompt.clone().filter(|_| args.prompt),
    }
}

/// Times and tokens, as far as they are known.
fn facts(outcome: &Outcome) -> Vec<String> {
    let trace = &outcome.trace;
    let ms = |duration: Duration| format!("{:.1} ms", duration.as_secs_f64() * 1e3);
    let context = match (trace.is_context_late, trace.gathered.len()) {
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
        clock(trace.timings.clock).map(str::to_owned),
        tokens,
    ];
    facts.into_iter().flatten().collect()
}

/// What each filter took away or adapted.
fn cuts(outcome: &Outcome) -> Vec<String> {
    let befores = outcome.trace.cuts.iter().map(|cut| &cut.before);
    let afters = befores.skip(1).chain([&outcome.text]);
    let cuts = outcome.trace.cuts.iter().zip(afters);
    cuts.map(|(cut, after)| match cut.before.strip_prefix(after.as_str()) {
        Some(gone) => format!("{} cut {gone:?}", cut.filter),
        None => format!("{} made {after:?} of {:?}", cut.filter, cut.before),
    })
    .collect()
}

/// Places count as in a case: lines from 0, characters in UTF-16 units from 0.
fn as_json(file: &SourceFile, cursor: usize, answers: &[Answer<'_>], args: &EnginesCompleteArgs) -> String {
    let position = text::Document::new(&file.text).position(cursor, Encoding::Utf16);
    let report = json!({
        "path": *file.path,
        "line": position.map(|position| position.line),
        "character": position.map(|position| position.character),
        "engines": answers.iter().map(|answer| json_answer(answer, args)).collect::<Vec<_>>(),
    });
    format!("{report:#}\n")
}

fn json_answer(answer: &Answer<'_>, args: &EnginesCompleteArgs) -> Value {
    let Answer { candidate, asked_as, outcome } = answer;
    let trace = &outcome.trace;
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    let server = |server: ServerTimings| json!({"load": server.load.map(ms), "prompt": server.prompt.map(ms), "generation": server.generation.map(ms)});
    let (word, reason) = status(&outcome.status);
    let mut row = json!({
        "name": candidate.name,
        "kind": candidate.kind.map(Kind::name),
        "model": candidate.model(),
        "asked_as": asked_as,
        "status": if word == "kept back" { "gated" } else { word },
        "reason": reason,
        "text": outcome.text,
        "raw": trace.received,
        "ms": {"gather": ms(trace.timings.gather), "first": trace.timings.first.map(ms), "total": ms(trace.timings.total)},
        "clock": clock(trace.timings.clock),
        "server_ms": trace.server.map(server),
        "tokens": trace.usage.map(|usage| json!({"in": usage.input, "out": usage.output, "cached": usage.cached})),
        "sent_bytes": {"prefix": trace.sent.prefix, "suffix": trace.sent.suffix, "context": trace.sent.context},
        "context": trace.gathered.iter().map(|item| &item.path).collect::<Vec<_>>(),
        "cuts": trace.cuts.iter().map(|cut| json!({"filter": cut.filter, "before": cut.before})).collect::<Vec<_>>(),
    });
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
