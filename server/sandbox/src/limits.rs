//! Limits of a command.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of a command and of all processes that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall time; everything is killed when it is over.
    pub time: Duration,
    /// Resident memory of all processes together, in bytes. No single process gets more private memory.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u32,
    /// Output in bytes; more ends the command. Its beginning and end are kept.
    pub output_bytes: u64,
    /// Bytes written to files, in all; more cannot be written.
    pub disk_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(300),
            memory_bytes: 4 << 30,
            processes: 512,
            output_bytes: 64 << 20,
            disk_bytes: 2 << 30,
        }
    }
}
