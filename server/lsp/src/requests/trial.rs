//! `ghostbench/trial`, `ghostbench/startTrial`, `ghostbench/stopTrial`: the live trial of a folder.
//!
//! Starting and stopping is what `ghostbench trial` does, with the settings of the editor.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tower_lsp_server::gen_lsp_types::TextDocumentIdentifier;
use tower_lsp_server::jsonrpc::Result;
use trial::StoreReader;
use trial::assignment::{BlindArm, BlindNames};
use trial::proposal::{self, ProposalError, TrialChoices, TrialProposal};
use trial::store::{STORE_FILE, StoreError, StoreFilter};

use crate::ext::{
    RevealedArm, StartTrialParams, StartTrialResult, StopTrialResult, TrialDay, TrialParams, TrialState,
};
use crate::request_context::RequestContext;
use crate::run_blocking::run_blocking;
use crate::server::Server;
use crate::trial_state::trial_state;

/// Length of a day, in ms.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) async fn trial(
    server: Server,
    context: RequestContext,
    params: Option<TrialParams>,
) -> Result<TrialState> {
    let document = params.and_then(|params| params.text_document);
    let folder = server.folder_of(&context, document.as_ref()).await?;
    let state = trial_state(&server, &folder).await;
    let store = server.trial.place(&folder.root).join(STORE_FILE);
    let name = state.name.clone();
    // A store that is just being created has no counts; the state has the reason if it cannot be read.
    let today = completion::run_blocking(move |_| match name {
        Some(name) if store.is_file() => {
            let filter =
                StoreFilter { trial: Some(name), from: Some(start_of_day()), ..StoreFilter::default() };
            let days = StoreReader::open(&store)?.days(&filter)?;
            let sum = |count: fn(&trial::store::DayCount) -> u64| days.iter().map(count).sum();
            Ok::<_, StoreError>(Some(TrialDay {
                opportunities: sum(|day| day.opportunities),
                truths: sum(|day| day.truths),
                shown: sum(|day| day.shown),
                accepted: sum(|day| day.accepted),
            }))
        }
        _ => Ok(None),
    });
    let today = today.await.ok().and_then(std::result::Result::ok).flatten();
    Ok(TrialState { today, ..state })
}

/// Start of the present day in UTC, in ms since 1970.
fn start_of_day() -> i64 {
    let since: Duration = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    now - now % DAY_MS
}

pub(crate) async fn start_trial(
    server: Server,
    context: RequestContext,
    params: StartTrialParams,
) -> Result<StartTrialResult> {
    let folder = server.folder_of(&context, params.text_document.as_ref()).await?;
    let settings = server.settings_in(Some(&folder)).await?;
    let place = server.trial.place(&folder.root);
    let (choices, confirmed) = choices(params);
    run_blocking(move || {
        let check_engine = |name: &str| server.folders.writer(&settings.config, name).map(drop);
        let proposal = TrialProposal::new(&place, &choices, &settings.config, check_engine)?;
        // The settings may have changed since the developer was asked.
        let started = proposal.disclosures == confirmed;
        if started {
            proposal.start(&place)?;
        }
        let TrialProposal { definition, disclosures, note } = proposal;
        let note = note.map(str::to_owned);
        Ok::<_, ProposalError>(StartTrialResult { started, name: definition.name, disclosures, note })
    })
    .await
}

/// Returns the choices of a request, and the disclosures that the developer has confirmed.
fn choices(params: StartTrialParams) -> (TrialChoices, Vec<String>) {
    let StartTrialParams {
        text_document: _,
        mode,
        arms,
        name,
        unit,
        holdout,
        weights,
        requests_per_minute,
        requests_per_day,
        budget_per_day,
        primary,
        margin,
        confirmed,
    } = params;
    let default = TrialChoices::new(mode, arms);
    let choices = TrialChoices {
        name,
        unit: unit.unwrap_or(default.unit),
        holdout,
        weights: weights.into_iter().collect(),
        requests_per_minute: requests_per_minute.into_iter().collect(),
        requests_per_day: requests_per_day.into_iter().collect(),
        budget_per_day: budget_per_day.into_iter().collect(),
        primary: primary.unwrap_or(default.primary),
        margin: margin.unwrap_or(default.margin),
        ..default
    };
    (choices, confirmed)
}

pub(crate) async fn stop_trial(
    server: Server,
    context: RequestContext,
    params: Option<TrialParams>,
) -> Result<StopTrialResult> {
    let document: Option<TextDocumentIdentifier> = params.and_then(|params| params.text_document);
    let folder = server.folder_of(&context, document.as_ref()).await?;
    let place = server.trial.place(&folder.root);
    let stopped = run_blocking(move || proposal::stop(&place)).await?;
    let hidden = BlindNames::of_mode(&stopped).map(|names| names.arms).unwrap_or_default();
    let revealed = hidden.into_iter().map(|BlindArm { name, shown_as }| RevealedArm { name, shown_as });
    Ok(StopTrialResult { name: stopped.name, revealed: revealed.collect() })
}
