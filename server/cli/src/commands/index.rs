//! `ghostbench index`: manages the caches of indexed workspaces.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use cache::{Cache, CacheInfo};
use serde_json::json;

use crate::args::IndexArgs;
use crate::exit::UsageError;
use crate::folders;
use crate::output::{count, path, print};
use crate::steps::{self, embeddings};

/// Runs the command.
pub(crate) fn run(args: &IndexArgs) -> anyhow::Result<()> {
    let cache =
        folders::cache().ok_or_else(|| UsageError("there is no home folder for caches".to_owned()))?;
    let text = match (args.list, args.clear) {
        (true, _) => list(&cache, args.json)?,
        (false, true) => clear(&cache, args.json)?,
        (false, false) => index(args, cache)?,
    };
    Ok(print(&text)?)
}

/// Indexes a workspace and saves the caches.
fn index(args: &IndexArgs, cache: Cache) -> anyhow::Result<String> {
    let start = Instant::now();
    let (mut indexer, opening) = steps::index::open_indexer(&args.path, Some(cache), None)?;
    let took = start.elapsed();
    let (files, cache) = (indexer.files().clone(), indexer.cache().cloned());
    // An explicit request saves everything, even small changes.
    let (saved, tokens) = rayon::join(
        || indexer.save_all(),
        || steps::index::tokens(files.root(), files.files(), cache.as_ref()).coverage(files.files()),
    );
    let (saved, totals) = (saved?, files.totals());
    if args.json {
        let report = json!({
            "files": totals.files,
            "lines": totals.lines,
            "bytes": totals.bytes,
            "reused": opening.reused,
            "derived": opening.rebuilt,
            "seconds": took.as_secs_f64(),
            "cached_bytes": saved.map(|saved| saved.bytes),
            "tokens": tokens.held,
            "token_share": tokens.share(),
            "files_without_tokens": tokens.excluded_files,
            "files_too_complex": indexer.current().index().too_complex().len(),
        });
        return Ok(format!("{report:#}\n"));
    }
    let kept = saved.map_or_else(|| "unchanged".to_owned(), |saved| megabytes(saved.bytes));
    Ok(format!(
        "{} ({}, {}) in {:.2} s: {} from the cache, {} read; cache {kept}\n",
        count(totals.files, "file"),
        count(totals.lines, "line"),
        count(tokens.held, "token"),
        took.as_secs_f64(),
        opening.reused,
        opening.rebuilt,
    ))
}

fn list(cache: &Cache, as_json: bool) -> anyhow::Result<String> {
    let listed = cache.list()?;
    if as_json {
        let row = |listed: &CacheInfo| {
            json!({
                "root": listed.root,
                "files": listed.files,
                "bytes": listed.bytes,
                "seconds_since_use": age(listed).as_secs(),
            })
        };
        return Ok(format!("{:#}\n", json!(listed.iter().map(row).collect::<Vec<_>>())));
    }
    if listed.is_empty() {
        return Ok("nothing is cached\n".to_owned());
    }
    let mut text = String::new();
    for one in &listed {
        let files = match embeddings::is_embedding_cache(one.root.as_deref()) {
            true => String::new(),
            false => count(usize::try_from(one.files).unwrap_or(usize::MAX), "file"),
        };
        let root = one.root.as_deref().map_or_else(|| "(unknown)".to_owned(), |root| path(Path::new(root)));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>10}  {files:>14}  {:<16}  {root}",
            megabytes(one.bytes),
            age_in_words(age(one))
        );
    }
    let total = listed.iter().map(|one| one.bytes).sum();
    let of_models = listed.iter().filter(|one| embeddings::is_embedding_cache(one.root.as_deref())).count();
    let others = if of_models == 0 { String::new() } else { format!(" and {}", count(of_models, "model")) };
    let workspaces = count(listed.len() - of_models, "workspace");
    let _ = writeln!(text, "{:>10}  of {workspaces}{others}", megabytes(total));
    Ok(text)
}

/// Formats an age in days.
fn age_in_words(age: Duration) -> String {
    match age.as_secs() / (24 * 60 * 60) {
        0 => "used today".to_owned(),
        days => format!("used {} ago", count(usize::try_from(days).unwrap_or(usize::MAX), "day")),
    }
}

fn clear(cache: &Cache, as_json: bool) -> anyhow::Result<String> {
    let cleared = cache.clear()?;
    if as_json {
        return Ok(format!("{:#}\n", json!({ "workspaces": cleared.workspaces, "bytes": cleared.bytes })));
    }
    Ok(format!("removed {} in {}\n", megabytes(cleared.bytes), count(cleared.workspaces, "cache")))
}

/// Returns the time since a cache was used; zero if the clock went backwards.
fn age(listed: &CacheInfo) -> Duration {
    SystemTime::now().duration_since(listed.last_used).unwrap_or_default()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
