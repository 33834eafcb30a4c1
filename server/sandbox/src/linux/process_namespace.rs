//! Processes that end with their parent, and the namespace of processes in which bubblewrap runs.
//!
//! Bubblewrap starts a child that waits for it before it asks to die with it, so alone, it would leave that child if it was killed at
//! this moment. The kernel ends a whole namespace with its first process.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;

/// Lets a process end if this thread does.
pub(crate) fn die_with_parent(command: &mut Command) {
    #[expect(unsafe_code, reason = "the only way to say so before the program starts")]
    // SAFETY: a single system call.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

/// Lets this process end if its parent does, which has this id. Fails if it has ended.
pub(super) fn request_death_with(parent: u32) -> Result<(), String> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| format!("prctl: {error}"))?;
    let is_parent = getppid().is_some_and(|pid| u32::try_from(Pid::as_raw(Some(pid))) == Ok(parent));
    if is_parent { Ok(()) } else { Err("the process that wanted the sandbox has ended".to_owned()) }
}

/// Runs a command as the first process of a namespace, in which `/proc` shows its processes only. It ends with this process, which
/// must have one thread.
pub(super) fn run_first(command: &mut Command) -> io::Result<ExitStatus> {
    #[expect(unsafe_code, reason = "children alone are affected")]
    // SAFETY: the flag does not unshare the table of open files.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) }?;
    let (parent_lives, parent) = io::pipe()?;
    // The parent's end stays open there as long as `command` exists.
    let mut parent = Some(parent);
    #[expect(unsafe_code, reason = "/proc can be mounted from within the namespace only")]
    // SAFETY: system calls only, and this process has no other thread that could hold a lock.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            drop(parent.take());
            // The pipe has ended if the parent had ended before the request.
            if poll(&mut [PollFd::new(&parent_lives, PollFlags::empty())], Some(&Timespec::default()))? > 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            Ok(mount("proc", "/proc", "proc", flags, None)?)
        });
    }
    command.spawn()?.wait()
}
