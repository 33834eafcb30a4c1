//! `ghostbench/pauseRecording`, `ghostbench/resumeRecording`, `ghostbench/forget`: the developer's control over recording, in all folders
//! of the workspace at once.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Result};
use trial::pause;
use trial::store::{ForgetScope, STORE_FILE, forget as forget_rows};

use crate::ext::{ForgetParams, ForgetResult, PauseRecordingParams, PauseRecordingResult};
use crate::request_context::RequestContext;
use crate::run_blocking::{request_failed, run_blocking};
use crate::server::Server;

/// Duration of a pause without one.
const DEFAULT_MINUTES: u32 = 60;
/// Longest pause: a forgotten one ends within a month.
const MAX_MINUTES: u32 = 31 * 24 * 60;

pub(crate) async fn pause_recording(
    server: Server,
    _: RequestContext,
    params: Option<PauseRecordingParams>,
) -> Result<PauseRecordingResult> {
    let minutes = params.and_then(|params| params.minutes).unwrap_or(DEFAULT_MINUTES);
    if !(1..=MAX_MINUTES).contains(&minutes) {
        let message = format!("`minutes` is {minutes}; send a number from 1 to {MAX_MINUTES}");
        return Err(Error::invalid_params(message));
    }
    // A trial may have been started a moment ago.
    server.trial.reload_trials().await;
    let places = trial_places(&server);
    if places.is_empty() {
        return Err(request_failed("no trial is running, so nothing is recorded"));
    }
    let until = server.trial.clock().system_time() + minutes_long(minutes);
    run_blocking(move || places.iter().try_for_each(|place| pause::pause(place, until))).await?;
    server.trial.reload_trials().await;
    Ok(PauseRecordingResult { until: humantime::format_rfc3339_seconds(until).to_string() })
}

pub(crate) async fn resume_recording(server: Server, _: RequestContext, _: Option<Value>) -> Result<()> {
    let places = all_places(&server);
    run_blocking(move || places.iter().try_for_each(|place| pause::resume(place))).await?;
    server.trial.reload_trials().await;
    Ok(())
}

pub(crate) async fn forget(
    server: Server,
    context: RequestContext,
    params: ForgetParams,
) -> Result<ForgetResult> {
    if params.minutes == 0 {
        return Err(Error::invalid_params("`minutes` is 0; send how far back to forget"));
    }
    for document in context.snapshot.documents.all() {
        document.session.forget_requests();
    }
    let from = server.trial.clock().system_time().checked_sub(minutes_long(params.minutes));
    let scope = ForgetScope::Time { from: since_epoch(from.unwrap_or(UNIX_EPOCH)), to: i64::MAX };
    let stores: Vec<PathBuf> = all_places(&server).iter().map(|place| place.join(STORE_FILE)).collect();
    let recording = server.clone();
    let forgotten = run_blocking(move || {
        let key = recording.trial.place_key().map_err(|error| error.to_string())?;
        let mut rows = 0;
        for store in stores.iter().filter(|store| store.is_file()) {
            rows += forget_rows(store, &scope, &key).map_err(|error| error.to_string())?.rows;
        }
        Ok::<_, String>(rows)
    });
    Ok(ForgetResult { forgotten: forgotten.await? })
}

/// The folders for trials of all workspace folders.
fn all_places(server: &Server) -> Vec<PathBuf> {
    server.folders.all().iter().map(|folder| server.trial.place(&folder.root)).collect()
}

/// Those with a trial that runs, recorded or not.
fn trial_places(server: &Server) -> Vec<PathBuf> {
    let folders = server.folders.all();
    let has_trial = |root: &std::path::Path| {
        server.trial.trial_in(root).is_some()
            || server.trial.problem_in(root).is_some_and(|problem| problem.trial.is_some())
    };
    let running = folders.iter().filter(|folder| has_trial(&folder.root));
    running.map(|folder| server.trial.place(&folder.root)).collect()
}

fn minutes_long(minutes: u32) -> Duration {
    Duration::from_secs(u64::from(minutes) * 60)
}

/// Returns a time in ms since 1970.
fn since_epoch(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
