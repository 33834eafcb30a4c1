//! Unbuffered standard output. The standard library's is line-buffered, which sends header and body of a frame separately and
//! wakes the client twice.

use std::io::{self, Write};

#[cfg(unix)]
mod unix;

/// A writer that passes on each write unchanged.
#[cfg(unix)]
pub(crate) fn output() -> io::Result<impl Write + Send> {
    unix::output()
}

/// A writer to standard output; on systems without file descriptors it is line-buffered.
#[cfg(not(unix))]
pub(crate) fn output() -> io::Result<impl Write + Send> {
    Ok(io::stdout())
}
