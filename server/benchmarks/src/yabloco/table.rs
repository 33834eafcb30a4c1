//! The table of functions (CSV) and the functions' code (JSON).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Read, Write};

use csv::StringRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use syntax::Language;
use thiserror::Error;

use crate::ordered_map::OrderedMap;
use crate::row_reader::{BrokenRow, check_path};

/// Limit of a file in bytes. The public ones have less than 20 MB.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// Column of the key, which pandas names so.
const KEY: &str = "Unnamed: 0";

/// A table or the code of its functions cannot be read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file cannot be read or is not UTF-8.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The header cannot be read.
    #[error(transparent)]
    Header(#[from] csv::Error),
    /// There is no column with the keys.
    #[error("the table has no column `{KEY}`")]
    NoKey,
    /// The document has another form.
    #[error(transparent)]
    Parse(#[from] cases::ParseError),
    /// The file is too long.
    #[error("the file has more than {MAX_BYTES} bytes")]
    TooLong,
    /// The file is not UTF-8.
    #[error("not UTF-8 from byte {0} on; convert the file to UTF-8")]
    Encoding(usize),
}

/// The table: one row per function. Columns and values are kept as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct YablocoTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows in their order.
    pub rows: Vec<YablocoRow>,
    /// Rows that cannot be used.
    pub broken: Vec<BrokenRow>,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YablocoRow {
    /// 1-based line of its beginning.
    pub line: usize,
    /// Key of the function, 16 hexadecimal digits.
    pub key: String,
    /// A value per column.
    pub values: Vec<String>,
}

impl YablocoTable {
    /// Reads a table of plain text. Rows with other than one value per column, with a key that another row has, or with a path out
    /// of the repository are set apart.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or has no column with keys.
    pub fn read(file: impl Read) -> Result<YablocoTable, TableError> {
        let bytes = read_bytes(file)?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(without_bom(&bytes));
        let columns: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        // The public table has an index without a name before its key, which other tables have as their first column.
        let named = |name: &str| columns.iter().position(|column| column == name);
        let key = named(KEY).or_else(|| named("")).ok_or(TableError::NoKey)?;
        let mut table = YablocoTable { columns, ..YablocoTable::default() };
        let mut keys = HashSet::new();
        for record in reader.into_byte_records() {
            let record = record?;
            let line = record.position().map_or(0, |position| position.line() as usize);
            let record = match StringRecord::from_byte_record(record) {
                Ok(record) => record,
                Err(error) => {
                    let column = error.utf8_error().field() + 1;
                    let reason = format!("value {column}: not UTF-8; convert the file to UTF-8");
                    table.broken.push(BrokenRow { line, reason });
                    continue;
                }
            };
            let values = record.iter().map(str::to_owned).collect();
            let row = YablocoRow { line, key: record.get(key).unwrap_or_default().to_owned(), values };
            match table.check(&row, &mut keys) {
                Ok(()) => table.rows.push(row),
                Err(reason) => table.broken.push(BrokenRow { line, reason }),
            }
        }
        Ok(table)
    }

    fn check(&self, row: &YablocoRow, keys: &mut HashSet<String>) -> Result<(), String> {
        if row.values.len() != self.columns.len() {
            return Err(format!("{} values for {} columns", row.values.len(), self.columns.len()));
        }
        if row.key.is_empty() {
            return Err("the key is empty".to_owned());
        }
        for column in ["file", "path"] {
            self.value(row, column).map_or(Ok(()), check_path)?;
        }
        if !keys.insert(row.key.clone()) {
            return Err(format!("another row has the key `{}`", row.key));
        }
        Ok(())
    }

    /// Returns the value of a row in a column.
    pub fn value<'r>(&self, row: &'r YablocoRow, column: &str) -> Option<&'r str> {
        let index = self.columns.iter().position(|name| name == column)?;
        row.values.get(index).map(String::as_str)
    }

    /// Returns the widest place of the code that a function calls: `none`, `stdlib`, `same_file`, `same_package` or `project`.
    pub fn category(&self, row: &YablocoRow) -> &'static str {
        let calls = |column: &&&str| {
            let count = self.value(row, column).and_then(|value| value.parse().ok());
            count.is_some_and(|count: f64| count > 0.0)
        };
        ["project", "same_package", "same_file", "stdlib"].iter().find(calls).copied().unwrap_or("none")
    }

    /// Writes the usable rows as CSV.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let records = std::iter::once(&self.columns).chain(self.rows.iter().map(|row| &row.values));
        for record in records {
            writer.write_record(record).map_err(io::Error::other)?;
        }
        writer.flush()
    }
}

