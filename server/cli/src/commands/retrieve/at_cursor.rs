//! Shows the context that each strategy would send at one position.

use std::path::Path;

use crate::views::retrieval::{RetrievalItem, RetrievalView, retrieval_text};
use index::{Hit, RetrievalQuery, TokenBudget};
use syntax::SourceFile;
use text::{Document, PositionEncoding};

use super::{Retrieval, budget, index, milliseconds, strategies};
use crate::args::{CursorArg, RetrieveArgs};
use crate::output;
use crate::steps::cursor_arg::{cursor_offset, find_file};
use crate::steps::embeddings::Embeddings;

/// Runs the strategies and prints their hits.
pub(super) fn run(
    place: &CursorArg,
    args: &RetrieveArgs,
    embeddings: Option<&mut Embeddings>,
) -> anyhow::Result<()> {
    let workspace = args.workspace.as_deref().unwrap_or_else(|| Path::new("."));
    workspace::check_folder(workspace)?;
    // Report an invalid position before reading the workspace.
    let file = find_file(workspace, &place.path)?;
    let cursor = cursor_offset(place, &file.text)?;
    let indexed = index(workspace)?;
    let mut retrieval = Retrieval {
        searcher: indexed.index.index().searcher(&|_| false),
        projects: indexed.index.projects(),
        budget: TokenBudget { tokens: budget(args) as usize },
        embeddings,
    };
    let (prefix, suffix) = file.text.split_at(cursor);
    let query = RetrievalQuery { path: &file.path, language: file.language, prefix, suffix, recent: &[] };
    let retrieved: Vec<RetrievalView> = strategies(args)
        .into_iter()
        .map(|strategy| {
            let (hits, duration) = retrieval.ask(strategy, &query);
            RetrievalView {
                strategy: strategy.name().to_owned(),
                budget: budget(args) as usize,
                ms: milliseconds(duration),
                items: items(hits),
            }
        })
        .collect();
    let text =
        if args.json { json(&file, cursor, &retrieved) } else { retrieval_text(&retrieved, output::style()) };
    Ok(output::print(&text)?)
}

fn items(hits: Vec<Hit>) -> Vec<RetrievalItem> {
    let tokens = index::budget_tokens(&hits);
    let item = |(hit, tokens): (Hit, usize)| RetrievalItem {
        path: hit.path.to_string(),
        start_line: hit.start_line,
        end_line: hit.end_line,
        kind: hit.kind.name(),
        score: hit.score,
        tokens,
        reason: hit.reason,
        text: hit.text,
    };
    hits.into_iter().zip(tokens).map(item).collect()
}

/// Formats positions as in a case: 0-based lines, and 0-based characters in UTF-16 units.
fn json(file: &SourceFile, cursor: usize, retrieved: &[RetrievalView]) -> String {
    let strategies: Vec<_> = retrieved
        .iter()
        .map(|strategy| {
            let items: Vec<_> = strategy.items.iter().map(json_item).collect();
            serde_json::json!({
                "strategy": strategy.strategy,
                "tokens": strategy.tokens(),
                "budget": strategy.budget,
                "ms": strategy.ms,
                "items": items,
            })
        })
        .collect();
    let position = Document::new(&file.text).position(cursor, PositionEncoding::Utf16);
    let report = serde_json::json!({
        "path": *file.path,
        "line": position.map(|position| position.line),
        "character": position.map(|position| position.character),
        "strategies": strategies,
    });
    format!("{report:#}\n")
}

fn json_item(item: &RetrievalItem) -> serde_json::Value {
    serde_json::json!({
        "path": item.path,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "kind": item.kind,
        "score": item.score,
        "tokens": item.tokens,
        "reason": item.reason,
        "text": item.text,
    })
}
