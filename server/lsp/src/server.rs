//! What all requests share, and the life cycle: agreeing on terms, starting work behind the scenes, stopping it.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

use engines::Busy;
use serde_json::Value;
use text::Encoding;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types::{
    ConfigurationItem, InitializeParams, InitializeResult, InitializedParams, MessageType, ServerInfo,
    TextDocumentIdentifier, Uri, WorkspaceFolder, WorkspaceFolders,
};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::{Client, LanguageServer};

use crate::background::Background;
use crate::beside::no_folder;
use crate::capabilities::{self, ClientHas};
use crate::ext::CompletionStatus;
use crate::folders::{Folder, Folders};
use crate::health::Health;
use crate::moment::Moment;
use crate::progress::Works;
use crate::serve::End;
use crate::served::{EditorEngine, Served};
use crate::settings::{EditorSettings, Followed, InForce, Told, follow};
use crate::suggestions::Suggestions;
use crate::watch_files;
use crate::{Setup, parent};

/// The server's shared half; cheap to clone.
#[derive(Clone)]
pub(crate) struct Server(Arc<Shared>);

/// What all requests share. No document is in here: those belong to the ordering layer.
pub(crate) struct Shared {
    /// The way to the client.
    pub(crate) client: Client,
    /// What the command line gave us.
    pub(crate) setup: Setup,
    /// How many questions engines are working on.
    pub(crate) busy: Busy,
    /// Where work is done that nobody waits for.
    pub(crate) background: Background,
    /// The workspace's folders.
    pub(crate) folders: Folders,
    /// What was suggested lately.
    pub(crate) suggestions: Suggestions,
    /// The work that is under way and shown.
    pub(crate) works: Works,
    /// Whether the client has agreed to tell of files that change.
    pub(crate) client_watches: watch::Sender<bool>,
    /// Told when the client's configuration is to be asked for again.
    pub(crate) configuration_changed: Notify,
    /// How the engines are that write.
    pub(crate) health: Health,
    /// How the last request for a completion ended.
    pub(crate) last_completion: Mutex<Option<CompletionStatus>>,
    /// What the editor has sent of its settings.
    pub(crate) editor: EditorSettings,
    /// What is set outside of all folders.
    outside: Arc<Followed>,
    /// What was told of settings.
    pub(crate) told: Told,
    agreed: OnceLock<Agreed>,
    ends: UnboundedSender<End>,
    /// Cancelled when the server stops, and with it all that is under way.
    pub(crate) stopping: CancellationToken,
}

/// What client and server agreed on.
pub(crate) struct Agreed {
    /// How characters are counted.
    pub(crate) encoding: Encoding,
    /// What the client can do.
    pub(crate) client_has: ClientHas,
}

impl Deref for Server {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Server {
    pub(crate) fn new(
        client: Client,
        setup: Setup,
        background: Background,
        ends: UnboundedSender<End>,
    ) -> Server {
        let stopping = CancellationToken::new();
        Server(Arc::new(Shared {
            client,
            background,
            folders: Folders::default(),
            suggestions: Suggestions::default(),
            works: Works::default(),
            client_watches: watch::Sender::new(false),
            configuration_changed: Notify::new(),
            health: Health::default(),
            last_completion: Mutex::default(),
            editor: EditorSettings::default(),
            outside: Arc::new(Followed::new(None, stopping.clone())),
            told: Told::default(),
            agreed: OnceLock::new(),
            busy: Busy::default(),
            ends,
            stopping,
            setup,
        }))
    }

    /// What was agreed on; `None` before `initialize`.
    pub(crate) fn agreed(&self) -> Option<&Agreed> {
        self.agreed.get()
    }

    /// What is set in a folder, or outside of all, with everything that the editor had sent by now.
    pub(crate) async fn settings_in(&self, folder: Option<&Folder>) -> Result<Arc<InForce>> {
        let followed = folder.map_or(&self.outside, |folder| &folder.settings);
        followed.in_force(&self.editor).await.ok_or_else(Error::request_cancelled)
    }

    /// Takes in settings of the editor, over those that `initialize` brought.
    pub(crate) fn set_settings(&self, settings: Value) {
        self.editor.set(settings);
        self.outside.look();
        self.folders.all().iter().for_each(|folder| folder.settings.look());
    }

