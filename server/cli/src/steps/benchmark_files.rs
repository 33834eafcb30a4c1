//! Reads the files of public benchmarks: opens them, plain or compressed, and sets broken rows apart.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::{BenchmarkItem, BrokenRow, ImportedRow, RowReader};
use serde_json::{Value, json};

use crate::exit::UsageError;
use crate::output::{self, count, print_message};
use crate::progress::Progress;

/// Rows that are read before they are scored or written, so that all threads have work and memory stays bounded.
const BATCH_ROWS: usize = 256;

/// Bytes of the rows that are read before they are scored or written. A row may have more.
const BATCH_BYTES: usize = 16 << 20;

/// Broken rows that are kept for the report; all are counted.
const KEPT_BROKEN_ROWS: usize = 1000;

/// Broken rows that are printed.
const PRINTED_BROKEN_ROWS: usize = 10;

/// Folders below a named folder that are read; deeper ones are an error.
const MAX_DEPTH: usize = 16;

/// Rows at the beginning of a file that identify its kind.
const PROBED_ROWS: usize = 20;

/// Description of a benchmark that Ghostbench built, beside its files.
const DATASHEET: &str = "datasheet.json";

/// The files of a command.
pub(crate) struct BenchmarkFiles {
    /// Paths in the order of the command line; those of a folder are sorted.
    pub(crate) paths: Vec<PathBuf>,
    /// Rows that cannot be used.
    pub(crate) broken: BrokenRows,
    progress: Progress,
    read_bytes: Cell<u64>,
    total_bytes: u64,
}

/// Bytes of a megabyte, the unit of progress.
const MEGABYTE: u64 = 1 << 20;

impl BenchmarkFiles {
    /// Finds the files; a folder means all files below it.
    pub(crate) fn find(arguments: &[PathBuf]) -> anyhow::Result<BenchmarkFiles> {
        let mut paths = Vec::new();
        for path in arguments {
            if path.is_dir() {
                add_files(path, MAX_DEPTH, &mut paths)?;
            } else {
                paths.push(path.clone());
            }
        }
        if paths.is_empty() {
            return Err(UsageError("the folder has no files; name the benchmark's files".to_owned()).into());
        }
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |file| file.len());
        Ok(BenchmarkFiles {
            total_bytes: paths.iter().map(size).sum(),
            paths,
            broken: BrokenRows::default(),
            progress: Progress::new("read", "MB"),
            read_bytes: Cell::new(0),
        })
    }

    /// Opens a file for reading its plain text.
    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<Box<dyn BufRead + '_>> {
        benchmarks::decompress(BufReader::new(self.open_counted(path)?))
            .with_context(|| format!("cannot read {}", output::path(path)))
    }

    /// Whether a file begins as a JSON document; otherwise it is a table.
    pub(crate) fn is_json(&self, path: &Path) -> anyhow::Result<bool> {
        let mut start = self.open(path)?;
        let start = start.fill_buf().with_context(|| output::path(path))?;
        let first = String::from_utf8_lossy(start);
        Ok(first.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']))
    }

    fn open_counted(&self, path: &Path) -> anyhow::Result<CountedReader<'_>> {
        let file = File::open(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                anyhow::Error::new(UsageError(format!("{} does not exist", output::path(path))))
            }
            _ => anyhow::Error::new(error).context(format!("cannot read {}", output::path(path))),
        })?;
        Ok(CountedReader { file, files: self })
    }

    /// Passes the usable rows of a file in batches; broken ones, and those that `add` returns, are set apart.
    pub(crate) fn for_each_batch<T: BenchmarkItem>(
        &mut self,
        path: &Path,
        mut add: impl FnMut(Vec<ImportedRow<T>>) -> anyhow::Result<Vec<BrokenRow>>,
    ) -> anyhow::Result<()> {
        let mut broken = Vec::new();
        let mut rows = RowReader::<_, T>::new(self.open(path)?);
        let mut unreported = BrokenRows::default();
        loop {
            let mut batch = Vec::with_capacity(BATCH_ROWS);
            let mut is_done = true;
            let mut bytes = 0;
            while batch.len() < BATCH_ROWS && broken.len() < BATCH_ROWS && bytes < BATCH_BYTES {
                let Some(row) = rows.next() else { break };
                is_done = false;
                match row {
                    Ok(row) => {
                        bytes += row.text.len();
                        batch.push(row);
                    }
                    Err(row) => broken.push(row),
                }
            }
            if is_done {
                break;
            }
            broken.extend(add(batch)?);
            unreported.add(path, broken.drain(..));
        }
        drop(rows);
        self.broken.merge(unreported);
        Ok(())
    }

    /// Whether the first usable rows of a file are of this type.
    pub(crate) fn begins_with<T: BenchmarkItem>(&self, path: &Path) -> anyhow::Result<bool> {
        let rows = RowReader::<_, T>::new(self.open(path)?);
        Ok(rows.take(PROBED_ROWS).any(|row| row.is_ok()))
    }

    /// Ends the progress, and prints the first broken rows: also if the command fails, since they may be the reason.
    pub(crate) fn finish(self) -> BrokenRows {
        self.progress.finish(&count(self.paths.len(), "file"));
        self.broken.print();
        self.broken
    }
}

