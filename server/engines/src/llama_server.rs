//! A GGUF file as an [`Engine`]: starts llama.cpp's `llama-server` for it and queries it over HTTP.
//!
//! ```text
//! first question --start--> child --/health--> ready: an HttpEngine of kind `llama-server` answers this and all further ones
//!                             |                                       |
//!                             +--------- ended: started again by the next question, after a pause where it keeps ending
//! ```
//!
//! Requests wait for the server while it loads, each within its own deadline; it continues to load when they leave. It listens
//! on loopback only, at its own port, and requires a key that only this process knows, because its latest request is code.
//! `http_engine` handles the requests.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use config::Secret;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use thiserror::Error as ThisError;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::child_process::ChildProcess;
use crate::child_process::restart_backoff::RestartBackoff;
use crate::{
    Answer, AnswerListener, Cassette, Engine, EngineDescription, EngineError, EngineInfo, HttpEngine,
    HttpServerConfig, HttpSettings, Program, ProgramError, Proxy, Request, SetupError,
};

/// Default program.
pub const LLAMA_SERVER: &str = "llama-server";

/// First bytes of a GGUF file.
const MAGIC: &[u8] = b"GGUF";

/// Poll interval until the server is ready: a small model loads within a tenth of a second.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// If a server doesn't answer because it has exited, the exit is noticed within this time.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);

/// Environment variable that passes the key to the server; other processes can see arguments.
const KEY_VARIABLE: &str = "LLAMA_API_KEY";

/// A configured GGUF model.
#[derive(Clone, Debug)]
pub struct LlamaServerSettings {
    /// The program; our arguments are appended to its own.
    pub program: Program,
    /// The model file.
    pub gguf: PathBuf,
    /// The server's log file, truncated at each start.
    pub log: Option<PathBuf>,
    /// Timeout for its start.
    pub start_timeout: Duration,
    /// Settings of its requests. Address and key are set when it runs.
    pub http: HttpSettings,
    /// Cassette for its answers. Offline, no server is started, and nothing needed for one is checked.
    pub cassette: Option<Arc<Cassette>>,
}

impl LlamaServerSettings {
    /// Returns the cassette that replaces the server.
    fn offline(&self) -> Option<&Arc<Cassette>> {
        self.cassette.as_ref().filter(|cassette| cassette.is_offline())
    }
}

/// Error while creating the engine.
#[derive(Debug, ThisError)]
pub enum LlamaServerError {
    /// The file can't be read.
    #[error("cannot read the `gguf` {}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a GGUF file.
    #[error("{} is not a GGUF file; convert the model with llama.cpp's scripts, or correct `gguf`", .path.display())]
    NoModel {
        /// The file.
        path: PathBuf,
    },
    /// The program can't be started.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The request settings are invalid.
    #[error(transparent)]
    Asking(#[from] SetupError),
}

/// A llama.cpp server with the lifetime of this value.
pub struct LlamaServerEngine {
    description: EngineDescription,
    settings: LlamaServerSettings,
    running: Mutex<RunningServer>,
}

#[derive(Default)]
struct RunningServer {
    server: Option<LlamaServer>,
    restarts: RestartBackoff,
}

/// One server. Dropping it ends the process.
struct LlamaServer {
    state: watch::Receiver<ServerState>,
    /// Dropping this signals the supervising task.
    _alive: oneshot::Sender<()>,
}

#[derive(Clone)]
enum ServerState {
    Loading,
    Ready(Arc<HttpEngine>),
    Exited(ProgramError),
}

impl LlamaServerEngine {
    /// Checks the file and the program; starts nothing.
    pub fn new(mut settings: LlamaServerSettings) -> Result<LlamaServerEngine, LlamaServerError> {
        if settings.offline().is_none() {
            check_file(&settings.gguf)?;
            settings.program.check()?;
        }
        let LlamaServerSettings { program, gguf, http, .. } = &mut settings;
        let name = gguf.file_stem().map(|name| name.to_string_lossy().into_owned());
        http.model = http.model.take().or(name);
        // Validates the template as it will be used later.
        let engine = HttpEngine::new(http.clone())?;
        let mut description = engine.description().clone();
        description.settings.insert("command".to_owned(), program.description());
        let server = settings.offline().map(|cassette| LlamaServer::replayed(engine.with_cassette(cassette)));
        let running = Mutex::new(RunningServer { server, ..RunningServer::default() });
        Ok(LlamaServerEngine { description, settings, running })
    }

