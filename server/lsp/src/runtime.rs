//! The runtime of the server. Its threads never end, so that their number is constant: the first request after a pause starts none, and a
//! leaked thread shows.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use session::lock;
use tokio::runtime::{Builder, Runtime};

/// Threads for blocking work at the start. Typing in one file uses up to six at a time on two cores.
const BLOCKING_THREADS: usize = 8;

/// Starts the threads.
pub(crate) fn start() -> io::Result<Runtime> {
    let runtime = builder().build()?;
    start_blocking_threads(&runtime);
    Ok(runtime)
}

fn builder() -> Builder {
    let mut builder = Builder::new_multi_thread();
    // By default a blocking thread ends after ten idle seconds. The maximum stays tokio's 512: a name server or a file system that does not
    // respond blocks a thread for each request, and a small maximum would delay requests that need neither.
    builder.worker_threads(replay::cores().max(2)).thread_keep_alive(Duration::MAX).enable_all();
    builder
}

/// Starts [`BLOCKING_THREADS`] threads. The runtime starts one whenever all others are busy, so a rare coincidence would add one hours later.
fn start_blocking_threads(runtime: &Runtime) {
    let gate = Arc::new(Mutex::new(()));
    // Without it, the first thread could run all of these tasks.
    let _closed = lock(&gate);
    for _ in 0..BLOCKING_THREADS {
        let gate = Arc::clone(&gate);
        runtime.spawn_blocking(move || drop(lock(&gate)));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;
    use std::{fs, thread};

    use super::*;

    /// Whether an idle thread waits without a time limit; `None` while it does something else, as a thread that waits for input.
    fn waits_forever(thread: &str) -> Option<bool> {
        let call = fs::read_to_string(format!("/proc/{thread}/syscall")).expect("a thread of this process");
        let mut fields = call.split_whitespace();
        let is_futex = fields.next()? == libc::SYS_futex.to_string();
        // Address, operation, value, time limit.
        let limit = fields.nth(3)?;
        is_futex.then_some(limit == "0x0")
    }

    #[test]
    fn all_blocking_threads_run_from_the_start_and_never_end() {
        let (sender, started) = mpsc::channel();
        let report = move || {
            let thread = fs::read_link("/proc/thread-self").expect("Linux has it");
            let _ = sender.send(thread.to_string_lossy().into_owned());
        };
        let runtime = builder().on_thread_start(report).build().unwrap();
        start_blocking_threads(&runtime);
        let workers = runtime.metrics().num_workers();
        let threads: Vec<String> = started.iter().take(workers + BLOCKING_THREADS).collect();
        let idle = loop {
            let idle: Vec<bool> = threads.iter().filter_map(|thread| waits_forever(thread)).collect();
            // One worker waits for input.
            if idle.len() >= threads.len() - 1 {
                break idle;
            }
            thread::yield_now();
        };
        assert!(idle.iter().all(|is_forever| *is_forever), "{idle:?}");
    }
}
