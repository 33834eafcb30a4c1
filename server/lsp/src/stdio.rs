//! Standard input and output, without the buffers and threads between a message and the system.

use std::io::{self, Write};

use tokio::io::AsyncRead;

#[cfg(unix)]
mod unix;

/// A reader of standard input. Of a pipe or socket, it waits on the thread that will work on the message: waking another one takes as long
/// as the rest of a request's way to the engine. Requires a runtime.
pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    #[cfg(unix)]
    if let Ok(input) = unix::Input::new() {
        return Box::new(input);
    }
    Box::new(tokio::io::stdin())
}

/// A writer that passes on each write unchanged. The standard library's is line-buffered, which sends header and body of a frame separately
/// and wakes the client twice.
#[cfg(unix)]
pub(crate) fn output() -> io::Result<impl Write + Send> {
    unix::output()
}

/// A writer to standard output; on systems without file descriptors it is line-buffered.
#[cfg(not(unix))]
pub(crate) fn output() -> io::Result<impl Write + Send> {
    Ok(io::stdout())
}
