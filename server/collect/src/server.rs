//! The server: lets requests in by their credentials and roles, bounds their size and time, and answers them.
//!
//! ```text
//! request ─ origin ─ account ─ role ─ slot ─ body ─► thread for blocking work: ingest, store ─► answer
//! ```
//!
//! An upload is answered after its transaction is durable. If too many are under way, further ones are refused with `Retry-After`: clients
//! keep their bundles and come back. No code and no credential gets into the log.

mod admission;
mod answers;
mod dashboard;
mod scoreboard;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::Collect;
use http_server::{BodyLimits, ConnectionLimits, Peer, ResponseBody, TlsAcceptor};
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::policy::Policy;
use crate::store::{CollectStore, CollectStoreError, now};

/// Limits of connections. A developer's machine sends a few requests a day.
const CONNECTIONS: ConnectionLimits =
    ConnectionLimits { connections: 1024, head_time: Duration::from_secs(15) };

/// Limits of a body. Clients send less than half of it.
const BODY: BodyLimits = BodyLimits { bytes: 16 << 20, time: Duration::from_secs(30) };

/// Most uploads at the same time, waiting ones included: they hold a body each.
const UPLOADS: usize = 32;

/// Most pages and exports at the same time.
const READS: usize = 2;

/// Time between two searches for rows that are too old.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The parts that all requests share.
pub(crate) struct ServerState {
    pub(crate) store: Arc<CollectStore>,
    pub(crate) policy: Policy,
    pub(crate) uploads: Semaphore,
    /// Uploads under way by account.
    pub(crate) accounts_under_way: Mutex<HashMap<String, usize>>,
    /// Threads that check and mask rows: more than processors would only wait for each other.
    pub(crate) workers: Arc<Semaphore>,
    pub(crate) reads: Arc<Semaphore>,
}

/// A server that is ready to run.
pub struct CollectServer {
    state: Arc<ServerState>,
}

impl CollectServer {
    /// Creates a server over a database, with the rules of the settings.
    pub fn new(store: CollectStore, settings: &Collect) -> CollectServer {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        CollectServer {
            state: Arc::new(ServerState {
                store: Arc::new(store),
                policy: Policy::of_settings(settings),
                uploads: Semaphore::new(UPLOADS),
                accounts_under_way: Mutex::default(),
                workers: Arc::new(Semaphore::new(threads)),
                reads: Arc::new(Semaphore::new(READS)),
            }),
        }
    }

    /// Answers requests until `stopping` is cancelled.
    pub async fn run(self, listener: TcpListener, tls: Option<TlsAcceptor>, stopping: CancellationToken) {
        let expiring = tokio::spawn(expire(Arc::clone(&self.state), stopping.clone()));
        let state = self.state;
        http_server::run(listener, tls, CONNECTIONS, stopping, move |peer, request| {
            answer(Arc::clone(&state), peer, request)
        })
        .await;
        expiring.abort();
    }
}

async fn answer(state: Arc<ServerState>, peer: Peer, request: Request<Incoming>) -> Response<ResponseBody> {
    match admission::admit(&state, &peer, request).await {
        Ok(admitted) => answers::answer(&state, admitted).await,
        Err(response) => response,
    }
}

/// Deletes rows that are too old, now and every hour.
async fn expire(state: Arc<ServerState>, stopping: CancellationToken) {
    let mut interval = tokio::time::interval(EXPIRY_INTERVAL);
    while stopping.run_until_cancelled(interval.tick()).await.is_some() {
        let oldest = state.policy.oldest(now());
        if oldest == i64::MIN {
            return;
        }
        match blocking(&state, move |store| store.expire(oldest)).await {
            Some(Ok(0)) => {}
            Some(Ok(rows)) => tracing::info!(rows, "deleted rows that are too old"),
            Some(Err(error)) => tracing::error!(%error, "rows that are too old are not deleted"),
            None => tracing::error!("rows that are too old are not deleted"),
        }
    }
}

/// As [`blocking`], when it is its turn. The turn ends with the work, also if the client is gone before.
async fn in_turn<T: Send + 'static>(
    state: &ServerState,
    turns: &Arc<Semaphore>,
    work: impl FnOnce(&CollectStore) -> Result<T, CollectStoreError> + Send + 'static,
) -> Option<Result<T, CollectStoreError>> {
    let turn = Arc::clone(turns).acquire_owned().await.ok()?;
    blocking(state, move |store| {
        let _turn = turn;
        work(store)
    })
    .await
}

/// Runs blocking work on a thread of its own; `None` if it panicked.
async fn blocking<T: Send + 'static>(
    state: &ServerState,
    work: impl FnOnce(&CollectStore) -> Result<T, CollectStoreError> + Send + 'static,
) -> Option<Result<T, CollectStoreError>> {
    let store = Arc::clone(&state.store);
    tokio::task::spawn_blocking(move || work(&store)).await.ok()
}
