//! Progress of steps that may take longer than a second: a bar on a terminal, plain lines elsewhere.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::output::print_message;

/// Seconds between two lines in a log.
const SECONDS_BETWEEN_LINES: u64 = 5;

/// Fast enough to look alive, slow enough to cost no time.
const SPINNER_TICK: Duration = Duration::from_millis(100);

/// Progress of one step. Dropping it removes the bar.
pub(crate) struct Progress {
    step: &'static str,
    start: Instant,
    bar: ProgressBar,
    is_terminal: bool,
    last_line_s: AtomicU64,
}

impl Progress {
    /// Starts a step such as "reading files", whose items are counted in `unit`.
    pub(crate) fn new(step: &'static str, unit: &'static str) -> Progress {
        let is_terminal = io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = format!("{{msg:10}} {{bar:30}} {{pos}}/{{len}} {unit}, {{rate}}/s, {{eta}} left");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
            // A failure to draw the bar is ignored.
            let _ = write!(text, "{:.0}", state.per_sec());
        }));
        bar.set_message(step);
        Progress { step, start: Instant::now(), bar, is_terminal, last_line_s: AtomicU64::new(0) }
    }

    /// Starts a step without countable items.
    pub(crate) fn spinner(step: &'static str) -> Progress {
        let progress = Progress::new(step, "");
        progress.bar.set_style(ProgressStyle::default_spinner());
        if progress.is_terminal {
            progress.bar.enable_steady_tick(SPINNER_TICK);
        }
        progress
    }

    /// Reports that `done` of `total` items are finished.
    pub(crate) fn set(&self, done: u64, total: u64) {
        if self.is_terminal {
            self.bar.set_length(total);
            self.bar.set_position(done);
            return;
        }
        let elapsed = self.start.elapsed().as_secs();
        let last = self.last_line_s.load(Ordering::Relaxed);
        if elapsed >= last + SECONDS_BETWEEN_LINES {
            self.last_line_s.store(elapsed, Ordering::Relaxed);
            print_message(&format!("{}: {done} of {total}", self.step));
        }
    }

    /// Ends the step and prints a summary line.
    pub(crate) fn finish(self, summary: &str) {
        self.bar.finish_and_clear();
        print_message(&format!("{} {summary} ({})", self.step, seconds(self.start.elapsed())));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
