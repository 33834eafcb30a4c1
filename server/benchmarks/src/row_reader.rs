//! Reads the rows of a public file one at a time, plain or compressed.
//!
//! A broken row is returned with its line and the reason, and the next row follows. Memory is bounded by the length of a row and
//! the ids: the rest of a longer line is skipped, not kept.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::marker::PhantomData;

use flate2::bufread::MultiGzDecoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Limit of a row in bytes. The largest public rows hold a long context, less than a megabyte.
pub const MAX_ROW_BYTES: usize = 64 << 20;

/// A row that cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {reason}")]
pub struct BrokenRow {
    /// 1-based line in the file; in a document of one value, the number of the row.
    pub line: usize,
    /// Description of the problem.
    pub reason: String,
}

/// The fields of a row that Ghostbench uses.
pub trait BenchmarkItem: DeserializeOwned {
    /// Whether two rows of a file must not have the same id.
    const HAS_UNIQUE_ID: bool;

    /// Returns the id of the item in its benchmark.
    fn id(&self) -> &str;

    /// Checks what the types do not.
    ///
    /// # Errors
    ///
    /// A path leads out of the repository, or fields contradict each other.
    fn check(&self) -> Result<(), String>;
}

/// A row with the fields that Ghostbench uses, and all others.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRow<T> {
    /// 1-based line in the file.
    pub line: usize,
    /// The used fields.
    pub item: T,
    /// The row as written, without its line end: with all fields, in their order.
    pub text: String,
}

impl<T> ImportedRow<T> {
    /// Returns the row's text with a further field at its end; `None` if the value has no form in JSON. The caller adds no field that
    /// the row has.
    pub fn text_with(&self, name: &str, value: &impl Serialize) -> Option<String> {
        let fields = self.text.trim_end().strip_suffix('}')?.trim_end();
        let separator = if fields.ends_with('{') { "" } else { ", " };
        let (name, value) = (serde_json::to_string(name).ok()?, serde_json::to_string(value).ok()?);
        Some(format!("{fields}{separator}{name}: {value}}}"))
    }
}

/// Returns a reader of the plain text of `file`, which may be compressed by gzip.
///
/// # Errors
///
/// The beginning of the file cannot be read. Reading fails where a compressed file unpacks to much more than code can.
pub fn decompress<'r, R: BufRead + 'r>(mut file: R) -> io::Result<Box<dyn BufRead + 'r>> {
    const MAGIC: [u8; 2] = [0x1f, 0x8b];
    let is_compressed = file.fill_buf()?.starts_with(&MAGIC);
    if !is_compressed {
        return Ok(Box::new(file));
    }
    let decoder = MultiGzDecoder::new(CountedInput { file, bytes: 0 });
    Ok(Box::new(BufReader::new(BoundedDecoder { decoder, bytes: 0 })))
}

/// Bytes that any file may unpack to.
const MIN_UNPACKED_BYTES: u64 = 16 << 20;

/// Limit of the unpacked bytes per packed one. Code and its rows have less than 50; gzip can reach 1,000.
const MAX_UNPACKING: u64 = 200;

/// A compressed file with the number of its bytes that were read.
struct CountedInput<R> {
    file: R,
    bytes: u64,
}

impl<R: BufRead> Read for CountedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.bytes += length as u64;
        Ok(length)
    }
}

impl<R: BufRead> BufRead for CountedInput<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.bytes += length as u64;
        self.file.consume(length);
    }
}

/// Unpacks a file unless it is made to fill the memory.
struct BoundedDecoder<R> {
    decoder: MultiGzDecoder<CountedInput<R>>,
    bytes: u64,
}

impl<R: BufRead> Read for BoundedDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.decoder.read(buffer)?;
        self.bytes += length as u64;
        if self.bytes > MIN_UNPACKED_BYTES && self.bytes / MAX_UNPACKING > self.decoder.get_ref().bytes {
            return Err(io::Error::other(format!("it unpacks to more than {MAX_UNPACKING} times its size")));
        }
        Ok(length)
    }
}

