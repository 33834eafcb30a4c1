//! The memory budget of a folder's index: where the index is, and the size of the built-in engine's model.

use std::fs;

use builtin::Corpus;
use config::IndexSettings;

/// Maximum of the default budget in bytes: an editor with its other language servers needs the rest of a laptop's memory.
const MAX_DEFAULT: u64 = 2 << 30;
/// The default is this share of the machine's memory.
const MACHINE_SHARE: u64 = 4;
/// Memory of a machine that does not report it, in bytes.
const USUAL_MACHINE: u64 = 8 << 30;
/// Bytes of an index in memory for each byte of text: 4.7 for the Linux kernel, less for languages with fewer definitions.
const INDEX_BYTES_PER_TEXT_BYTE: u64 = 5;
/// Bytes of the budget for each token of the built-in engine's model: 13 while it is used, 30 while it is sorted, and two thirds of the
/// budget are for the index.
const BUDGET_BYTES_PER_TOKEN: u64 = 100;

/// A budget for the memory of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexMemory {
    bytes: u64,
}

impl IndexMemory {
    /// Nothing: every index is on disk.
    #[cfg(test)]
    pub(crate) const NONE: IndexMemory = IndexMemory { bytes: 0 };

    /// Returns a budget of so many megabytes.
    pub fn megabytes(megabytes: u32) -> IndexMemory {
        IndexMemory { bytes: u64::from(megabytes) << 20 }
    }

    /// Returns the budget of settings.
    pub fn of_settings(settings: &IndexSettings) -> IndexMemory {
        settings.memory_mb.map_or_else(IndexMemory::of_machine, IndexMemory::megabytes)
    }

    /// Returns the default: a quarter of the machine's memory, at most 2 GB.
    pub fn of_machine() -> IndexMemory {
        IndexMemory { bytes: (machine_bytes().unwrap_or(USUAL_MACHINE) / MACHINE_SHARE).min(MAX_DEFAULT) }
    }

    /// Returns the bytes of text whose index fits in the budget; a larger one is on disk.
    pub(crate) fn text_bytes(self) -> u64 {
        self.bytes / INDEX_BYTES_PER_TEXT_BYTE
    }

    /// Returns whether this process has more memory resident than an index beyond the budget should take, and much of it can be released:
    /// what requests and updates have read from files, of which requests read most again. False where the system does not report it in a
    /// file; any system takes such memory back when it is short.
    pub(crate) fn is_exceeded(self) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = |name| size_of(name, &status).unwrap_or_default();
        resident("VmRSS:") > self.bytes / 4 * 3 && resident("RssFile:") > self.bytes / 4
    }

    /// Returns the tokens of a model that fits in the budget, at most `limit`.
    fn tokens(self, limit: usize) -> usize {
        usize::try_from(self.bytes / BUDGET_BYTES_PER_TOKEN).unwrap_or(usize::MAX).min(limit)
    }
}

/// Returns the maximum number of tokens of the built-in engine's model.
pub fn model_tokens(settings: &IndexSettings) -> usize {
    let default = || IndexMemory::of_settings(settings).tokens(Corpus::MAX_TOKENS);
    settings.model_tokens.and_then(|tokens| usize::try_from(tokens).ok()).unwrap_or_else(default)
}

/// Returns the memory of the machine in bytes, where the system reports it in a file.
fn machine_bytes() -> Option<u64> {
    total_of(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn total_of(meminfo: &str) -> Option<u64> {
    size_of("MemTotal:", meminfo)
}

/// Returns the size with this name in bytes.
fn size_of(name: &str, sizes: &str) -> Option<u64> {
    let line = sizes.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_a_quarter_of_the_machine_at_most_two_gigabytes() {
        assert_eq!(total_of("MemFree: 1 kB\nMemTotal:       16384 kB\n"), Some(16 << 20));
        assert_eq!(["", "MemTotal: x kB", "MemTotal: 7"].map(total_of), [None; 3]);
        assert!(IndexMemory::of_machine().bytes <= MAX_DEFAULT && IndexMemory::of_machine().bytes > 0);
    }

    #[test]
    fn two_gigabytes_hold_the_usual_number_of_tokens_and_less_holds_fewer() {
        let limit = Corpus::MAX_TOKENS;
        assert_eq!(IndexMemory::megabytes(2048).tokens(limit), limit);
        assert_eq!(IndexMemory::megabytes(100).tokens(limit), 1_048_576);
        assert_eq!(IndexMemory::megabytes(2048).tokens(5), 5);
    }
}
