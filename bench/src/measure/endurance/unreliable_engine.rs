//! The engine of the day: a server that answers, fails, hangs, resets connections and comes back, in a cycle.

use std::time::{Duration, Instant};

use mock::{MockServer, Reply, ReplyStep};
use serde_json::json;

/// Length of a cycle.
const CYCLE_SECONDS: u64 = 60;
/// Time until a slow answer.
const SLOW: Duration = Duration::from_millis(400);
/// Completion's time limit in ms: short, so that stalls end while their phase lasts.
const DEADLINE_MS: u64 = 2_000;

/// A reaction of the server to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerPhase {
    Answers,
    Fails,
    Stalls,
    Resets,
    IsSlow,
}

impl ServerPhase {
    /// The phase at this time.
    fn at(time: Duration) -> ServerPhase {
        match time.as_secs() % CYCLE_SECONDS {
            0..30 => ServerPhase::Answers,
            30..38 => ServerPhase::Fails,
            38..46 => ServerPhase::Stalls,
            46..52 => ServerPhase::Resets,
            _ => ServerPhase::IsSlow,
        }
    }

    fn reply(self) -> Reply {
        let event = json!({"content": "total(items)", "stop": true}).to_string();
        match self {
            ServerPhase::Answers => Reply::events([event.as_str()]),
            ServerPhase::Fails => Reply::json(500, &json!({"error": {"message": "out of memory"}})),
            ServerPhase::Stalls => Reply::stream("text/event-stream").with_step(ReplyStep::Hang),
            ServerPhase::Resets => Reply::default().with_step(ReplyStep::Reset),
            ServerPhase::IsSlow => Reply::events([event.as_str()]).preceded_by(ReplyStep::Pause(SLOW)),
        }
    }
}

/// Starts the server.
pub(super) fn start() -> MockServer {
    let start = Instant::now();
    MockServer::scripted(move |_| ServerPhase::at(start.elapsed()).reply())
}

/// Returns the settings of Ghostbench for it.
pub(super) fn settings(server: &MockServer) -> String {
    format!(
        "[completion]\ndeadline_ms = {DEADLINE_MS}\n[context]\nstrategy = \"hybrid\"\n[[engine]]\nname = \"unreliable\"\nkind = \"llama-cpp\"\n\
         url = \"{}\"\nfim = \"qwen2.5-coder\"\ncontext_window = 8192\n",
        server.url()
    )
}