/// The code of the functions by key, with the functions that they call. Unknown fields are kept.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct YablocoFunctions(OrderedMap<Value>);

impl YablocoFunctions {
    /// Reads a document of plain text.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or is no JSON object.
    pub fn read(file: impl Read) -> Result<YablocoFunctions, TableError> {
        Ok(cases::parse_document(&read_text(file)?)?)
    }

    /// Writes the document as one line.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, self)?)
    }

    /// Adds a function.
    pub fn push(&mut self, key: &str, function: Value) {
        self.0.0.push((key.to_owned(), function));
    }

    /// Removes the functions with other keys.
    pub(super) fn keep_only(&mut self, keys: &BTreeSet<&str>) {
        self.0.0.retain(|(key, _)| keys.contains(key.as_str()));
    }

    /// Returns the original code of each function of the table, in its order; `None` where the document has none.
    pub fn codes<'a>(&'a self, table: &'a YablocoTable) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let by_key: HashMap<&str, &Value> =
            self.0.0.iter().map(|(key, value)| (key.as_str(), value)).collect();
        table.rows.iter().map(move |row| {
            let code = by_key.get(row.key.as_str()).and_then(|function| function.get("code")?.as_str());
            (row.key.as_str(), code)
        })
    }

    /// Returns a function with all its fields.
    pub fn function(&self, key: &str) -> Option<&Value> {
        self.0.0.iter().find(|(name, _)| name == key).map(|(_, function)| function)
    }

    /// Returns the original code of a function.
    pub fn code(&self, key: &str) -> Option<&str> {
        self.function(key)?.get("code")?.as_str()
    }

    /// Returns path and code of the functions that a function calls, as far as the document has them. The public document's code begins
    /// a line after the beginning of the called function and runs on after its end, so it is cut there.
    pub fn callees(&self, key: &str) -> impl Iterator<Item = (&str, &str)> {
        let calls = self.function(key).and_then(|function| function.get("calls")?.as_array());
        calls.into_iter().flatten().filter_map(|call| {
            let text = |field| call.get(field).and_then(Value::as_str);
            let line = |place| call.pointer(place).and_then(Value::as_u64);
            let code = text("code").filter(|code| !code.is_empty())?;
            let path = text("path").unwrap_or_default();
            let lines = line("/end/line").zip(line("/start/line"));
            let lines = lines.and_then(|(end, start)| usize::try_from(end.checked_sub(start)?).ok());
            let callee = lines.map_or(code, |lines| callee_lines(path, code, lines));
            (!callee.is_empty()).then_some((path, callee))
        })
    }

    /// Returns the keys without a row in the table. The public document has one.
    pub fn keys_without_row<'a>(&'a self, table: &YablocoTable) -> Vec<&'a str> {
        let rows: HashSet<&str> = table.rows.iter().map(|row| row.key.as_str()).collect();
        self.0.0.iter().map(|(key, _)| key.as_str()).filter(|key| !rows.contains(key)).collect()
    }
}

/// Returns the lines of a called function that has `later` lines after its first. A whole function, as Ghostbench's documents have it, is
/// kept: it is as long as its lines, and in C and C++, which the public document has, its last line closes its body.
fn callee_lines<'c>(path: &str, code: &'c str, later: usize) -> &'c str {
    let lines: Vec<&str> = code.split_inclusive('\n').take(later + 2).collect();
    let has_braces =
        Language::from_path(path).is_none_or(|language| matches!(language, Language::C | Language::Cpp));
    let count = |sign| code.matches(sign).count();
    let closes = || lines.last().is_some_and(|line| line.contains('}')) && count('{') == count('}');
    if lines.len() == later + 1 && (!has_braces || closes()) {
        return code;
    }
    &code[..lines.iter().take(later).map(|line| line.len()).sum()]
}

