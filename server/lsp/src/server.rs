//! The state that all requests share, and the life cycle: negotiation, start and stop of background work.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use cases::Case;
use recording::{TrialSession, TrialSessionState};
use session::{BackgroundPool, EffectiveSettings, Folder, NewFolder, Suggestions, lock};
use text::PositionEncoding;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::{Notify, watch};
use tower_lsp_server::gen_lsp_types::{
    ConfigurationItem, InitializeParams, InitializeResult, InitializedParams, MessageType, ServerInfo,
    TextDocumentContentRefreshParams, TextDocumentContentRefreshRequest, TextDocumentIdentifier, Uri,
    WorkspaceFolder, WorkspaceFolders,
};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::{Client, LanguageServer};

use crate::capabilities::{self, ClientFeatures};
use crate::ext::CompletionStatus;
use crate::front_door::FrontDoorQuestion;
use crate::log::LogSettings;
use crate::main_loop::ExitReason;
use crate::progress::ProgressTasks;
use crate::register_watchers;
use crate::request_context::RequestContext;
use crate::run_blocking::no_folder_error;
use crate::suite_document::{self, SuiteDocument};
use crate::{ServerSetup, from_proto, front_door, parent_process, session_events, trial_state};

/// Longest wait of a request for an answer to the request for the client's configuration.
const MAX_SETTINGS_WAIT: Duration = Duration::from_millis(200);

/// Handle to the shared state; cheap to clone.
#[derive(Clone)]
pub(crate) struct Server(Arc<SharedState>);

/// The state that all requests share. It holds no documents: the ordering layer owns them.
pub(crate) struct SharedState {
    /// Connection to the client.
    pub(crate) client: Client,
    /// Log file.
    pub(crate) log: Option<LogSettings>,
    /// The folders and their trials.
    pub(crate) session: TrialSession,
    /// Folders from `initialize`, which are added at `initialized`.
    deferred_folders: Mutex<Vec<WorkspaceFolder>>,
    /// The latest suggestions.
    pub(crate) suggestions: Suggestions,
    /// Running tasks that report progress.
    pub(crate) progress_tasks: ProgressTasks,
    /// Notified when the client's configuration must be requested again.
    pub(crate) configuration_changed: Notify,
    /// Whether the client's configuration was requested and is not applied yet.
    is_pulling_settings: watch::Sender<bool>,
    /// Outcome of the last completion request.
    pub(crate) last_completion: Mutex<Option<CompletionStatus>>,
    handshake: OnceLock<Handshake>,
    exit: UnboundedSender<ExitReason>,
    /// Where the front door asks for the documents.
    front_door: UnboundedSender<FrontDoorQuestion>,
}

/// Result of the negotiation with the client.
pub(crate) struct Handshake {
    /// Encoding of positions.
    pub(crate) encoding: PositionEncoding,
    /// Capabilities of the client.
    pub(crate) client_features: ClientFeatures,
}

impl Deref for Server {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
}

/// The folders and trials of the session are used like the state's own fields.
impl Deref for SharedState {
    type Target = TrialSessionState;

    fn deref(&self) -> &TrialSessionState {
        &self.session
    }
}

impl Server {
    pub(crate) fn new(
        client: Client,
        setup: ServerSetup,
        background: BackgroundPool,
        ends: UnboundedSender<ExitReason>,
        questions: UnboundedSender<FrontDoorQuestion>,
    ) -> Server {
        let (events, received) = mpsc::unbounded_channel();
        let server = Server(Arc::new(SharedState {
            client,
            log: setup.log,
            session: TrialSession::new(setup.session, setup.clock, background, events),
            deferred_folders: Mutex::default(),
            suggestions: Suggestions::default(),
            progress_tasks: ProgressTasks::default(),
            configuration_changed: Notify::new(),
            is_pulling_settings: watch::Sender::new(false),
            last_completion: Mutex::default(),
            handshake: OnceLock::new(),
            exit: ends,
            front_door: questions,
        }));
        tokio::spawn(session_events::show(server.clone(), received));
        tokio::spawn(trial_state::announce_changes(server.clone()));
        server
    }

    /// Returns the negotiated features; `None` before `initialize`.
    pub(crate) fn handshake(&self) -> Option<&Handshake> {
        self.handshake.get()
    }

    /// Returns the settings of a folder, or those outside of all folders, including everything the editor has sent so far.
    pub(crate) async fn settings_in(&self, folder: Option<&Folder>) -> Result<Arc<EffectiveSettings>> {
        self.folders.settings_in(folder).await.ok_or_else(Error::request_cancelled)
    }

    /// Requests the client's configuration, and again after each change; one request at a time, so that the newest answer wins.
    async fn follow_client_settings(&self) {
        loop {
            self.pull_settings().await;
            self.configuration_changed.notified().await;
        }
    }

    /// Waits until an answer of the client to a request for its configuration is applied: another thread does that, while this one may
    /// already read the client's next message. Does not wait long for a client that has not answered.
    pub(crate) async fn when_settings_are_applied(&self) {
        let mut is_pulling = self.is_pulling_settings.subscribe();
        let _ = tokio::time::timeout(MAX_SETTINGS_WAIT, is_pulling.wait_for(|is_pulling| !is_pulling)).await;
    }