    /// Returns the running server; restarts one that has ended if its backoff is over.
    fn server(&self) -> Result<watch::Receiver<ServerState>, ProgramError> {
        let mut running = self.running();
        let RunningServer { server, restarts } = &mut *running;
        if let Some(old) = server {
            match &*old.state.borrow() {
                ServerState::Exited(fault) => restarts.record_failure(fault),
                ServerState::Loading | ServerState::Ready(_) => return Ok(old.state.clone()),
            }
            *server = None;
        }
        match restarts.blocked_by() {
            Some(fault) => Err(fault.clone()),
            None => Ok(server.insert(LlamaServer::start(self.settings.clone())).state.clone()),
        }
    }

    /// Waits until the server is ready; starts it if necessary.
    async fn ready(&self) -> Result<(Arc<HttpEngine>, watch::Receiver<ServerState>), EngineError> {
        let mut state = self.server().map_err(|fault| self.error(fault))?;
        let engine = match state.wait_for(|state| !matches!(state, ServerState::Loading)).await.as_deref() {
            Ok(ServerState::Ready(engine)) => Arc::clone(engine),
            Ok(ServerState::Exited(fault)) => return Err(self.error(fault.clone())),
            // Its runtime has shut down.
            Ok(ServerState::Loading) | Err(_) => return Err(EngineError::Cancelled),
        };
        Ok((engine, state))
    }

    async fn answer(
        &self,
        request: Request,
        sink: &mut dyn AnswerListener,
        cancel: &CancellationToken,
    ) -> Result<Answer, EngineError> {
        let (engine, state) = self.ready().await?;
        match engine.complete(request, sink, cancel).await {
            Ok(answer) => {
                self.running().restarts.record_success();
                Ok(answer)
            }
            // If the server has exited, that is the better error.
            Err(EngineError::Server { engine, fault }) => match ended(state).await {
                Some(end) => Err(self.error(end)),
                None => Err(EngineError::Server { engine, fault }),
            },
            Err(error) => Err(error),
        }
    }

    fn running(&self) -> MutexGuard<'_, RunningServer> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, fault: ProgramError) -> EngineError {
        EngineError::Program { engine: self.settings.http.name.clone(), fault }
    }
}

/// Returns why the server has exited.
async fn ended(mut state: watch::Receiver<ServerState>) -> Option<ProgramError> {
    let end = state.wait_for(|state| matches!(state, ServerState::Exited(..)));
    match tokio::time::timeout(EXIT_TIMEOUT, end).await.ok()?.as_deref() {
        Ok(ServerState::Exited(fault)) => Some(fault.clone()),
        _ => None,
    }
}

impl Engine for LlamaServerEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let answer = self.answer(request, sink, cancel);
            cancel.run_until_cancelled(answer).await.unwrap_or(Err(EngineError::Cancelled))
        }
        .boxed()
    }

    fn count_tokens<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Option<usize>> {
        async move { self.ready().await.ok()?.0.count_tokens(text).await }.boxed()
    }

    fn probe(&self) -> BoxFuture<'_, Result<EngineInfo, EngineError>> {
        async move { self.ready().await?.0.probe().await }.boxed()
    }
}

impl LlamaServer {
    /// A server that isn't running: a cassette answers for it.
    fn replayed(engine: HttpEngine) -> LlamaServer {
        LlamaServer {
            state: watch::channel(ServerState::Ready(Arc::new(engine))).1,
            _alive: oneshot::channel().0,
        }
    }

    /// Starts a server and its supervising task.
    fn start(settings: LlamaServerSettings) -> LlamaServer {
        let (tell, state) = watch::channel(ServerState::Loading);
        let (alive, dropped) = oneshot::channel();
        tokio::spawn(async move {
            let fault = tokio::select! {
                fault = serve(&settings, &tell) => fault,
                _ = dropped => return,
            };
            let fault = match settings.log {
                Some(log) => ProgramError::Logged { fault: Box::new(fault), log },
                None => fault,
            };
            tell.send_replace(ServerState::Exited(fault));
        });
        LlamaServer { state, _alive: alive }
    }
}

