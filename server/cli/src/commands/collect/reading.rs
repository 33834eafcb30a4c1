//! `ghostbench collect status`, `scoreboard` and `audit`: reading from the server.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context;
use collect::client::CollectClient;
use collect::protocol;
use collect::sharing::read_sharing;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use report::format::opportunities;
use serde_json::Value;

use crate::args::{
    CollectAuditArgs, CollectScoreboardArgs, CollectServerArgs, CollectStatusArgs, ReportFormat,
};
use crate::output;
use crate::steps::collect_server::{client, client_error};
use crate::steps::run_replay::runtime;
use crate::steps::trial_store::TrialPlace;

/// Runs `status`.
pub(crate) fn status(args: &CollectStatusArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let sharing = read_sharing(&place.folder)?;
    let server = sharing.as_ref().map(|sharing| &*sharing.server);
    let client = client(&args.server, &place.root, server)?;
    let mut status = get_json(&client, protocol::STATUS)?;
    status["sharing"] = serde_json::to_value(&sharing)?;
    if args.json {
        return Ok(output::print(&format!("{status:#}\n"))?);
    }
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let mut text = format!(
        "{} ({}): {} on the server\n",
        status["account"].as_str().unwrap_or_default(),
        status["role"].as_str().unwrap_or_default(),
        opportunities(number(&status["own"]["opportunities"]))
    );
    match &sharing {
        Some(sharing) => {
            writeln!(text, "this repository is shared with {}, level {}", sharing.server, sharing.level)?
        }
        None => writeln!(text, "this repository is not shared")?,
    }
    if !status["all"].is_null() {
        let all = &status["all"];
        writeln!(
            text,
            "all: {} of {} developers, {:.1} MB",
            opportunities(number(&all["opportunities"])),
            number(&all["developers"]),
            number(&all["bytes"]) as f64 / 1e6
        )?;
    }
    for copy in status["copies"].as_array().into_iter().flatten().filter(|copy| number(&copy["pending"]) > 0)
    {
        writeln!(text, "copy {}: {} deletions are open", copy["name"], copy["pending"])?;
    }
    Ok(output::print(&text)?)
}

/// Runs `scoreboard`.
pub(crate) fn scoreboard(args: &CollectScoreboardArgs) -> anyhow::Result<()> {
    let client = own_client(&args.server)?;
    let mut query = String::new();
    if let Some(trial) = &args.trial {
        write!(query, "&trial={}", utf8_percent_encode(trial, NON_ALPHANUMERIC))?;
    }
    if let Some(since) = args.since {
        write!(query, "&from={since}")?;
    }
    if let Some(metric) = args.metric {
        write!(query, "&metric={}", metric.name())?;
    }
    if let Some(path) = &args.html {
        let page = get(&client, &format!("{}?format=html{query}", protocol::SCOREBOARD))?;
        output::write_page(path, &page)?;
        output::print_message(&format!("Report: {}", output::path(path)));
    }
    let style = output::style();
    let format = match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Json => "json",
        ReportFormat::Markdown => "markdown",
        ReportFormat::Table => "table",
    };
    let color = if style.color { "&color" } else { "" };
    let path = format!("{}?format={format}&width={}{color}{query}", protocol::SCOREBOARD, style.width);
    Ok(output::print(&String::from_utf8_lossy(&get(&client, &path)?))?)
}

/// Runs `audit`.
pub(crate) fn audit(args: &CollectAuditArgs) -> anyhow::Result<()> {
    let client = own_client(&args.server)?;
    let log = get_json(&client, &format!("{}?limit={}", protocol::AUDIT, args.limit))?;
    if args.json {
        return Ok(output::print(&format!("{log:#}\n"))?);
    }
    let mut text = String::new();
    for entry in log["entries"].as_array().into_iter().flatten() {
        let field = |name: &str| entry[name].as_str().unwrap_or_default();
        let since = Duration::from_millis(entry["at"].as_u64().unwrap_or_default());
        writeln!(
            text,
            "{}  {}  {}  {}  {}",
            humantime::format_rfc3339_seconds(UNIX_EPOCH + since),
            field("actor"),
            field("action"),
            field("subject"),
            field("detail")
        )?;
    }
    Ok(output::print(&text)?)
}

fn own_client(args: &CollectServerArgs) -> anyhow::Result<CollectClient> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    client(args, &here, None)
}

fn get(client: &CollectClient, path: &str) -> anyhow::Result<Vec<u8>> {
    runtime()?.block_on(client.get(path)).map_err(client_error)
}

fn get_json(client: &CollectClient, path: &str) -> anyhow::Result<Value> {
    serde_json::from_slice(&get(client, path)?).context("the answer is not one of a Ghostbench server")
}