/// Writes the texts of rows as JSON Lines.
///
/// # Errors
///
/// Writing fails.
pub fn write_rows<'a>(rows: impl IntoIterator<Item = &'a str>, mut out: impl Write) -> io::Result<()> {
    for row in rows {
        out.write_all(row.as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// The rows of a file of JSON Lines.
pub struct RowReader<R, T> {
    lines: LineReader<R>,
    /// Line of each id.
    ids: HashMap<String, usize>,
    item: PhantomData<T>,
}

impl<R: BufRead, T: BenchmarkItem> RowReader<R, T> {
    /// Creates a reader of plain text.
    pub fn new(file: R) -> RowReader<R, T> {
        RowReader::with_limit(file, MAX_ROW_BYTES)
    }

    fn with_limit(file: R, limit: usize) -> RowReader<R, T> {
        let lines = LineReader { file, line: 0, limit, has_failed: false };
        RowReader { lines, ids: HashMap::new(), item: PhantomData }
    }

    fn read(&mut self, line: usize, text: String) -> Result<ImportedRow<T>, BrokenRow> {
        let imported = import_row::<T>(line, text)?;
        if T::HAS_UNIQUE_ID {
            let first = *self.ids.entry(imported.item.id().to_owned()).or_insert(line);
            if first != line {
                let reason = format!("the id `{}` is also on line {first}", imported.item.id());
                return Err(BrokenRow { line, reason });
            }
        }
        Ok(imported)
    }
}

/// Parses and checks the row `text` on a line.
fn import_row<T: BenchmarkItem>(line: usize, mut text: String) -> Result<ImportedRow<T>, BrokenRow> {
    let broken = |reason| BrokenRow { line, reason };
    // A list of the values of a type's fields would parse, too.
    if !text.trim_start().starts_with('{') {
        return Err(broken("not a JSON object".to_owned()));
    }
    let item: T = cases::parse_line(&text, line).map_err(|error| broken(reason(&text, &error)))?;
    item.check().map_err(broken)?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(ImportedRow { line, item, text })
}

/// Values that Python writes for numbers that JSON does not have.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

fn reason(text: &str, error: &cases::ParseError) -> String {
    // The column is that of the first wrong character: behind the sign of a number.
    let at = error.column.saturating_sub(1);
    let near = |start: usize| {
        NO_NUMBERS.iter().find(|value| text.get(start..).is_some_and(|it| it.starts_with(**value)))
    };
    match near(at.saturating_sub(1)).or_else(|| near(at)) {
        Some(value) => format!("column {}: `{value}` is not a number in JSON", error.column),
        None => format!("column {}: {}", error.column, error.message),
    }
}

impl<R: BufRead, T: BenchmarkItem> Iterator for RowReader<R, T> {
    type Item = Result<ImportedRow<T>, BrokenRow>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.next()? {
                Ok((_, text)) if text.trim().is_empty() => {}
                Ok((line, text)) => return Some(self.read(line, text)),
                Err(broken) => return Some(Err(broken)),
            }
        }
    }
}

/// The lines of a file, bounded.
struct LineReader<R> {
    file: R,
    line: usize,
    limit: usize,
    has_failed: bool,
}

impl<R: BufRead> LineReader<R> {
    /// Reads a line, without keeping more than the limit. `None` at the end of the file; the second value is whether it was too
    /// long.
    fn read_bytes(&mut self) -> io::Result<Option<(Vec<u8>, bool)>> {
        let mut bytes = Vec::new();
        let mut length = 0;
        loop {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                return Ok((length > 0).then_some((bytes, length > self.limit)));
            }
            let end = memchr::memchr(b'\n', buffer);
            let taken = end.map_or(buffer.len(), |end| end + 1);
            let room = self.limit.saturating_sub(bytes.len());
            bytes.extend_from_slice(&buffer[..taken.min(room)]);
            length += taken;
            self.file.consume(taken);
            if end.is_some() {
                return Ok(Some((bytes, length > self.limit)));
            }
        }
    }

    fn decode(&self, mut bytes: Vec<u8>) -> Result<(usize, String), BrokenRow> {
        const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
        if self.line == 1 && bytes.starts_with(&BOM) {
            bytes.drain(..BOM.len());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let column = error.utf8_error().valid_up_to() + 1;
            let reason = format!("column {column}: not UTF-8; convert the file to UTF-8");
            BrokenRow { line: self.line, reason }
        })?;
        Ok((self.line, text))
    }
}

impl<R: BufRead> Iterator for LineReader<R> {
    type Item = Result<(usize, String), BrokenRow>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        self.line += 1;
        let line = self.line;
        let broken = |reason| Some(Err(BrokenRow { line, reason }));
        match self.read_bytes() {
            Ok(None) => None,
            Ok(Some((_, true))) => broken(format!("longer than {} bytes", self.limit)),
            Ok(Some((bytes, false))) => Some(self.decode(bytes)),
            Err(error) => {
                // What follows a failure of the file or the compression has no known line.
                self.has_failed = true;
                broken(format!("the rest of the file cannot be read: {error}"))
            }
        }
    }
}

