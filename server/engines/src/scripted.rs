//! An engine that says what it is told to say, when it is told to: for tests of whatever asks engines.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{Answer, Description, Engine, Error, Finish, Kind, Request, Sink};

/// What a [`ScriptedEngine`] does with every request.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Waits this long before each piece.
    pub delay: Duration,
    /// Says these pieces in order.
    pub pieces: Vec<String>,
    /// Fails with this message instead of ending.
    pub failure: Option<String>,
}

/// An engine with a fixed answer that waits, and that can be watched.
#[derive(Debug)]
pub struct ScriptedEngine {
    description: Description,
    script: Script,
    busy: AtomicUsize,
}

impl ScriptedEngine {
    /// An engine called `name` that follows `script`.
    pub fn new(name: &str, script: Script) -> ScriptedEngine {
        let settings = [("delay_ms".to_owned(), script.delay.as_millis().to_string())].into();
        let description =
            Description { name: name.to_owned(), kind: Kind::Scripted, model: "script".to_owned(), settings };
        ScriptedEngine { description, script, busy: AtomicUsize::new(0) }
    }

    /// Requests that are being answered right now; 0 when every cancelled one has freed the engine.
    pub fn busy(&self) -> usize {
        self.busy.load(Ordering::SeqCst)
    }

    async fn follow_script(&self, sink: Sink<'_>) -> Result<Answer, Error> {
        let _busy = BusyGuard::new(&self.busy);
        let mut finish = Finish::Stop;
        for piece in &self.script.pieces {
            tokio::time::sleep(self.script.delay).await;
            if let ControlFlow::Break(()) = sink(piece) {
                finish = Finish::Complete;
                break;
            }
        }
        match &self.script.failure {
            Some(message) => {
                Err(Error::Failed { engine: self.description.name.clone(), message: message.clone() })
            }
            None => Ok(Answer { finish, confidence: None, usage: None, silence: None }),
        }
    }
}

impl Engine for ScriptedEngine {
    fn description(&self) -> &Description {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn complete<'a>(
        &'a self,
        _request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move { cancel.run_until_cancelled(self.follow_script(sink)).await.unwrap_or(Err(Error::Cancelled)) }.boxed()
    }
}

/// Counts a request as in work until it is dropped, however it ends.
struct BusyGuard<'a>(&'a AtomicUsize);

impl<'a> BusyGuard<'a> {
    fn new(busy: &'a AtomicUsize) -> BusyGuard<'a> {
        busy.fetch_add(1, Ordering::SeqCst);
        BusyGuard(busy)
    }
}

impl Drop for BusyGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
