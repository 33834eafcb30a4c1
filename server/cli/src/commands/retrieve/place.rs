//! What each strategy would send at one place.

use std::path::Path;

use index::{Budget, Hit, Query};
use report::terminal::{Retrieved, RetrievedItem};
use syntax::SourceFile;
use text::{Document, Encoding, Position};

use super::{Retrieval, index, milliseconds, strategies, tokens};
use crate::args::{PlaceArg, RetrieveArgs};
use crate::exit::Usage;
use crate::output::{self, count};
use crate::steps::embeddings::Embeddings;
use crate::steps::index::Indexed;

/// Shows what would be sent.
pub(super) fn run(
    place: &PlaceArg,
    args: &RetrieveArgs,
    embeddings: Option<&mut Embeddings>,
) -> anyhow::Result<()> {
    let workspace = args.workspace.as_deref().unwrap_or_else(|| Path::new("."));
    let indexed = index(workspace)?;
    let file = file(&indexed, workspace, &place.path)?;
    let cursor = cursor(place, &file.text)?;
    let mut retrieval = Retrieval {
        searcher: indexed.index.searcher(&|_| false),
        projects: &indexed.projects,
        budget: Budget { tokens: args.budget as usize },
        embeddings,
    };
    let (prefix, suffix) = file.text.split_at(cursor);
    let query = Query { path: &file.path, language: file.language, prefix, suffix, recent: &[] };
    let retrieved: Vec<Retrieved> = strategies(args)
        .into_iter()
        .map(|strategy| {
            let (hits, duration) = retrieval.ask(strategy, &query);
            Retrieved {
                strategy: strategy.name().to_owned(),
                tokens: tokens(&hits),
                budget: args.budget as usize,
                ms: milliseconds(duration),
                items: hits.into_iter().map(item).collect(),
            }
        })
        .collect();
    let text = if args.json {
        json(file, place, &retrieved)
    } else {
        report::terminal::retrieved(&retrieved, output::style())
    };
    Ok(output::print(&text)?)
}

/// The file of the workspace that the path names, from here or from the workspace's root.
fn file<'a>(indexed: &'a Indexed, workspace: &Path, path: &Path) -> anyhow::Result<&'a SourceFile> {
    let from_here = path.canonicalize().ok().zip(workspace.canonicalize().ok());
    let from_here = from_here.and_then(|(path, root)| Some(path.strip_prefix(root).ok()?.to_owned()));
    let names = [from_here.as_deref(), Some(path)].into_iter().flatten().map(slashed).collect::<Vec<_>>();
    let found =
        names.iter().find_map(|name| indexed.snapshot.files().iter().find(|file| *file.path == **name));
    found.ok_or_else(|| {
        let reason = if path.exists() || workspace.join(path).exists() {
            "is there, but none of the workspace's code files: it is ignored, too large or in no language that is known"
        } else {
            "is not there"
        };
        let remedy = "name a code file in the folder, or another folder with --workspace";
        Usage(format!("{} {reason} (workspace {}); {remedy}", path.display(), workspace.display())).into()
    })
}

/// A relative path as the index has it.
fn slashed(path: &Path) -> String {
    let parts = path.components().filter(|part| !matches!(part, std::path::Component::CurDir));
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The place in bytes.
fn cursor(place: &PlaceArg, text: &str) -> anyhow::Result<usize> {
    let document = Document::new(text);
    let position = Position { line: place.line - 1, character: place.column - 1 };
    // A document takes a place behind the end of a line for that end.
    let is_there = |offset: &usize| document.position(*offset, Encoding::Utf32) == Some(position);
    if let Some(offset) = document.offset(position, Encoding::Utf32).filter(is_there) {
        return Ok(offset);
    }
    let path = place.path.display();
    let line = document.line(place.line as usize - 1).and_then(|range| document.slice(range));
    let message = match line {
        Some(line) => {
            let columns = line.trim_end_matches(['\r', '\n']).chars().count() + 1;
            format!("line {} of {path} has {}; choose one of them", place.line, count(columns, "column"))
        }
        None => format!("{path} has {}; choose one of them", count(document.line_count(), "line")),
    };
    Err(Usage(message).into())
}

fn item(hit: Hit) -> RetrievedItem {
    RetrievedItem {
        path: hit.path.to_string(),
        start_line: hit.start_line,
        end_line: hit.end_line,
        score: hit.score,
        reason: hit.reason,
        text: hit.text,
    }
}

fn json(file: &SourceFile, place: &PlaceArg, retrieved: &[Retrieved]) -> String {
    let strategies: Vec<_> = retrieved
        .iter()
        .map(|strategy| {
            let items: Vec<_> = strategy.items.iter().map(json_item).collect();
            serde_json::json!({
                "strategy": strategy.strategy,
                "tokens": strategy.tokens,
                "budget": strategy.budget,
                "ms": strategy.ms,
                "items": items,
            })
        })
        .collect();
    let (line, column) = (place.line, place.column);
    format!(
        "{:#}\n",
        serde_json::json!({ "path": *file.path, "line": line, "column": column, "strategies": strategies })
    )
}

fn json_item(item: &RetrievedItem) -> serde_json::Value {
    serde_json::json!({
        "path": item.path,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "score": item.score,
        "reason": item.reason,
        "text": item.text,
    })
}