    /// Has the questions of these engines counted.
    pub(crate) fn count(&self, served: &mut Served) {
        for asked in served.engines.iter_mut().flat_map(EditorEngine::uses) {
            asked.engine = self.busy.counting(Arc::clone(&asked.engine));
        }
    }

    /// Asks for what the user has set, again whenever it changed; one request after the other, so that the newest answer counts.
    async fn keep_settings(&self) {
        loop {
            self.pull_settings().await;
            self.configuration_changed.notified().await;
        }
    }

    async fn pull_settings(&self) {
        let section = ConfigurationItem { scope_uri: None, section: Some("ghostbench".to_owned()) };
        match self.client.configuration(vec![section]).await {
            Ok(values) => values.into_iter().take(1).for_each(|settings| self.set_settings(settings)),
            Err(error) => tracing::warn!(%error, "the client does not tell its configuration"),
        }
    }

    /// Tells the user in the editor's log, and ours.
    pub(crate) fn warn(&self, message: String) {
        tracing::warn!("{message}");
        let client = self.client.clone();
        tokio::spawn(async move { client.log_message(MessageType::Warning, message).await });
    }

    /// Tells the user where they see it, and our log.
    pub(crate) fn show(&self, kind: MessageType, message: String) {
        tracing::warn!("{message}");
        self.tell(kind, message);
    }

    /// Tells the user alone.
    pub(crate) fn tell(&self, kind: MessageType, message: String) {
        let client = self.client.clone();
        tokio::spawn(async move { client.show_message(kind, format!("Ghostbench: {message}")).await });
    }

    /// The folder that a document belongs to; the first one where none is named.
    pub(crate) async fn folder_of(
        &self,
        moment: &Moment,
        document: Option<&TextDocumentIdentifier>,
    ) -> Result<Arc<Folder>> {
        let folder = match document {
            Some(document) => self.folders.home(&*moment.document(&document.uri)?).await.folder,
            None => self.folders.all().into_iter().next(),
        };
        folder.ok_or_else(no_folder)
    }

    /// Has the client ask for lenses again.
    pub(crate) fn refresh_lenses(&self) {
        if self.agreed().is_some_and(|agreed| agreed.client_has.lens_refresh) {
            let client = self.client.clone();
            // A client that refuses shows what it has.
            tokio::spawn(async move { drop(client.code_lens_refresh().await) });
        }
    }

    /// Takes in a folder and begins to read it.
    pub(crate) fn add_folder(&self, folder: WorkspaceFolder) {
        if let Some(folder) = Folder::new(folder, &self.setup.data, self.stopping.child_token()) {
            let folder = self.folders.add(folder);
            follow(self, Arc::clone(&folder.settings));
            crate::indexing::start(self, folder);
        }
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let encoding = capabilities::encoding(&params.capabilities);
        let client_has = ClientHas::new(&params.capabilities);
        let client = params.client_info.as_ref().map_or("unnamed", |client| client.name.as_str());
        tracing::info!(client, ?encoding, ?client_has, "initialize");
        if let Some(id) = params.process_id {
            parent::watch(id, self.ends.clone());
        }
        self.editor.begin(params.initialization_options.clone().unwrap_or_default());
        follow(self, Arc::clone(&self.outside));
        // A second `initialize` never gets here.
        let _ = self.agreed.set(Agreed { encoding, client_has });
        self.folders.expect(folders(&params));
        Ok(InitializeResult {
            capabilities: capabilities::of_server(encoding),
            server_info: Some(ServerInfo {
                name: "ghostbench".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        for folder in self.folders.take_expected() {
            self.add_folder(folder);
        }
        let Some(agreed) = self.agreed() else { return };
        let (server, has) = (self.clone(), agreed.client_has);
        tokio::spawn(async move {
            if has.file_watching && watch_files::register(&server.client).await {
                server.client_watches.send_replace(true);
            }
            if has.configuration {
                server.keep_settings().await;
            }
        });
    }

    async fn shutdown(&self) -> Result<()> {
        self.stopping.cancel();
        Ok(())
    }
}

/// The folders that the client names, in the newest way it knows.
fn folders(params: &InitializeParams) -> Vec<WorkspaceFolder> {
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
