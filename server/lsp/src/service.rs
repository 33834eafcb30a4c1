//! The request table: maps each supported method to its function, which gets the [`RequestContext`](crate::request_context) of its arrival.
//!
//! The life cycle (`initialize`, `shutdown`, `$/cancelRequest`) is handled by the LSP library's service. A panic in a function
//! fails only its own request; cancelling a request drops the function's future and everything it started.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use session::BackgroundPool;
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::{ClientSocket, LspService};

use crate::front_door::FrontDoorQuestion;
use crate::main_loop::ExitReason;
use crate::ordered_service::OrderedService;
use crate::request_context::{NumberedParams, PendingContexts};
use crate::requests::{
    advance_time, answers, case, cases, code_lens, execute_command, inline_completion, last_request, page,
    pause_recording, record_case, replay, scoreboard, status, suite, text_document_content, trial,
};
use crate::server::Server;
use crate::{ServerSetup, ext};

/// Builds the service for one client, and our client handle. Send to `ends` to stop the server.
pub(crate) fn build_service(
    setup: ServerSetup,
    background: BackgroundPool,
    ends: UnboundedSender<ExitReason>,
    questions: UnboundedSender<FrontDoorQuestion>,
) -> (OrderedService, ClientSocket) {
    let pending = PendingContexts::default();
    /// Registers a function for a method.
    macro_rules! answer {
        ($builder:expr, $($method:expr => $function:path),+ $(,)?) => {
            $builder$(.custom_method($method, {
                let pending = pending.clone();
                move |server: &Server, NumberedParams { arrival, params }| {
                    let (server, context) = (server.clone(), pending.get(arrival));
                    catch_panic(server.clone(), $method, async move {
                        $function(server, context?, params).await
                    })
                }
            }))+
        };
    }
    let builder = LspService::build_with_lifecycle_methods(|client| {
        Server::new(client, setup, background, ends, questions)
    });
    let builder = answer!(builder,
        "textDocument/inlineCompletion" => inline_completion::inline_completion,
        "textDocument/codeLens" => code_lens::code_lens,
        "workspace/textDocumentContent" => text_document_content::text_document_content,
        "workspace/executeCommand" => execute_command::execute_command,
        ext::RECORD_CASE => record_case::record_case,
        ext::CASES => cases::cases,
        ext::CASE => case::case,
        ext::REPLAY => replay::replay,
        ext::SUITE => suite::suite,
        ext::SUITE_CASE => suite::suite_case,
        ext::SCOREBOARD => scoreboard::scoreboard,
        ext::STATUS => status::status,
        ext::ADVANCE_TIME => advance_time::advance_time,
        ext::TRIAL => trial::trial,
        ext::START_TRIAL => trial::start_trial,
        ext::STOP_TRIAL => trial::stop_trial,
        ext::PAUSE_RECORDING => pause_recording::pause_recording,
        ext::RESUME_RECORDING => pause_recording::resume_recording,
        ext::FORGET => pause_recording::forget,
        ext::LAST_REQUEST => last_request::last_request,
        ext::ANSWERS => answers::answers,
        ext::PAGE => page::page,
    );
    let (service, socket) = builder.finish();
    (OrderedService::new(service, pending), socket)
}

async fn catch_panic<T>(
    server: Server,
    method: &'static str,
    answering: impl Future<Output = Result<T>>,
) -> Result<T> {
    let answering = server.stopping.run_until_cancelled(AssertUnwindSafe(answering).catch_unwind());
    match answering.await {
        Some(Ok(answer)) => answer,
        Some(Err(_)) => Err(internal_error(method)),
        // After `shutdown` the answer is not needed any more.
        None => Err(Error::request_cancelled()),
    }
}

/// The error response to a request that panicked.
pub(crate) fn internal_error(method: &'static str) -> Error {
    tracing::error!(method, "the request panicked");
    let message = format!("{method} panicked; the location is in the log of the server");
    Error { message: message.into(), ..Error::internal_error() }
}
