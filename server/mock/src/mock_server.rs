//! The server thread.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::request_log::SharedLog;
use crate::{Certificate, Dialect, ReceivedRequest, Reply, ReplyStep, RequestLog};

type ReplyScript = dyn Fn(&ReceivedRequest, &SharedLog) -> Reply + Send + Sync;

/// A mock server that answers until it is dropped.
pub struct MockServer {
    address: SocketAddr,
    scheme: &'static str,
    log: SharedLog,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MockServer {
    /// Starts a server that answers each request with the result of the closure.
    pub fn scripted(script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> MockServer {
        MockServer::start(Arc::new(move |received, _| script(received)), None)
    }

    /// Starts a server that sends these replies in order and repeats the last one.
    ///
    /// # Panics
    ///
    /// On a request, if there are no replies.
    pub fn with_replies(replies: impl IntoIterator<Item = Reply>) -> MockServer {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        MockServer::scripted(move |_| {
            let next = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            replies.get(next).or(replies.last()).cloned().expect("the test has a reply")
        })
    }

    /// Starts a server that behaves like a real one.
    pub fn with_dialect(dialect: Dialect) -> MockServer {
        MockServer::start(Arc::new(move |received, log| dialect.reply(received, log)), None)
    }

    /// Starts a scripted server with TLS, at `localhost`.
    pub fn encrypted(
        certificate: &Certificate,
        script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> MockServer {
        let acceptor = TlsAcceptor::from(certificate.config());
        MockServer::start(Arc::new(move |received, _| script(received)), Some(acceptor))
    }

    fn start(script: Arc<ReplyScript>, tls: Option<TlsAcceptor>) -> MockServer {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        listener.set_nonblocking(true).expect("a socket can be non-blocking");
        let address = listener.local_addr().expect("a bound socket has an address");
        let log = SharedLog::new();
        let (stop, stopped) = oneshot::channel();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let serving = ServerTask { script, tls, log: log.clone() };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(serving.serve(listener, stopped));
        });
        MockServer { address, scheme, log, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the base URL, such as `http://127.0.0.1:12345`.
    pub fn url(&self) -> String {
        let host = if self.scheme == "https" { "localhost" } else { "127.0.0.1" };
        format!("{}://{host}:{}", self.scheme, self.address.port())
    }

    /// Returns host and port.
    pub fn address(&self) -> String {
        self.url().split_once("://").map(|(_, address)| address.to_owned()).unwrap_or_default()
    }

    /// Returns the log so far.
    pub fn log(&self) -> RequestLog {
        self.log.snapshot()
    }

    /// Waits until the log is in a state.
    ///
    /// # Panics
    ///
    /// If that does not happen in time.
    pub fn wait_until(
        &self,
        what: &str,
        is_there: impl FnMut(&RequestLog) -> bool,
    ) -> impl Future<Output = RequestLog> {
        self.log.wait_until(what, is_there)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have panicked.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the mock server panicked");
        }
    }
}

#[derive(Clone)]
struct ServerTask {
    script: Arc<ReplyScript>,
    tls: Option<TlsAcceptor>,
    log: SharedLog,
}

impl ServerTask {
    async fn serve(self, listener: std::net::TcpListener, mut stopped: oneshot::Receiver<()>) {
        let listener = TcpListener::from_std(listener).expect("the socket does not block");
        let mut connections = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                Some(ended) = connections.join_next() => assert!(ended.is_ok(), "a connection panicked"),
                Ok((stream, _)) = listener.accept() => {
                    self.log.note(|log| log.accepted += 1);
                    connections.spawn(self.clone().connection(stream));
                }
            }
        }
    }

    async fn connection(self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        // Broken connections are part of the tests.
        let _ = match &self.tls {
            None => self.handle_connection(stream).await,
            Some(tls) => match tls.accept(stream).await {
                Ok(stream) => self.handle_connection(stream).await,
                Err(error) => Err(error),
            },
        };
        self.log.note(|log| log.ended += 1);
    }

    async fn read(
        &self,
        stream: &mut impl MockConnection,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Option<ReceivedRequest>> {
        let received = ReceivedRequest::read(stream, buffer).await;
        if received.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await?;
        }
        received
    }

    async fn handle_connection(&self, mut stream: impl MockConnection) -> io::Result<()> {
        let mut buffer = Vec::new();
        while let Some(received) = self.read(&mut stream, &mut buffer).await? {
            let received = Arc::new(received);
            self.log.note_request(&received);
            let reply = (self.script)(&received, &self.log);
            for step in reply.steps {
                if run_step(step, &mut stream, &mut buffer).await.is_err() {
                    let now = Instant::now();
                    self.log.note(|log| {
                        log.disconnected += 1;
                        log.disconnected_at = Some(now);
                    });
                    return Ok(());
                }
            }
            let now = Instant::now();
            self.log.note(|log| {
                log.answered_at = Some(now);
                log.busy += now.saturating_duration_since(received.at);
            });
            if reply.closes {
                break;
            }
        }
        Ok(())
    }
}

/// A connection with or without TLS.
trait MockConnection: AsyncRead + AsyncWrite + Unpin {
    /// Ends the connection with a reset.
    fn reset(&mut self);
}

impl MockConnection for TcpStream {
    fn reset(&mut self) {
        let _ = self.set_zero_linger();
    }
}

impl MockConnection for tokio_rustls::server::TlsStream<TcpStream> {
    fn reset(&mut self) {
        let _ = self.get_ref().0.set_zero_linger();
    }
}

/// Runs a step. Fails if the client has disconnected.
async fn run_step(step: ReplyStep, stream: &mut impl MockConnection, buffer: &mut Vec<u8>) -> io::Result<()> {
    match step {
        ReplyStep::Bytes(bytes) => stream.write_all(&bytes).await,
        ReplyStep::Endless(bytes) => loop {
            stream.write_all(&bytes).await?;
        },
        ReplyStep::Hang => Err(disconnected(stream, buffer).await),
        ReplyStep::Wait(gate) => unless_disconnected(gate.wait(), stream, buffer).await,
        ReplyStep::Pause(time) => unless_disconnected(tokio::time::sleep(time), stream, buffer).await,
        ReplyStep::Reset => {
            stream.reset();
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}

async fn unless_disconnected(
    wait: impl Future<Output = ()>,
    stream: &mut impl MockConnection,
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    tokio::select! {
        () = wait => Ok(()),
        error = disconnected(stream, buffer) => Err(error),
    }
}

/// Completes when the client disconnects.
async fn disconnected(stream: &mut impl MockConnection, buffer: &mut Vec<u8>) -> io::Error {
    loop {
        match stream.read_buf(buffer).await {
            Ok(0) => return io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}