/// Checks that a path stays inside of the repository that it is relative to.
///
/// # Errors
///
/// The path is empty or absolute, or has a `..`.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
    let leaves = path.split(['/', '\\']).any(|part| part == "..");
    if path.is_empty() || is_absolute || leaves || path.contains('\0') {
        return Err(format!("the path {path:?} is not a path inside of the repository"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::read::GzEncoder;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Item {
        id: String,
        path: String,
    }

    impl BenchmarkItem for Item {
        const HAS_UNIQUE_ID: bool = true;

        fn id(&self) -> &str {
            &self.id
        }

        fn check(&self) -> Result<(), String> {
            check_path(&self.path)
        }
    }

    /// Returns each row as its id or its problem.
    fn read(file: &[u8]) -> Vec<String> {
        let rows = RowReader::<_, Item>::with_limit(decompress(file).expect("readable"), 60);
        rows.map(|row| row.map_or_else(|broken| broken.to_string(), |row| row.item.id)).collect()
    }

    const TWO: &str = "{\"id\":\"a\",\"path\":\"x\",\"more\":1.0}\n\n{\"path\":\"y/z\",\"id\":\"b\"}";

    #[test]
    fn plain_and_compressed_rows_are_the_same() {
        let mut compressed = Vec::new();
        GzEncoder::new(TWO.as_bytes(), Compression::fast()).read_to_end(&mut compressed).expect("bytes");
        assert_eq!(read(TWO.as_bytes()), ["a", "b"]);
        assert_eq!(read(&compressed), ["a", "b"]);
        compressed.truncate(compressed.len() - 9);
        let broken = read(&compressed);
        assert!(broken.last().expect("a row").contains("the rest of the file cannot be read"), "{broken:?}");
    }

    #[test]
    fn files_that_unpack_to_too_much_are_refused() {
        let mut bomb = Vec::new();
        let zeros = io::repeat(b'x').take(4 * MIN_UNPACKED_BYTES);
        GzEncoder::new(BufReader::new(zeros), Compression::best()).read_to_end(&mut bomb).expect("bytes");
        let mut unpacked = decompress(bomb.as_slice()).expect("readable");
        let mut read = 0;
        let error = loop {
            match unpacked.fill_buf().map(<[u8]>::len) {
                Ok(length) => {
                    assert!(length > 0, "it ends with an error");
                    read += length as u64;
                    unpacked.consume(length);
                }
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("200 times") && read < 2 * MIN_UNPACKED_BYTES, "{read}: {error}");
    }

    #[test]
    fn written_rows_are_the_read_ones() {
        let rows: Vec<_> = RowReader::<_, Item>::new(TWO.as_bytes()).map(|row| row.expect("a row")).collect();
        let mut written = Vec::new();
        write_rows(rows.iter().map(|row| row.text.as_str()), &mut written).expect("written");
        assert_eq!(String::from_utf8(written).expect("text"), TWO.replace("\n\n", "\n") + "\n");
    }

    #[test]
    fn predictions_are_added_at_the_end_of_a_row() {
        let row = ImportedRow { line: 1, item: (), text: r#"{"z": 1.50, "a": "é"} "#.to_owned() };
        let expected = r#"{"z": 1.50, "a": "é", "response": "x\n"}"#;
        assert_eq!(row.text_with("response", &"x\n").as_deref(), Some(expected));
        let empty = ImportedRow { text: "{}".to_owned(), ..row };
        assert_eq!(empty.text_with("a", &1).as_deref(), Some(r#"{"a": 1}"#));
    }

    #[test]
    fn deep_rows_are_refused() {
        let deep = |name: &str| format!("{{\"id\":\"a\",\"{name}\":{}}}", "[".repeat(5_000_000));
        let rows = RowReader::<_, Item>::new(io::Cursor::new(deep("path") + "\n" + &deep("more")));
        assert!(rows.map(|row| row.is_err()).eq([true, true]));
    }

    #[test]
    fn broken_rows_are_reported_and_the_others_read() {
        let file = [
            "\u{feff}{\"id\":\"a\",\"path\":\"x\"}",
            "{\"id\":\"a\",\"path\":\"x\"}",
            "{\"id\":\"b\"}",
            "{\"id\":\"c\",\"path\":\"../x\"}",
            "{\"id\":\"d\",\"path\":NaN}",
            "{\"id\":\"d\",\"x\":[-Infinity]}",
            "{\"id\":\"e\",\"path\":\"x\",\"more\":\"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\"}",
            "[1]",
            "{\"id\":\"f\",\"path\":\"x\"}",
            "{\"id\":\"g\",\"pa",
        ];
        assert_eq!(
            read(file.join("\n").as_bytes()),
            [
                "a",
                "line 2: the id `a` is also on line 1",
                "line 3: column 10: missing field `path`",
                "line 4: the path \"../x\" is not a path inside of the repository",
                "line 5: column 18: `NaN` is not a number in JSON",
                "line 6: column 17: `-Infinity` is not a number in JSON",
                "line 7: longer than 60 bytes",
                "line 8: not a JSON object",
                "f",
                "line 10: column 13: EOF while parsing a string",
            ]
        );
    }

    #[test]
    fn other_encodings_are_named() {
        assert_eq!(read(b"\xff\xfe{\0"), ["line 1: column 1: not UTF-8; convert the file to UTF-8"]);
    }

    #[test]
    fn endless_lines_are_skipped_without_memory() {
        let endless = io::repeat(b'x').take(1 << 26).chain(&b"\n{\"id\":\"a\",\"path\":\"x\"}"[..]);
        let rows = RowReader::<_, Item>::with_limit(BufReader::new(endless), 60);
        let read: Vec<_> = rows.map(|row| row.is_ok()).collect();
        assert_eq!(read, [false, true]);
    }

    #[test]
    fn paths_outside_of_the_repository_are_refused() {
        for path in ["", "/etc/x", "C:\\x", "\\\\host\\x", "a/../../x", "a\\..\\x", "a\0"] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        assert_eq!(check_path("a/..b/c.py"), Ok(()));
    }
}