fn read_bytes(file: impl Read) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(TableError::TooLong);
    }
    Ok(bytes)
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Reads a file of UTF-8 without its byte order mark.
pub(super) fn read_text(file: impl Read) -> Result<String, TableError> {
    let bytes = read_bytes(file)?;
    let text = str::from_utf8(without_bom(&bytes));
    Ok(text.map_err(|error| TableError::Encoding(error.valid_up_to()))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "Unnamed: 0,repo,file,doc\nA1,redis,src/a.c,\"two\nlines, \"\"quoted\"\"\"\nB2,redis,b.c,\n";

    #[test]
    fn table_is_written_as_it_was_read() {
        let table = YablocoTable::read(TABLE.as_bytes()).expect("a table");
        assert_eq!(table.value(&table.rows[0], "doc"), Some("two\nlines, \"quoted\""));
        assert_eq!(table.rows[1].line, 4);
        let mut written = Vec::new();
        table.write(&mut written).expect("written");
        assert_eq!(String::from_utf8(written).expect("text"), TABLE);
    }

    #[test]
    fn the_named_key_counts_and_not_the_index_before_it() {
        let table = YablocoTable::read(&b",Unnamed: 0.1,Unnamed: 0,file\n0,9,A1,a.c\n"[..]).expect("a table");
        assert_eq!(table.rows[0].key, "A1");
    }

    #[test]
    fn broken_rows_are_set_apart() {
        let file = "\u{feff},file\nA1,a.c\nA1,b.c\nB2\nC3,/etc/passwd\n,c.c\nD4,d.c\n";
        let table = YablocoTable::read(file.as_bytes()).expect("a table");
        let keys: Vec<_> = table.rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["A1", "D4"]);
        let broken: Vec<_> = table.broken.iter().map(ToString::to_string).collect();
        let expected = [
            "line 3: another row has the key `A1`",
            "line 4: 1 values for 2 columns",
            "line 5: the path \"/etc/passwd\" is not a path inside of the repository",
            "line 6: the key is empty",
        ];
        assert_eq!(broken, expected);
    }

    #[test]
    fn tables_without_keys_and_other_encodings_are_errors() {
        assert!(matches!(YablocoTable::read(&b"a,b\n1,2\n"[..]), Err(TableError::NoKey)));
        assert!(matches!(YablocoTable::read(&b"\xff\xfe"[..]), Err(TableError::Header(_))));
        assert!(YablocoFunctions::read(&b"[]"[..]).is_err());
    }

    #[test]
    fn rows_in_another_encoding_are_set_apart() {
        let file = b"\xef\xbb\xbf,doc\nA1,x\nB2,\xe9\nC3,y\n";
        let table = YablocoTable::read(&file[..]).expect("a table");
        let keys: Vec<_> = table.rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["A1", "C3"]);
        assert_eq!(table.broken[0].to_string(), "line 3: value 2: not UTF-8; convert the file to UTF-8");
    }

    #[test]
    fn called_functions_are_cut_at_their_end() {
        let whole = "int f(int a)\n{\n    return a;\n}\n";
        let public = "{\n    return a;\n}\n";
        assert_eq!(callee_lines("x/a.c", whole, 3), whole);
        for after in ["", "#endif\n", "\n\nint g() {\n", "} // namespace\n"] {
            assert_eq!(callee_lines("x/a.c", &format!("{public}{after}"), 3), public, "{after:?}");
        }
        let python = "def f(a):\n    return a\n";
        assert_eq!(callee_lines("x/a.py", python, 1), python);
    }

    #[test]
    fn code_is_found_by_key() {
        let table = YablocoTable::read(TABLE.as_bytes()).expect("a table");
        let document = r#"{"Z9":{"code":"z"},"A1":{"code":"a","calls":[{"x":1}]}}"#;
        let functions = YablocoFunctions::read(document.as_bytes()).expect("a document");
        assert_eq!(functions.codes(&table).collect::<Vec<_>>(), [("A1", Some("a")), ("B2", None)]);
        assert_eq!(functions.keys_without_row(&table), ["Z9"]);
        let mut written = Vec::new();
        functions.write(&mut written).expect("written");
        let values = [&written[..], document.as_bytes()]
            .map(|text| serde_json::from_slice::<Value>(text).expect("JSON"));
        assert_eq!(values[0], values[1]);
    }
}
