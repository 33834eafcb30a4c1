//! A GGUF file as an [`Engine`]: llama.cpp's `llama-server` is started for it, and asked by HTTP like any other.
//!
//! ```text
//! first question --start--> child --/health--> ready: an HttpEngine of kind `llama-server` answers this and all further ones
//!                             |                                       |
//!                             +--------- ended: started anew by the next question, after a pause where it keeps ending
//! ```
//!
//! Questions wait for the server while it loads, each within its own deadline; it goes on loading when they leave. It listens on this
//! machine alone, at a port of its own, and answers only who knows its key, which nobody but this process does: what it was asked last
//! is code. How it is asked is `http_engine`'s business.

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

use crate::child::Child;
use crate::child::restarts::Restarts;
use crate::{
    Answer, Cassette, Description, Engine, Error, HttpEngine, HttpSettings, Introduction, Program,
    ProgramFault, Proxy, Request, Server, SetupError, Sink,
};

/// What is run where nothing else is said.
pub const LLAMA_SERVER: &str = "llama-server";

/// What a GGUF file begins with.
const MAGIC: &[u8] = b"GGUF";

/// How often a server is asked whether it is ready: a small model is within a tenth of a second.
const POLL: Duration = Duration::from_millis(25);

/// A server that does not answer because it has ended is known to have ended within this time.
const END: Duration = Duration::from_millis(300);

/// The environment variable that tells the server its key; other processes see arguments.
const KEY: &str = "LLAMA_API_KEY";

/// A model in a file, as somebody configured it.
#[derive(Clone, Debug)]
pub struct LlamaServerSettings {
    /// The program; ours are the last of its arguments.
    pub program: Program,
    /// The model's file.
    pub gguf: PathBuf,
    /// Where the server writes what it does, anew at each start.
    pub log: Option<PathBuf>,
    /// Time for it to be ready, from its start.
    pub start_timeout: Duration,
    /// How it is asked. Where, and with which key, is known when it runs.
    pub http: HttpSettings,
    /// Where its answers come from and go to. For one that is offline no server is started, nor anything needed for one.
    pub cassette: Option<Arc<Cassette>>,
}

impl LlamaServerSettings {
    /// The cassette that takes the server's place.
    fn offline(&self) -> Option<&Arc<Cassette>> {
        self.cassette.as_ref().filter(|cassette| cassette.is_offline())
    }
}

