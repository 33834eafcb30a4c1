//! The first process in a sandbox: runs one command within its limits, and prints its outcome as JSON.
//!
//! Everything that the command starts is killed before the outcome is printed, so nothing that it left behind can change a report
//! afterwards. Must not believe anything that the command prints.

#[cfg(unix)]
mod processes;
mod report_files;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::active_time::ActiveTime;
use crate::limits::Limits;
use crate::outcome::{CommandOutcome, Exit};
use crate::output_ends::OutputEnds;
use crate::spec::{self, InitSpec};
use report_files::{read_reports, remove_reports};

/// Time between two looks at the processes.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);

/// Runs the command described in a file or on standard input, once a byte follows there.
pub(crate) fn run(spec_file: Option<&Path>) -> Result<(), String> {
    let mut input = spec::standard_input().map_err(|error| format!("cannot read standard input: {error}"))?;
    let text = match spec_file {
        Some(path) => std::fs::read_to_string(path),
        None => spec::read_framed(&mut input),
    };
    let text = text.map_err(|error| format!("cannot read the description of the command: {error}"))?;
    let spec: InitSpec = serde_json::from_str(&text)
        .map_err(|error| format!("invalid description of the command: {error}"))?;
    let outcome = run_command(&spec, input)?;
    let json = serde_json::to_string(&outcome).map_err(|error| error.to_string())?;
    std::io::Write::write_all(&mut std::io::stdout(), json.as_bytes())
        .map_err(|error| format!("cannot print the outcome: {error}"))
}

fn run_command(spec: &InitSpec, input: File) -> Result<CommandOutcome, String> {
    protect(spec)?;
    remove_reports(&spec.workspace, &spec.reports);
    let (reader, writer) = std::io::pipe().map_err(|error| format!("cannot create a pipe: {error}"))?;
    let (sender, chunks) = mpsc::sync_channel(16);
    // Started first: a command may use up all processes and threads at once.
    let reading = thread::Builder::new().spawn(move || read_chunks(reader, &sender));
    let reading = reading.map_err(|error| format!("cannot start a thread: {error}"))?;
    await_start(input)?;
    let start = Instant::now();
    let child = {
        let mut command = command(spec)?;
        let errors = writer.try_clone().map_err(|error| format!("cannot create a pipe: {error}"))?;
        command.stdin(Stdio::null()).stdout(writer).stderr(errors);
        // The command holds the ends for writing: it is dropped here, so that the output ends with the last process.
        command.spawn().map_err(|error| format!("cannot start {}: {error}", spec.words[0]))?
    };
    let time = ActiveTime::start(start);
    let mut watch = Watch { limits: spec.limits, time, output: OutputEnds::default(), peak_memory: 0 };
    let exit = watch.wait(child, &chunks);
    let wall = watch.time.elapsed(Instant::now());
    kill_rest();
    watch.output_until_end(&chunks);
    let _ = reading.join();
    Ok(CommandOutcome {
        exit,
        output: watch.output.into_text(),
        reports: read_reports(&spec.workspace, &spec.reports),
        wall,
        peak_memory_bytes: watch.peak_memory,
    })
}

/// Waits until the command may start. The end of the input means that its judgement was dropped.
fn await_start(mut input: File) -> Result<(), String> {
    let mut byte = [0];
    match input.read_exact(&mut byte) {
        Ok(()) if byte == [spec::START] => Ok(()),
        Ok(()) => Err("unknown input".to_owned()),
        Err(error) => Err(format!("the command was not started: {error}")),
    }
}

/// Removes unneeded rights from this process and its children.
fn protect(spec: &InitSpec) -> Result<(), String> {
    #[cfg(unix)]
    processes::become_reaper()?;
    #[cfg(target_os = "linux")]
    if let Some(writable) = &spec.writable {
        crate::linux::kernel_rules::apply(writable)?;
    }
    let _ = spec;
    Ok(())
}

fn command(spec: &InitSpec) -> Result<Command, String> {
    let (program, arguments) = spec.words.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(spec.workspace.join(&spec.folder)).env_clear().envs(&spec.env);
    #[cfg(unix)]
    processes::limit(&mut command, spec.limits);
    Ok(command)
}

/// Kills everything that the command left behind.
fn kill_rest() {
    #[cfg(unix)]
    processes::kill_all();
}

/// A part of the output.
type Chunk = Vec<u8>;

fn read_chunks(mut reader: impl Read, sender: &mpsc::SyncSender<Chunk>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The limits of a running command.
struct Watch {
    limits: Limits,
    time: ActiveTime,
    output: OutputEnds,
    /// In bytes.
    peak_memory: u64,
}

impl Watch {
    /// Waits until the command ends or reaches a limit; then it may still be running.
    fn wait(&mut self, mut child: Child, chunks: &Receiver<Chunk>) -> Exit {
        let mut looked = Instant::now();
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                return exit_of(status);
            }
            if self.time.elapsed(Instant::now()) >= self.limits.time {
                return Exit::TimedOut;
            }
            if looked.elapsed() >= WATCH_INTERVAL {
                looked = Instant::now();
                if let Some(exit) = self.exceeded() {
                    return exit;
                }
            }
            match chunks.recv_timeout(WATCH_INTERVAL / 4) {
                Ok(chunk) => self.output.push(&chunk),
                Err(RecvTimeoutError::Timeout) => {}
                // All output is closed, but the command may go on.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(WATCH_INTERVAL / 4),
            }
            if self.output.total() > self.limits.output_bytes {
                return Exit::TooMuchOutput;
            }
        }
    }

    /// Returns the limit that the processes exceed.
    fn exceeded(&mut self) -> Option<Exit> {
        #[cfg(unix)]
        {
            let usage = processes::usage();
            self.peak_memory = self.peak_memory.max(usage.memory_bytes);
            if usage.memory_bytes > self.limits.memory_bytes {
                return Some(Exit::OutOfMemory);
            }
            if usage.threads > self.limits.processes {
                return Some(Exit::TooManyProcesses);
            }
        }
        None
    }

    /// Takes the remaining output of killed processes.
    fn output_until_end(&mut self, chunks: &Receiver<Chunk>) {
        while let Ok(chunk) = chunks.recv_timeout(Duration::from_secs(5)) {
            self.output.push(&chunk);
        }
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Signal(signal);
    }
    Exit::Code(status.code().unwrap_or(-1))
}
