//! Further sources of cases, a module each: public benchmarks whose items are completions, and the files of other evaluators.
//!
//! Only their data is read; their programs' metrics are not reproduced. A source that asks for edits is read as far as the expected
//! text is an insertion at the cursor: the rest is no question of a completion, and is counted as left out.

mod copilot_arena;
mod cursortab;
mod humaneval_infilling;
mod insertion;
mod repobench;
mod repoeval;
mod safim;
mod zed;

use std::io::Read;

use syntax::Language;

pub use copilot_arena::{CopilotArenaRow, copilot_arena_rows};
pub use cursortab::{CursortabCase, cursortab_cases};
pub use humaneval_infilling::HumanEvalItem;
pub use repobench::{RepoBenchItem, RepoBenchSnippet};
pub use repoeval::{RepoEvalItem, RepoEvalMetadata};
pub use safim::SafimItem;
pub use zed::{zed_case, zed_example};

/// Limit of a file that is read as a whole, in bytes. The public ones are smaller than 2 MB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Why an item gives no case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableItem {
    /// It is not valid: the 1-based line in its file, or the first one, and the reason.
    Broken(usize, String),
    /// It is valid, and no question of a completion: the reason.
    LeftOut(&'static str),
}

/// Reads a file as a whole, without a byte order mark.
///
/// # Errors
///
/// The file cannot be read, is too long, or is not UTF-8.
pub fn read_source_file(file: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("longer than {MAX_FILE_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "not UTF-8; convert the file to UTF-8".to_owned())?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Returns a path for a row without a file: a folder and the id's plain characters.
fn invented_path(folder: &str, id: &str, language: Language) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = id.chars().take(80).map(plain).collect();
    let ending = language.endings().first().copied().unwrap_or("txt");
    format!("{folder}/{name}.{}", ending.trim_start_matches('.'))
}

#[cfg(test)]
fn read_rows<T: crate::BenchmarkItem>(text: &str) -> Vec<Result<T, String>> {
    let rows = crate::RowReader::<_, T>::new(text.as_bytes());
    rows.map(|row| row.map(|row| row.item).map_err(|broken| broken.reason)).collect()
}
