//! The socket: opens it, accepts connections, and bounds each of them.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::body::ResponseBody;

/// Most bytes of the head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Pause after the system refuses a connection, for lack of files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a socket cannot be opened.
#[derive(Debug, Error)]
pub enum BindError {
    /// Another program listens there.
    #[error("another program listens at {address}; stop it, or choose another port")]
    Taken {
        /// The address.
        address: SocketAddr,
    },
    /// The system refuses the address.
    #[error("cannot listen at {address}: {reason}; choose another address")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        reason: std::io::Error,
    },
}

/// Limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Most connections at the same time; further ones wait.
    pub connections: usize,
    /// How long the head of a request and the handshake may take, and how long a connection may be idle.
    pub head_time: Duration,
}

/// The other end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// The certificate that it proved to own, in DER form.
    pub certificate: Option<Arc<[u8]>>,
}

/// Opens a socket.
///
/// # Errors
/// The address is taken, or refused by the system.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|reason| match reason.kind() {
        std::io::ErrorKind::AddrInUse => BindError::Taken { address },
        _ => BindError::Refused { address, reason },
    })
}

/// Answers the requests of all connections until `stopping` is cancelled, which also ends those under way.
pub async fn run<A, F>(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: ConnectionLimits,
    stopping: CancellationToken,
    answer: A,
) where
    A: Fn(Peer, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    let connections = Arc::new(Semaphore::new(limits.connections));
    let accepting = async {
        loop {
            let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (tls, stopping, answer) = (tls.clone(), stopping.clone(), answer.clone());
                    tokio::spawn(async move {
                        stopping.run_until_cancelled(serve_connection(stream, tls, limits, answer)).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    stopping.run_until_cancelled(accepting).await;
}

async fn serve_connection<A, F>(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    limits: ConnectionLimits,
    answer: A,
) where
    A: Fn(Peer, Request<Incoming>) -> F + Send + Sync,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    // Small parts of an answer must not wait for each other. Without it they are only slower.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return serve_stream(stream, Peer::default(), limits, answer).await };
    match tokio::time::timeout(limits.head_time, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
            let certificate = certificates.first().map(|certificate| Arc::from(certificate.as_ref()));
            serve_stream(stream, Peer { certificate }, limits, answer).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
        Err(_) => tracing::debug!("a handshake took too long"),
    }
}

async fn serve_stream<A, F>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    peer: Peer,
    limits: ConnectionLimits,
    answer: A,
) where
    A: Fn(Peer, Request<Incoming>) -> F + Send + Sync,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    let service = service_fn(|request| {
        let answered = answer(peer.clone(), request);
        async move { Ok::<_, Infallible>(answered.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended");
    }
}
