//! The front door in the process of the language server: plugins in the same editor take part in its trials.
//!
//! ```text
//! front door ──question──► main loop ──► OrderedService: documents, requests in order with the edits
//! ```

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serve::{EditorDocuments, EditorRequest};
use session::Documents;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tower_lsp_server::gen_lsp_types::MessageType;

use crate::server::Server;

/// A question of the front door to the layer that owns the documents.
pub(crate) enum FrontDoorQuestion {
    /// The open documents.
    Documents(oneshot::Sender<Arc<Documents>>),
    /// Records a request, unless its document has changed.
    Request(EditorRequest, oneshot::Sender<bool>),
}

struct EditorInProcess(UnboundedSender<FrontDoorQuestion>);

impl EditorDocuments for EditorInProcess {
    fn documents(&self) -> BoxFuture<'_, Option<Arc<Documents>>> {
        async {
            let (answer, answered) = oneshot::channel();
            self.0.send(FrontDoorQuestion::Documents(answer)).ok()?;
            answered.await.ok()
        }
        .boxed()
    }

    fn request(&self, request: EditorRequest) -> BoxFuture<'_, bool> {
        async {
            let (answer, answered) = oneshot::channel();
            let sent = self.0.send(FrontDoorQuestion::Request(request, answer));
            sent.is_ok() && answered.await.unwrap_or(false)
        }
        .boxed()
    }
}

/// Opens the front door if the settings of the first folder say so. A failure is shown to the user.
pub(crate) async fn open_if_enabled(server: Server, questions: UnboundedSender<FrontDoorQuestion>) {
    let first = server.folders.first();
    let Ok(settings) = server.settings_in(first.as_deref()).await else { return };
    let settings = &settings.config.serve;
    if !settings.is_enabled {
        return;
    }
    let editor = Arc::new(EditorInProcess(questions));
    if let Err(error) = serve::open(server.session.clone(), settings, Some(editor)).await {
        server.show_and_log(MessageType::Warning, format!("the front door is closed: {error}"));
    }
}