    async fn pull_settings(&self) {
        self.is_pulling_settings.send_replace(true);
        let section = ConfigurationItem { scope_uri: None, section: Some("ghostbench".to_owned()) };
        match self.client.configuration(vec![section]).await {
            Ok(values) => {
                values.into_iter().take(1).for_each(|settings| self.folders.set_editor_settings(settings))
            }
            Err(error) => tracing::warn!(%error, "the client did not send its configuration"),
        }
        self.is_pulling_settings.send_replace(false);
    }

    /// Logs a warning in the editor's log and in ours.
    pub(crate) fn warn(&self, message: String) {
        tracing::warn!("{message}");
        let client = self.client.clone();
        tokio::spawn(async move { client.log_message(MessageType::Warning, message).await });
    }

    /// Shows a message to the user and logs it.
    pub(crate) fn show_and_log(&self, kind: MessageType, message: String) {
        tracing::warn!("{message}");
        self.notify_user(kind, message);
    }

    /// Shows a message to the user without logging it.
    pub(crate) fn notify_user(&self, kind: MessageType, message: String) {
        let client = self.client.clone();
        tokio::spawn(async move { client.show_message(kind, format!("Ghostbench: {message}")).await });
    }

    /// Returns the folder of a document; the first folder without a document.
    pub(crate) async fn folder_of(
        &self,
        context: &RequestContext,
        document: Option<&TextDocumentIdentifier>,
    ) -> Result<Arc<Folder>> {
        let folder = match document {
            Some(document) => self.folders.locate(&*context.document(&document.uri)?).await.folder,
            None => self.folders.first(),
        };
        folder.ok_or_else(no_folder_error)
    }

    /// Asks the client to request code lenses again.
    pub(crate) fn refresh_lenses(&self) {
        if self.handshake().is_some_and(|agreed| agreed.client_features.lens_refresh) {
            let client = self.client.clone();
            // A client that refuses keeps its current lenses.
            tokio::spawn(async move { drop(client.code_lens_refresh().await) });
        }
    }

    /// Asks the client to request the answers to a case of an open suite again.
    pub(crate) fn refresh_answers(&self, case: &Case) {
        if self.handshake().is_some_and(|agreed| agreed.client_features.text_document_content) {
            let client = self.client.clone();
            let uri = suite_document::uri(case, SuiteDocument::Answers);
            let params = TextDocumentContentRefreshParams { uri };
            // A client that refuses keeps its current text.
            tokio::spawn(async move {
                drop(client.send_request::<TextDocumentContentRefreshRequest>(params).await);
            });
        }
    }

    /// Adds a folder and starts to index it; ignores URIs that are not on disk.
    pub(crate) fn add_folder(&self, folder: WorkspaceFolder) {
        if let Some(root) = from_proto::path(&folder.uri) {
            self.folders.add(NewFolder { uri: folder.uri.0, name: folder.name, root });
        }
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let encoding = capabilities::negotiate_encoding(&params.capabilities);
        let client_has = ClientFeatures::new(&params.capabilities);
        let client = params.client_info.as_ref().map_or("unnamed", |client| client.name.as_str());
        tracing::info!(client, ?encoding, ?client_has, "initialize");
        if let Some(id) = params.process_id {
            parent_process::watch(id, self.exit.clone());
        }
        self.folders.start(params.initialization_options.clone().unwrap_or_default());
        // The service rejects a second `initialize` before this point.
        let _ = self.handshake.set(Handshake { encoding, client_features: client_has });
        *lock(&self.deferred_folders) = initial_folders(&params);
        Ok(InitializeResult {
            capabilities: capabilities::server_capabilities(encoding),
            server_info: Some(ServerInfo {
                name: "ghostbench".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        for folder in std::mem::take(&mut *lock(&self.deferred_folders)) {
            self.add_folder(folder);
        }
        tokio::spawn(front_door::open_if_enabled(self.clone(), self.front_door.clone()));
        let Some(agreed) = self.handshake() else { return };
        let (server, has) = (self.clone(), agreed.client_features);
        tokio::spawn(async move {
            if has.file_watching && register_watchers::register(&server.client).await {
                server.folders.set_client_watches(true);
            }
            if has.configuration {
                server.follow_client_settings().await;
            }
        });
    }

    async fn shutdown(&self) -> Result<()> {
        self.trial.finish_describing().await;
        self.stopping.cancel();
        Ok(())
    }
}

/// The folders that the client names: `workspaceFolders`, otherwise `rootUri`.
fn initial_folders(params: &InitializeParams) -> Vec<WorkspaceFolder> {
    let named = params.workspace_folders_initialize_params.workspace_folders.as_ref();
    if let Some(WorkspaceFolders::WorkspaceFolderList(named)) = named {
        return named.clone();
    }
    #[expect(deprecated, reason = "clients that know no folders name a root")]
    let root = params.root_uri.clone();
    root.map(|uri: Uri| WorkspaceFolder {
        name: uri.0.rsplit('/').next().unwrap_or_default().to_owned(),
        uri,
    })
    .into_iter()
    .collect()
}
