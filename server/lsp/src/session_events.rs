//! Shows the events of the session: `ghostbench/didChangeStatus`, progress, messages.

use builtin::TokenCoverage;
use config::{Problem, Severity};
use session::{IndexingOutcome, IndexingReport, SessionEvent};
use tokio::sync::mpsc::UnboundedReceiver;
use tower_lsp_server::gen_lsp_types::MessageType;

use crate::busy_status::{BusyStatus, report};
use crate::progress::ProgressDisplay;
use crate::server::Server;

/// Maximum number of problems in one message; `ghostbench doctor` shows the others.
const MAX_PROBLEMS_SHOWN: usize = 5;

/// Shows events until the server stops. Indexing reports are shown beside each other.
pub(crate) async fn show(server: Server, mut events: UnboundedReceiver<SessionEvent>) {
    while let Some(Some(event)) = server.stopping.run_until_cancelled(events.recv()).await {
        match event {
            SessionEvent::IndexingStarted(indexing) => {
                tokio::spawn(show_indexing(server.clone(), indexing));
            }
            SessionEvent::FolderUnreadable(reason) => report(&server.client, false, "warning", reason).await,
            SessionEvent::FolderReadable(folder) => {
                report(&server.client, false, "normal", format!("{folder} can be read again")).await;
            }
            SessionEvent::SettingsProblems(problems) => show_problems(&server, &problems),
            SessionEvent::Warning(message) => server.client.log_message(MessageType::Warning, message).await,
            SessionEvent::UserWarning(message) => server.notify_user(MessageType::Warning, message),
            SessionEvent::CasesAdded => server.refresh_lenses(),
        }
    }
}

async fn show_indexing(server: Server, indexing: IndexingReport) {
    let IndexingReport { folder, progress, outcome } = indexing;
    let busy = BusyStatus::begin(&server.client, format!("reading {folder}")).await;
    let work = server.progress_tasks.begin_server_initiated();
    let title = format!("Ghostbench reads {folder}");
    let display = ProgressDisplay::begin(&server, &work, &title, false, progress);
    // Without an outcome the status says that the work was stopped.
    let Ok(outcome) = outcome.await else { return };
    display.end().await;
    match outcome {
        IndexingOutcome::Ready { tokens } => busy.end("normal", ready_message(&folder, tokens)).await,
        IndexingOutcome::Failed(reason) => busy.end("warning", reason).await,
    }
}

/// The message after indexing, with the share of tokens if not all files have room.
fn ready_message(folder: &str, tokens: TokenCoverage) -> String {
    match tokens.excluded_files {
        0 => format!("{folder} is read"),
        _ => format!("{folder} is read; the built-in engine holds {tokens}: nearest code first"),
    }
}

/// Shows problems of the settings in one message.
fn show_problems(server: &Server, problems: &[Problem]) {
    let Some(worst) = problems.iter().map(|problem| problem.severity).max() else { return };
    let mut lines: Vec<String> = problems.iter().take(MAX_PROBLEMS_SHOWN).map(ToString::to_string).collect();
    if problems.len() > MAX_PROBLEMS_SHOWN {
        let more = problems.len() - MAX_PROBLEMS_SHOWN;
        lines.push(format!("and {more} more; `ghostbench doctor` shows all"));
    }
    let kind = match worst {
        Severity::Error => MessageType::Error,
        Severity::Warning => MessageType::Warning,
        Severity::Untrusted => MessageType::Info,
    };
    server.show_and_log(kind, lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_tokens_is_reported_if_files_are_excluded() {
        let mut tokens = TokenCoverage { held: 20_000_000, total: 31_400_000, excluded_files: 2 };
        assert_eq!(
            ready_message("shop", tokens),
            "shop is read; the built-in engine holds 20.0 of about 31.4 million tokens (64 %): nearest code first"
        );
        tokens.excluded_files = 0;
        assert_eq!(ready_message("shop", tokens), "shop is read");
    }
}
