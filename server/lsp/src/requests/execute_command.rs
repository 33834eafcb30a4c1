//! `workspace/executeCommand`: the commands of items and lenses, and those for key bindings.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp_server::gen_lsp_types::{ExecuteCommandParams, LspAny};
use tower_lsp_server::jsonrpc::{Error, Result};
use trial::EventKind;

use crate::ext::{
    DID_ACCEPT_COMMAND, MarkPlaceParams, NOT_WANTED_COMMAND, OPEN_SUITE_COMMAND, RECORD_CASE_COMMAND,
    REPLAY_COMMAND, SHOULD_HAVE_SUGGESTED_COMMAND,
};
use crate::request_context::RequestContext;
use crate::requests::{mark_place, record_case, replay, suite};
use crate::server::Server;

pub(crate) async fn execute_command(
    server: Server,
    context: RequestContext,
    params: ExecuteCommandParams,
) -> Result<Option<LspAny>> {
    let argument = params.arguments.and_then(|arguments| arguments.into_iter().next()).unwrap_or_default();
    let command = params.command;
    match command.as_str() {
        DID_ACCEPT_COMMAND => {
            let id: String = parse(&command, argument)?;
            if let Some(item) = id.parse().ok().filter(|_| server.trial.is_running()) {
                server.trial.record(EventKind::Accepted { item, is_partial: false });
            }
            if !server.suggestions.accept(&id, None, &context.snapshot.documents) {
                tracing::warn!(id, "an unknown item was accepted");
            }
            Ok(None)
        }
        RECORD_CASE_COMMAND => {
            answer(record_case::record_case(server, context, parse(&command, argument)?).await?)
        }
        SHOULD_HAVE_SUGGESTED_COMMAND | NOT_WANTED_COMMAND => {
            let place: MarkPlaceParams = parse(&command, argument)?;
            if command == NOT_WANTED_COMMAND {
                server.suggestions.withhold(&*context.document(&place.text_document.uri)?);
            }
            mark_place::mark_place(server, context, place).await?;
            Ok(None)
        }
        OPEN_SUITE_COMMAND => answer(suite::suite(server, context, parse(&command, argument)?).await?),
        REPLAY_COMMAND => answer(replay::replay(server, context, parse(&command, argument)?).await?),
        _ => Err(Error::invalid_params(format!("unknown command {command}"))),
    }
}

fn parse<T: DeserializeOwned>(command: &str, argument: Value) -> Result<T> {
    serde_json::from_value(argument)
        .map_err(|error| Error::invalid_params(format!("invalid argument of {command}: {error}")))
}

fn answer(result: impl Serialize) -> Result<Option<LspAny>> {
    serde_json::to_value(result).map(Some).map_err(|_| Error::internal_error())
}
