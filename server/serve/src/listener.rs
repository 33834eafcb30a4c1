//! The socket of the front door: its address, its token, and the limits of connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use config::{Secret, Serve};
use http_server::{BindError, ConnectionLimits};
use recording::TrialSession;
use thiserror::Error;

use crate::chosen_engine::EngineServers;
use crate::editor_documents::EditorDocuments;
use crate::front_door::{FrontDoorState, answer};
use crate::guard::Guard;
use crate::trial_link::TrialLink;

/// Limits of connections. Editors keep few, idle for a while.
const LIMITS: ConnectionLimits = ConnectionLimits { connections: 256, head_time: Duration::from_secs(60) };

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
    let listener = http_server::bind(address).await.map_err(|error| match error {
        BindError::Taken { address } => OpenError::Taken { address },
        BindError::Refused { address, reason } => OpenError::Refused { address, reason },
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
    tokio::spawn(http_server::run(listener, None, LIMITS, stopping, move |_, request| {
        answer(Arc::clone(&state), request)
    }));
    tracing::info!(%address, "the front door is open");
    Ok(FrontDoor { address })
}