/// Why there is no such engine.
#[derive(Debug, ThisError)]
pub enum LlamaServerError {
    /// The file cannot be read.
    #[error("cannot read the `gguf` {}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file holds something else.
    #[error("{} is no GGUF file; convert the model with llama.cpp's scripts, or correct `gguf`", .path.display())]
    NoModel {
        /// The file.
        path: PathBuf,
    },
    /// The program cannot be started.
    #[error(transparent)]
    Program(#[from] ProgramFault),
    /// The model cannot be asked as the settings say.
    #[error(transparent)]
    Asking(#[from] SetupError),
}

/// A server of llama.cpp that runs for as long as this is there.
pub struct LlamaServerEngine {
    description: Description,
    settings: LlamaServerSettings,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    server: Option<LlamaServer>,
    restarts: Restarts,
}

/// One server. Dropping it ends it.
struct LlamaServer {
    state: watch::Receiver<State>,
    /// The task that looks after it hears when this is dropped.
    _alive: oneshot::Sender<()>,
}

#[derive(Clone)]
enum State {
    Loading,
    Ready(Arc<HttpEngine>),
    Ended(ProgramFault),
}

impl LlamaServerEngine {
    /// Looks at the file and for the program; nothing is started yet.
    pub fn new(mut settings: LlamaServerSettings) -> Result<LlamaServerEngine, LlamaServerError> {
        if settings.offline().is_none() {
            check_file(&settings.gguf)?;
            settings.program.check()?;
        }
        let LlamaServerSettings { program, gguf, http, .. } = &mut settings;
        let name = gguf.file_stem().map(|name| name.to_string_lossy().into_owned());
        http.model = http.model.take().or(name);
        // Templates are chosen and refused as they will be when it runs.
        let engine = HttpEngine::new(http.clone())?;
        let mut description = engine.description().clone();
        description.settings.insert("command".to_owned(), program.described());
        let server = settings.offline().map(|cassette| LlamaServer::recorded(engine.on_cassette(cassette)));
        let running = Mutex::new(Running { server, ..Running::default() });
        Ok(LlamaServerEngine { description, settings, running })
    }

    /// The running server; one that has ended is started again, if its pause is over.
    fn server(&self) -> Result<watch::Receiver<State>, ProgramFault> {
        let mut running = self.running();
        let Running { server, restarts } = &mut *running;
        if let Some(old) = server {
            match &*old.state.borrow() {
                State::Ended(fault) => restarts.failed(fault),
                State::Loading | State::Ready(_) => return Ok(old.state.clone()),
            }
            *server = None;
        }
        match restarts.refusal() {
            Some(fault) => Err(fault.clone()),
            None => Ok(server.insert(LlamaServer::start(self.settings.clone())).state.clone()),
        }
    }

    /// The server as soon as it is ready; it is started where there is none.
    async fn ready(&self) -> Result<(Arc<HttpEngine>, watch::Receiver<State>), Error> {
        let mut state = self.server().map_err(|fault| self.error(fault))?;
        let engine = match state.wait_for(|state| !matches!(state, State::Loading)).await.as_deref() {
            Ok(State::Ready(engine)) => Arc::clone(engine),
            Ok(State::Ended(fault)) => return Err(self.error(fault.clone())),
            // Its runtime is gone.
            Ok(State::Loading) | Err(_) => return Err(Error::Cancelled),
        };
        Ok((engine, state))
    }

    async fn answer(
        &self,
        request: Request,
        sink: Sink<'_>,
        cancel: &CancellationToken,
    ) -> Result<Answer, Error> {
        let (engine, state) = self.ready().await?;
        match engine.complete(request, sink, cancel).await {
            Ok(answer) => {
                self.running().restarts.succeeded();
                Ok(answer)
            }
            // Why it does not answer is best told by its end.
            Err(Error::Server { engine, fault }) => match ended(state).await {
                Some(end) => Err(self.error(end)),
                None => Err(Error::Server { engine, fault }),
            },
            Err(error) => Err(error),
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, fault: ProgramFault) -> Error {
        Error::Program { engine: self.settings.http.name.clone(), fault }
    }
}

/// Why the server has ended, if it has.
async fn ended(mut state: watch::Receiver<State>) -> Option<ProgramFault> {
    let end = state.wait_for(|state| matches!(state, State::Ended(..)));
    match tokio::time::timeout(END, end).await.ok()?.as_deref() {
        Ok(State::Ended(fault)) => Some(fault.clone()),
        _ => None,
    }
}

impl Engine for LlamaServerEngine {
    fn description(&self) -> &Description {
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
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move {
            let answer = self.answer(request, sink, cancel);
            cancel.run_until_cancelled(answer).await.unwrap_or(Err(Error::Cancelled))
        }
        .boxed()
    }

    fn introduce(&self) -> BoxFuture<'_, Result<Introduction, Error>> {
        async move { self.ready().await?.0.introduce().await }.boxed()
    }
}

impl LlamaServer {
    /// One that is not there: a cassette answers for it.
    fn recorded(engine: HttpEngine) -> LlamaServer {
        LlamaServer { state: watch::channel(State::Ready(Arc::new(engine))).1, _alive: oneshot::channel().0 }
    }

    /// Starts a server, and a task that looks after it.
    fn start(settings: LlamaServerSettings) -> LlamaServer {
        let (tell, state) = watch::channel(State::Loading);
        let (alive, dropped) = oneshot::channel();
        tokio::spawn(async move {
            let fault = tokio::select! {
                fault = serve(&settings, &tell) => fault,
                _ = dropped => return,
            };
            let fault = match settings.log {
                Some(log) => ProgramFault::Logged { fault: Box::new(fault), log },
                None => fault,
            };
            tell.send_replace(State::Ended(fault));
        });
        LlamaServer { state, _alive: alive }
    }
}

/// Runs a server until it ends.
async fn serve(settings: &LlamaServerSettings, tell: &watch::Sender<State>) -> ProgramFault {
    let program = settings.program.name();
    let not_started = |reason: String| ProgramFault::NotStarted { program: program.to_owned(), reason };
    let port = match free_port() {
        Ok(port) => port,
        Err(error) => return not_started(format!("there is no free port ({error})")),
    };
    let key = Secret::new(&random_key());
    let http = HttpSettings { server: at(port, &key, &settings.http.server), ..settings.http.clone() };
    let engine = match HttpEngine::new(http) {
        Ok(engine) => engine,
        Err(error) => return not_started(error.to_string()),
    };
    prepare(settings.log.as_deref());
    let (child, mut pipes) = match Child::start(&arguments(settings, port, key)) {
        Ok(started) => started,
        Err(fault) => return fault,
    };
    let reading = async {
        // It says everything in its log and in its errors.
        let _ = tokio::io::copy(&mut pipes.stdout, &mut tokio::io::sink()).await;
        std::future::pending().await
    };
    let asking = async {
        let ready = tokio::time::timeout(settings.start_timeout, until_ready(&engine)).await;
        if ready.is_err() {
            return ProgramFault::Silent {
                program: program.to_owned(),
                awaited: "was not ready",
                waited: settings.start_timeout,
                said: child.last_line(),
            };
        }
        let engine = match &settings.cassette {
            Some(cassette) => engine.on_cassette(cassette),
            None => engine,
        };
        tell.send_replace(State::Ready(Arc::new(engine)));
        std::future::pending().await
    };
    tokio::select! {
        biased;
        fault = child.ended() => fault,
        fault = asking => fault,
        fault = reading => fault,
    }
}

async fn until_ready(engine: &HttpEngine) {
    while !engine.is_ready().await {
        tokio::time::sleep(POLL).await;
    }
}

/// A port that nobody has at the moment. Whoever takes it before the server does makes the server end.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// What nobody can guess: the standard library's hasher begins with numbers that the system draws.
fn random_key() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

fn at(port: u16, key: &Secret, server: &Server) -> Server {
    Server {
        url: format!("http://{}:{port}", Ipv4Addr::LOCALHOST),
        key: Some(key.clone()),
        proxy: Proxy::Direct,
        ..server.clone()
    }
}

/// A server that still writes an older log keeps it, without a name.
fn prepare(log: Option<&Path>) {
    let Some(log) = log else { return };
    // Without a log there are still the last words of the server.
    let _ = fs::remove_file(log);
    let _ = log.parent().map(private_files::create_folder);
    // The server would create it for everybody to read.
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
    program.env.insert(KEY.to_owned(), key);
    program
}

fn check_file(gguf: &Path) -> Result<(), LlamaServerError> {
    let unreadable = |error| LlamaServerError::Unreadable { path: gguf.to_owned(), error };
    let mut magic = Vec::new();
    let file = File::open(gguf).map_err(unreadable)?;
    file.take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(unreadable)?;
    if magic == MAGIC { Ok(()) } else { Err(LlamaServerError::NoModel { path: gguf.to_owned() }) }
}
