//! Standard input and output on Unix.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, Interest, ReadBuf};

/// Standard input, unless it is a file. Other processes may have it open, too, so it stays as it is: it is read only when that does not
/// block.
pub(super) struct Input(AsyncFd<File>);

impl Input {
    /// Fails for files, which the system does not report as readable.
    pub(super) fn new() -> io::Result<Input> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        // SAFETY: the file owns its descriptor, and nothing here replaces or closes it.
        let registered = unsafe { AsyncFd::register_with_interest(file, Interest::READABLE) };
        Ok(Input(registered?))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready(context))?;
            match read_now(self.0.get_ref(), buffer.initialize_unfilled()) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// Reads what is there, or the end. [`ErrorKind::WouldBlock`] if there is nothing yet.
fn read_now(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut polled, Some(&Timespec::default()))? {
        0 => Err(ErrorKind::WouldBlock.into()),
        _ => file.read(buffer),
    }
}

/// The file of standard output.
pub(super) fn output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}