/// Runs a server until it ends.
async fn serve(settings: &LlamaServerSettings, tell: &watch::Sender<ServerState>) -> ProgramError {
    let program = settings.program.name();
    let not_started = |reason: String| ProgramError::NotStarted { program: program.to_owned(), reason };
    let port = match free_port() {
        Ok(port) => port,
        Err(error) => return not_started(format!("there is no free port ({error})")),
    };
    let key = Secret::new(&random_key());
    let http =
        HttpSettings { server: local_server(port, &key, &settings.http.server), ..settings.http.clone() };
    let engine = match HttpEngine::new(http) {
        Ok(engine) => engine,
        Err(error) => return not_started(error.to_string()),
    };
    prepare_log(settings.log.as_deref());
    let (child, mut pipes) = match ChildProcess::start(&arguments(settings, port, key)) {
        Ok(started) => started,
        Err(fault) => return fault,
    };
    let reading = async {
        // Everything is in its log and its standard error.
        let _ = tokio::io::copy(&mut pipes.stdout, &mut tokio::io::sink()).await;
        std::future::pending().await
    };
    let asking = async {
        let ready = tokio::time::timeout(settings.start_timeout, until_ready(&engine)).await;
        if ready.is_err() {
            return ProgramError::Timeout {
                program: program.to_owned(),
                awaited: "was not ready",
                waited: settings.start_timeout,
                last_line: child.last_line(),
            };
        }
        let engine = match &settings.cassette {
            Some(cassette) => engine.with_cassette(cassette),
            None => engine,
        };
        tell.send_replace(ServerState::Ready(Arc::new(engine)));
        std::future::pending().await
    };
    tokio::select! {
        biased;
        fault = child.wait() => fault,
        fault = asking => fault,
        fault = reading => fault,
    }
}

async fn until_ready(engine: &HttpEngine) {
    while !engine.is_ready().await {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns a free port. If another process takes it before the server does, the server exits.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Returns an unguessable key: the standard library's hasher is seeded by the system.
fn random_key() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

fn local_server(port: u16, key: &Secret, server: &HttpServerConfig) -> HttpServerConfig {
    HttpServerConfig {
        url: format!("http://{}:{port}", Ipv4Addr::LOCALHOST),
        key: Some(key.clone()),
        proxy: Proxy::Direct,
        ..server.clone()
    }
}

/// A server that still writes an older log keeps it, unlinked.
fn prepare_log(log: Option<&Path>) {
    let Some(log) = log else { return };
    // Without a log there is still the server's standard error.
    let _ = fs::remove_file(log);
    let _ = log.parent().map(private_files::create_folder);
    // The server would create it readable by every user.
    let _ = private_files::write(log, b"");
}

fn arguments(settings: &LlamaServerSettings, port: u16, key: Secret) -> Program {
    let mut program = settings.program.clone();
    let mut say = |name: &str, value: String| program.command.extend([name.to_owned(), value]);
    say("--host", Ipv4Addr::LOCALHOST.to_string());
    say("--port", port.to_string());
    say("--model", settings.gguf.to_string_lossy().into_owned());
    if let Some(tokens) = settings.http.context_window {
        say("--ctx-size", tokens.to_string());
    }
    if let Some(log) = &settings.log {
        say("--log-file", log.to_string_lossy().into_owned());
    }
    program.env.insert(KEY_VARIABLE.to_owned(), key);
    program
}

fn check_file(gguf: &Path) -> Result<(), LlamaServerError> {
    let unreadable = |error| LlamaServerError::Unreadable { path: gguf.to_owned(), error };
    let mut magic = Vec::new();
    let file = File::open(gguf).map_err(unreadable)?;
    file.take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(unreadable)?;
    if magic == MAGIC { Ok(()) } else { Err(LlamaServerError::NoModel { path: gguf.to_owned() }) }
}
