//! `ghostbench/status`: returns the server's status.

use cases::TrialDefinition;
use replay::engine_identity;
use session::{EffectiveSettings, Folder, IndexingState, Role, lock};
use tower_lsp_server::gen_lsp_types::Uri;
use tower_lsp_server::jsonrpc::Result;
use trial::assignment::BlindNames;

use crate::ext::{EngineStatus, FolderStatus, ServerStatus, TrialStatus};
use crate::request_context::RequestContext;
use crate::server::Server;
use crate::to_proto;

pub(crate) async fn status(
    server: Server,
    context: RequestContext,
    _: Option<serde_json::Value>,
) -> Result<ServerStatus> {
    server.when_settings_are_applied().await;
    let first = server.folders.first();
    let settings = server.settings_in(first.as_deref()).await?;
    let trial = first.and_then(|folder| server.trial.trial_in(&folder.root));
    let engines = engine_statuses(&server, &settings, trial.as_ref().map(|trial| &trial.definition));
    Ok(ServerStatus {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        position_encoding: to_proto::encoding(context.encoding).into(),
        folders: server.folders.all().iter().map(|folder| folder_status(folder)).collect(),
        engines,
        busy: server.folders.busy_engines(),
        last_completion: lock(&server.last_completion).clone(),
        trial: trial.map(|trial| TrialStatus {
            name: trial.definition.name.clone(),
            mode: trial.definition.mode.name().to_owned(),
            dropped: server.trial.dropped(),
        }),
        log_file: server.log.as_ref().map(|log| log.path.clone()),
    })
}

/// The engine that writes the ghost text, then the other available ones, then the unavailable ones.
fn engine_statuses(
    server: &Server,
    settings: &EffectiveSettings,
    trial: Option<&TrialDefinition>,
) -> Vec<EngineStatus> {
    let is_blind = trial.is_some_and(|trial| BlindNames::in_effect(trial).is_some());
    let health = server.folders.engine_health();
    // In a blind trial, the times would show which arm is asked.
    let latency = |name: &str| health.latency(name).filter(|_| !is_blind).map(|it| it.as_secs_f64() * 1e3);
    let is_arm = |name: &str| trial.is_some_and(|trial| trial.arms.iter().any(|arm| arm.name == name));
    let roles = |name: &str| {
        let writes = name == settings.ghost_text.name;
        let roles = [("ghostText", writes), ("replay", true), ("arm", is_arm(name) && !is_blind)];
        roles.into_iter().filter(|(_, has)| *has).map(|(role, _)| role.to_owned()).collect()
    };
    let writing = &settings.ghost_text;
    let others = settings.engine_set.in_role(Role::Replay).map(engine_identity);
    let others = others.filter(|name| name.name != writing.name);
    let asked = std::iter::once(writing.clone()).chain(others);
    let asked = asked.map(|name| EngineStatus {
        fault: health.fault(&name.name, &settings.config),
        roles: roles(&name.name),
        latency: latency(&name.name),
        name: name.name,
        kind: name.kind,
        model: name.model,
        reason: None,
    });
    let not_asked = settings.engine_set.unavailable.iter().map(|engine| EngineStatus {
        name: engine.name.clone(),
        kind: engine.kind.clone(),
        model: String::new(),
        roles: Vec::new(),
        latency: None,
        reason: Some(engine.reason.clone()),
        fault: None,
    });
    asked.chain(not_asked).collect()
}

fn folder_status(folder: &Folder) -> FolderStatus {
    let reading = folder.state();
    let (state, message) = match reading.state {
        IndexingState::Indexing => ("indexing", None),
        IndexingState::Ready => ("ready", None),
        IndexingState::Failed(reason) => ("failed", Some(reason)),
    };
    let read = reading.code_version.as_ref().map(|code| (code.state.files, code.state.lines));
    let (files, lines) = read.unwrap_or_default();
    FolderStatus {
        uri: Uri(folder.uri.clone()),
        name: folder.name.clone(),
        state: state.to_owned(),
        message,
        files: files as usize,
        lines: lines as usize,
        suite: folder.recorded_cases.suite().path(),
    }
}