/// Collects the files below a folder, sorted; links are not followed.
fn add_files(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if depth == 0 {
        return Err(UsageError(format!("{} is too deep", output::path(folder))).into());
    }
    let cannot_read = || format!("cannot read {}", output::path(folder));
    let entries: io::Result<Vec<_>> = fs::read_dir(folder).with_context(cannot_read)?.collect();
    let mut entries = entries.with_context(cannot_read)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().with_context(cannot_read)?;
        if kind.is_dir() {
            add_files(&entry.path(), depth - 1, paths)?;
        } else if kind.is_file() && entry.file_name() != DATASHEET {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// Counts the bytes of a file for the progress.
struct CountedReader<'f> {
    file: File,
    files: &'f BenchmarkFiles,
}

impl Read for CountedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        let files = self.files;
        files.read_bytes.set(files.read_bytes.get() + length as u64);
        // The beginning of a file is read twice to find out its kind.
        let read = files.read_bytes.get().min(files.total_bytes);
        files.progress.set(read / MEGABYTE, files.total_bytes / MEGABYTE);
        Ok(length)
    }
}

/// Rows that cannot be used: all are counted, and the first are kept with their files.
#[derive(Debug, Default)]
pub(crate) struct BrokenRows {
    /// Number of rows.
    pub(crate) count: usize,
    first: Vec<(PathBuf, BrokenRow)>,
}

impl BrokenRows {
    /// Counts rows of a file.
    pub(crate) fn add(&mut self, path: &Path, rows: impl IntoIterator<Item = BrokenRow>) {
        for row in rows {
            self.count += 1;
            if self.first.len() < KEPT_BROKEN_ROWS {
                self.first.push((path.to_owned(), row));
            }
        }
    }

    fn merge(&mut self, other: BrokenRows) {
        self.count += other.count;
        let room = KEPT_BROKEN_ROWS.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(room));
    }

    fn print(&self) {
        for (path, row) in self.first.iter().take(PRINTED_BROKEN_ROWS) {
            print_message(&format!("{}:{}: {}", output::path(path), row.line, row.reason));
        }
        if self.count > PRINTED_BROKEN_ROWS {
            print_message(&format!(
                "and {} more; --json lists them",
                count(self.count - PRINTED_BROKEN_ROWS, "broken row")
            ));
        }
    }

    /// Returns the kept rows, for `--json`.
    pub(crate) fn json(&self) -> Value {
        let row = |(path, row): &(PathBuf, BrokenRow)| json!({"path": path.display().to_string(), "line": row.line, "reason": row.reason});
        json!({ "count": self.count, "first": self.first.iter().map(row).collect::<Vec<_>>() })
    }
}
