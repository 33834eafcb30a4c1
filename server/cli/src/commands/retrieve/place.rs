//! What each strategy would send at one place.

use std::path::{Path, PathBuf};

use index::{Budget, Hit, Query};
use report::terminal::{Retrieved, RetrievedItem};
use syntax::SourceFile;
use text::{Document, Encoding, Position};
use workspace::{Limits, Skipped};

use super::{Retrieval, budget, index, milliseconds, strategies};
use crate::args::{PlaceArg, RetrieveArgs};
use crate::exit::Usage;
use crate::output::{self, count};
use crate::steps::embeddings::Embeddings;

/// Shows what would be sent.
pub(super) fn run(
    place: &PlaceArg,
    args: &RetrieveArgs,
    embeddings: Option<&mut Embeddings>,
) -> anyhow::Result<()> {
    let workspace = args.workspace.as_deref().unwrap_or_else(|| Path::new("."));
    workspace::check_folder(workspace)?;
    // What is wrong with the place is told before the workspace is read.
    let file = file(workspace, &place.path)?;
    let cursor = cursor(place, &file.text)?;
    let indexed = index(workspace)?;
    let mut retrieval = Retrieval {
        searcher: indexed.index.searcher(&|_| false),
        projects: &indexed.projects,
        budget: Budget { tokens: budget(args) as usize },
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
                budget: budget(args) as usize,
                ms: milliseconds(duration),
                items: items(hits),
            }
        })
        .collect();
    let text = if args.json {
        json(&file, cursor, &retrieved)
    } else {
        report::terminal::retrieved(&retrieved, output::style())
    };
    Ok(output::print(&text)?)
}

/// The file of the workspace that the path names, from here or from the workspace's root.
fn file(workspace: &Path, path: &Path) -> Result<SourceFile, Usage> {
    let (shown, root) = (output::path(path), output::path(workspace));
    let named = [path.to_owned(), workspace.join(path)];
    let named: Vec<PathBuf> = named.iter().filter_map(|path| path.canonicalize().ok()).collect();
    if named.is_empty() {
        return Err(Usage(format!("{shown} is not there (workspace {root}); {ANOTHER}")));
    }
    let folder = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let Some((path, inner)) = named.iter().find_map(|path| Some((path, path.strip_prefix(&folder).ok()?)))
    else {
        return Err(Usage(format!(
            "{shown} is outside of the workspace {root}; name its folder with --workspace"
        )));
    };
    if path.is_dir() {
        return Err(Usage(format!("{shown} is a folder; name a file in it")));
    }
    workspace::read_file(&folder, &slashed(inner), &Limits::standard()).map_err(|skipped| {
        let Skipped { reason, error, .. } = skipped;
        let error = error.map(|error| format!(": {error}")).unwrap_or_default();
        let reason = reason.name();
        Usage(format!(
            "{shown} is there, but none of the workspace's code files ({reason}{error}); {ANOTHER}"
        ))
    })
}

/// What to do about a file that cannot be asked about.
const ANOTHER: &str = "name a code file in the folder, or another folder with --workspace";

/// A relative path as the index has it.
fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The place in bytes.
fn cursor(place: &PlaceArg, text: &str) -> Result<usize, Usage> {
    let document = Document::new(text);
    let position = Position { line: place.line - 1, character: place.column - 1 };
    // A document takes a place behind the end of a line for that end.
    let is_there = |offset: &usize| document.position(*offset, Encoding::Utf32) == Some(position);
    if let Some(offset) = document.offset(position, Encoding::Utf32).filter(is_there) {
        return Ok(offset);
    }
    let path = output::path(&place.path);
    let line = document.line(place.line as usize - 1).and_then(|range| document.slice(range));
    let message = match line {
        Some(line) => {
            let columns = line.trim_end_matches(['\r', '\n']).chars().count() + 1;
            format!("line {} of {path} has {}; choose one of them", place.line, count(columns, "column"))
        }
        None => format!("{path} has {}; choose one of them", count(document.line_count(), "line")),
    };
    Err(Usage(message))
}

fn items(hits: Vec<Hit>) -> Vec<RetrievedItem> {
    let tokens = index::tokens(&hits);
    let item = |(hit, tokens): (Hit, usize)| RetrievedItem {
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

/// Places count as in a case: lines from 0, characters in UTF-16 units from 0.
fn json(file: &SourceFile, cursor: usize, retrieved: &[Retrieved]) -> String {
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
    let position = Document::new(&file.text).position(cursor, Encoding::Utf16);
    let report = serde_json::json!({
        "path": *file.path,
        "line": position.map(|position| position.line),
        "character": position.map(|position| position.character),
        "strategies": strategies,
    });
    format!("{report:#}\n")
}

fn json_item(item: &RetrievedItem) -> serde_json::Value {
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
