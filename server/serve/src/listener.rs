//! The socket: opens it, accepts connections, and bounds what each of them may take.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use config::{Secret, Serve};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use recording::TrialSession;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::chosen_engine::EngineServers;
use crate::editor_documents::EditorDocuments;
use crate::front_door::{FrontDoorState, answer};
use crate::guard::Guard;
use crate::trial_link::TrialLink;

/// Most connections at the same time; further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// How long the head of a request may take, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Most bytes of the head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Pause after the system refuses a connection, for lack of files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why the front door cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The address in the settings is invalid.
    #[error(
        "`serve.listen` is {given:?}, which is no address with a port; write for example \"127.0.0.1:7117\""
    )]
    Address {
        /// The setting.
        given: String,
    },
    /// Other machines can reach the address, and there is no token.
    #[error(
        "other machines can reach {address}; set `serve.token_env` to a variable with a token, or listen at 127.0.0.1"
    )]
    NoToken {
        /// The address.
        address: SocketAddr,
    },
    /// Another program listens there.
    #[error("another program listens at {address}; stop it, or set `serve.listen` to another port")]
    Taken {
        /// The address.
        address: SocketAddr,
    },
    /// The system refuses the address.
    #[error("cannot listen at {address}: {reason}; set `serve.listen` to another address")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        reason: std::io::Error,
    },
}

/// An open front door. It closes with its session.
#[derive(Clone, Copy, Debug)]
pub struct FrontDoor {
    /// The address at which it listens.
    pub address: SocketAddr,
}

/// Returns the address and the token of the settings.
///
/// # Errors
/// The address is invalid, or needs a token.
pub fn address_and_token(settings: &Serve) -> Result<(SocketAddr, Option<Secret>), OpenError> {
    let given = settings.listen.trim();
    let address: SocketAddr = match given.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => given.parse(),
    }
    .map_err(|_| OpenError::Address { given: settings.listen.clone() })?;
    let token = settings.token.clone().filter(|token| !token.expose().is_empty());
    if !address.ip().is_loopback() && token.is_none() {
        return Err(OpenError::NoToken { address });
    }
    Ok((address, token))
}

/// Opens the front door of a session, until the session ends. `editor` is the one in this process, if there is one.
///
/// # Errors
/// The address is invalid, needs a token, is taken, or is refused by the system.
pub async fn open(
    session: TrialSession,
    settings: &Serve,
    editor: Option<Arc<dyn EditorDocuments>>,
) -> Result<FrontDoor, OpenError> {
    let (address, token) = address_and_token(settings)?;
    let listener = TcpListener::bind(address).await.map_err(|reason| match reason.kind() {
        std::io::ErrorKind::AddrInUse => OpenError::Taken { address },
        _ => OpenError::Refused { address, reason },
    })?;
    // With port 0, the system has chosen one.
    let address = listener.local_addr().unwrap_or(address);
    let stopping = session.stopping.clone();
    let state = Arc::new(FrontDoorState {
        link: TrialLink::start(session.clone(), editor),
        servers: EngineServers::default(),
        guard: Guard::new(token),
        session,
    });
    tokio::spawn(async move { stopping.run_until_cancelled(accept(listener, state)).await });
    tracing::info!(%address, "the front door is open");
    Ok(FrontDoor { address })
}

async fn accept(listener: TcpListener, state: Arc<FrontDoorState>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    let stopping = state.session.stopping.clone();
                    stopping.run_until_cancelled(serve_connection(stream, state)).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_connection(stream: TcpStream, state: Arc<FrontDoorState>) {
    // Small parts of an answer must not wait for each other. Without it they are only slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&state), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended");
    }
}
