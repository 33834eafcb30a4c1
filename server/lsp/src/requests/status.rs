//! `ghostbench/status`: what the server is doing.

use tower_lsp_server::jsonrpc::Result;

use crate::ext::{EngineStatus, FolderStatus, Status};
use crate::folders::{Folder, State};
use crate::locks::lock;
use crate::server::Server;
use crate::settings::InForce;
use crate::to_proto;

pub(crate) async fn status(server: Server, _: Option<serde_json::Value>) -> Result<Status> {
    let settings = server.settings_in(server.folders.all().first().map(|folder| &**folder)).await?;
    let encoding = server.agreed().map(|agreed| String::from(to_proto::encoding(agreed.encoding)));
    Ok(Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        position_encoding: encoding.unwrap_or_default(),
        folders: server.folders.all().iter().map(|folder| of_folder(folder)).collect(),
        engines: engines(&server, &settings),
        busy: server.busy.count(),
        last_completion: lock(&server.last_completion).clone(),
        log_file: server.setup.log.as_ref().map(|log| log.path.clone()),
    })
}

/// The engine that writes, the others that can be asked, then those that cannot.
fn engines(server: &Server, settings: &InForce) -> Vec<EngineStatus> {
    let writing = settings.writing().automatic.name();
    let others = settings.served.engines.iter().map(|engine| engine.automatic.name());
    let others = others.filter(|name| name.name != writing.name);
    let asked = std::iter::once(writing.clone()).chain(others);
    let asked = asked.map(|name| EngineStatus {
        fault: server.health.fault(&name.name),
        name: name.name,
        kind: name.kind,
        model: name.model,
        reason: None,
    });
    let not_asked = settings.served.not_asked.iter().map(|engine| EngineStatus {
        name: engine.name.clone(),
        kind: engine.kind.clone(),
        model: String::new(),
        reason: Some(engine.reason.clone()),
        fault: None,
    });
    asked.chain(not_asked).collect()
}

fn of_folder(folder: &Folder) -> FolderStatus {
    let reading = folder.reading();
    let (state, message) = match reading.state {
        State::Indexing => ("indexing", None),
        State::Ready => ("ready", None),
        State::Failed(reason) => ("failed", Some(reason)),
    };
    let read = reading.contents.code.as_ref().map(|code| (code.state.files, code.state.lines));
    let (files, lines) = read.unwrap_or_default();
    FolderStatus {
        uri: folder.uri.clone(),
        name: folder.name.clone(),
        state: state.to_owned(),
        message,
        files: files as usize,
        lines: lines as usize,
        suite: folder.recorded.suite().path(),
    }
}
