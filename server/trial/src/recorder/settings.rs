//! Settings of the recorder.

/// Durations in milliseconds, and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderSettings {
    /// Time without an edit in the region until its text has settled.
    pub settled: u64,
    /// Time without an edit after the cursor left the block.
    pub leave_block: u64,
    /// Time without an edit in the document until the developer is idle.
    pub idle: u64,
    /// Maximum time between two requests of one thought.
    pub thought: u64,
    /// Time after which an unreported suggestion counts as shown.
    pub shown_after: u64,
    /// Time for which an opportunity is followed.
    pub max_age: u64,
    /// Maximum number of opportunities that are followed at the same time.
    pub max_open: usize,
    /// Maximum memory of all followed opportunities, in bytes.
    pub max_bytes: usize,
}

impl Default for RecorderSettings {
    /// Settled as Zed defines it; 750 ms as VS Code's telemetry does. A working day is the longest time to the next commit.
    fn default() -> RecorderSettings {
        RecorderSettings {
            settled: 10_000,
            leave_block: 5_000,
            idle: 30_000,
            thought: 3_000,
            shown_after: 750,
            max_age: 8 * 60 * 60 * 1_000,
            max_open: 512,
            max_bytes: 8 << 20,
        }
    }
}
