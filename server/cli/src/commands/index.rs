//! `ghostbench index`: the caches of what is derived from workspaces.

use std::fmt::Write;
use std::time::{Instant, SystemTime};

use cache::{Cache, Listed};
use serde_json::json;

use crate::args::IndexArgs;
use crate::exit::Usage;
use crate::folders;
use crate::output::{count, print};
use crate::steps;

/// Runs the command.
pub(crate) fn run(args: &IndexArgs) -> anyhow::Result<()> {
    let cache =
        folders::caches().ok_or_else(|| Usage("there is no home folder to keep caches in".to_owned()))?;
    let text = match (args.list, args.clear) {
        (true, _) => list(&cache, args.json)?,
        (false, true) => clear(&cache, args.json)?,
        (false, false) => index(args, cache)?,
    };
    Ok(print(&text)?)
}

/// Indexes a workspace, and keeps that for the next time.
fn index(args: &IndexArgs, cache: Cache) -> anyhow::Result<String> {
    let start = Instant::now();
    let (mut indexer, opening) = steps::index::open(&args.path, Some(cache))?;
    let took = start.elapsed();
    let saved = indexer.save()?;
    let totals = indexer.indexed().files.totals();
    if args.json {
        let report = json!({
            "files": totals.files,
            "lines": totals.lines,
            "bytes": totals.bytes,
            "reused": opening.reused,
            "derived": opening.derived,
            "seconds": took.as_secs_f64(),
            "cached_bytes": saved.map(|saved| saved.bytes),
        });
        return Ok(format!("{report:#}\n"));
    }
    let kept = saved.map_or_else(|| "unchanged".to_owned(), |saved| megabytes(saved.bytes));
    Ok(format!(
        "{} ({}) in {:.2} s: {} from the cache, {} read anew; cache {kept}\n",
        count(totals.files, "file"),
        count(totals.lines, "line"),
        took.as_secs_f64(),
        opening.reused,
        opening.derived,
    ))
}

fn list(cache: &Cache, as_json: bool) -> anyhow::Result<String> {
    let listed = cache.list()?;
    if as_json {
        let row = |listed: &Listed| {
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
        let root = one.root.as_deref().unwrap_or("(unknown)");
        let days = age(one).as_secs() / (24 * 60 * 60);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:>10}  {:>8} files  used {days} days ago  {root}",
            megabytes(one.bytes),
            one.files
        );
    }
    let total = listed.iter().map(|one| one.bytes).sum();
    let _ = writeln!(text, "{:>10}  in {}", megabytes(total), count(listed.len(), "workspace"));
    Ok(text)
}

fn clear(cache: &Cache, as_json: bool) -> anyhow::Result<String> {
    let cleared = cache.clear()?;
    if as_json {
        return Ok(format!("{:#}\n", json!({ "workspaces": cleared.workspaces, "bytes": cleared.bytes })));
    }
    Ok(format!("removed {} of {}\n", megabytes(cleared.bytes), count(cleared.workspaces, "workspace")))
}

/// Time since a cache was used; none for clocks that went back.
fn age(listed: &Listed) -> std::time::Duration {
    SystemTime::now().duration_since(listed.last_used).unwrap_or_default()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
