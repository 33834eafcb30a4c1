//! The dashboard: counts of all rows, copies and the end of the audit log, as a page without scripts.

use std::sync::Arc;

use http_server::response;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use report::collection::{CollectionView, TableView};

use super::admission::Admitted;
use super::answers::{Answer, done};
use super::{ServerState, in_turn};
use crate::account::AccountRole;
use crate::store::{AuditEntry, Copy, Summary};

/// Entries of the audit log on the page.
const AUDIT_ENTRIES: u32 = 20;

pub(super) async fn answer(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let is_admin = admitted.account.role == AccountRole::Admin;
    let page = in_turn(state, &state.reads, move |store| {
        let audit = if is_admin { store.audit_log(AUDIT_ENTRIES)? } else { Vec::new() };
        Ok(report::collection::html(&view(&store.summary()?, &store.copies()?, &audit)))
    });
    let mut page = response(StatusCode::OK, "text/html; charset=utf-8", done(page.await)?);
    page.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(page)
}

fn view(summary: &Summary, copies: &[Copy], audit: &[AuditEntry]) -> CollectionView {
    let megabytes = format!("{:.1} MB", summary.bytes as f64 / 1e6);
    CollectionView {
        facts: vec![
            ("opportunities", summary.opportunities.to_string()),
            ("developers", summary.developers.to_string()),
            ("records of OpenTelemetry", summary.telemetry.to_string()),
            ("database", megabytes),
        ],
        tables: [
            days(summary),
            engines(summary),
            languages(summary),
            copies_table(copies),
            audit_table(audit),
        ]
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect(),
    }
}

fn days(summary: &Summary) -> TableView {
    TableView {
        title: "Days",
        caption: "the last days with opportunities, in UTC",
        header: &["day", "opportunities", "developers", "shown", "accepted"],
        words: 1,
        rows: summary
            .days
            .iter()
            .map(|day| {
                let numbers = [day.opportunities, day.developers, day.shown, day.accepted];
                [date(day.at)].into_iter().chain(numbers.map(|number| number.to_string())).collect()
            })
            .collect(),
    }
}

fn engines(summary: &Summary) -> TableView {
    TableView {
        title: "Engines",
        caption: "plain counts; the scoreboard compares the engines: ghostbench collect scoreboard",
        header: &["arm", "model", "answers", "shown", "accepted", "with a truth", "exact"],
        words: 2,
        rows: summary
            .engines
            .iter()
            .map(|engine| {
                let numbers = [engine.answers, engine.shown, engine.accepted, engine.judged];
                let names = [engine.arm.clone(), engine.model.clone()].into_iter();
                let exact = format!("{:.0}", engine.exact);
                names.chain(numbers.map(|number| number.to_string())).chain([exact]).collect()
            })
            .collect(),
    }
}

fn languages(summary: &Summary) -> TableView {
    TableView {
        title: "Languages",
        caption: "",
        header: &["language", "opportunities"],
        words: 1,
        rows: summary.languages.iter().map(|(name, count)| vec![name.clone(), count.to_string()]).collect(),
    }
}

fn copies_table(copies: &[Copy]) -> TableView {
    TableView {
        title: "Copies",
        caption: "files that were written from these rows; one with open deletions still has deleted rows",
        header: &["copy", "up to date at", "last row", "open deletions"],
        words: 2,
        rows: copies
            .iter()
            .map(|copy| {
                vec![
                    copy.name.clone(),
                    time(copy.synced_at),
                    copy.cursor.to_string(),
                    copy.pending.to_string(),
                ]
            })
            .collect(),
    }
}

fn audit_table(audit: &[AuditEntry]) -> TableView {
    TableView {
        title: "Audit log",
        caption: "the last entries; all of them: ghostbench collect audit",
        header: &["at", "account", "action", "subject", "detail"],
        words: 5,
        rows: audit
            .iter()
            .map(|entry| {
                let texts = [&entry.actor, &entry.action, &entry.subject, &entry.detail];
                [time(entry.at)].into_iter().chain(texts.map(String::clone)).collect()
            })
            .collect(),
    }
}

/// Formats a moment in ms since 1970.
pub(crate) fn time(at: i64) -> String {
    let since = std::time::Duration::from_millis(at.try_into().unwrap_or_default());
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + since).to_string()
}

fn date(at: i64) -> String {
    time(at).chars().take(10).collect()
}
