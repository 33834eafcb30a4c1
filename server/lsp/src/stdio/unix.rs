//! Standard output on Unix.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// The file of standard output.
pub(super) fn output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}
