//! The scoreboard over all developers: their rows are the clusters of its intervals.

use std::sync::Arc;

use http_server::{refusal, response};
use hyper::StatusCode;
use report::terminal::Style;
use scoring::trial_scoreboard::TrialSettings;
use scoring::{TrialLog, TrialScoreboard};

use super::admission::Admitted;
use super::answers::{Answer, done, number, value};
use super::{ServerState, in_turn};
use crate::store::RowFilter;

/// Columns of a table if the request names no number, and the most.
const WIDTH: usize = 100;
const MAX_WIDTH: usize = 400;

/// Forms of a scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Table,
    Markdown,
    Json,
    Html,
}

pub(super) async fn answer(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let wrong = |message: &str| refusal(StatusCode::BAD_REQUEST, message);
    let form = match value(admitted, "format").unwrap_or("json") {
        "table" => Form::Table,
        "markdown" => Form::Markdown,
        "json" => Form::Json,
        "html" => Form::Html,
        _ => return Err(wrong("`format` is table, markdown, json or html").into()),
    };
    let mut settings = TrialSettings::default();
    if let Some(metric) = value(admitted, "metric") {
        settings.metric = metric.parse().map_err(|_| wrong("there is no such `metric`"))?;
    }
    let filter = RowFilter {
        trial: value(admitted, "trial").map(str::to_owned).filter(|trial| !trial.contains('\0')),
        from: number(admitted, "from")?,
    };
    let width = number(admitted, "width")?.map_or(WIDTH, |width| usize::try_from(width).unwrap_or(WIDTH));
    let style =
        Style { color: value(admitted, "color").is_some(), width: width.clamp(20, MAX_WIDTH), unicode: true };
    let actor = admitted.account.name.clone();
    let board = in_turn(state, &state.reads, move |store| {
        let mut log = TrialLog::new();
        store.visit(&filter, |row| log.add(&row))?;
        store.audit(
            &actor,
            "scoreboard",
            filter.trial.as_deref().unwrap_or_default(),
            &format!("{} opportunities", log.len()),
        )?;
        Ok(rendered(&log.scoreboard(&settings), form, style))
    });
    let content_type = match form {
        Form::Table => "text/plain; charset=utf-8",
        Form::Markdown => "text/markdown; charset=utf-8",
        Form::Json => "application/json",
        Form::Html => "text/html; charset=utf-8",
    };
    Ok(response(StatusCode::OK, content_type, done(board.await)?))
}

fn rendered(board: &TrialScoreboard, form: Form, style: Style) -> String {
    match form {
        Form::Table => report::trial::table(board, style),
        Form::Markdown => report::trial::markdown(board),
        Form::Json => report::trial::json(board),
        // Without texts: analysts read code in exports, which are logged as such.
        Form::Html => report::trial::html(board, &[]),
    }
}
