//! The standard output, unbuffered: the library's own is line-buffered, which sends a frame in two parts, header and body, and
//! wakes the client twice.

use std::io::{self, Write};

#[cfg(unix)]
mod unix;

/// A writer that passes on what it gets, whole.
#[cfg(unix)]
pub(crate) fn output() -> io::Result<impl Write + Send> {
    unix::output()
}

/// A writer that passes on what it gets; where files have no numbers, in two parts.
#[cfg(not(unix))]
pub(crate) fn output() -> io::Result<impl Write + Send> {
    Ok(io::stdout())
}
