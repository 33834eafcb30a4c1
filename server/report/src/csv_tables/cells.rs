//! Cells of different types, rows of them, and tables. A text that a spreadsheet would run as a formula gets an apostrophe in front.

use scoring::Interval;
use serde::Serialize;

use super::CsvTable;

/// Characters that start a formula in a spreadsheet, or that it drops before one.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A cell.
pub(super) enum Cell {
    Text(String),
    Number(f64),
    Count(usize),
    Flag(bool),
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::Count(count)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Cell {
        Cell::Flag(flag)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, T::into)
    }
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Cell::Text(text) if text.starts_with(FORMULA_STARTS) => format!("'{text}"),
            Cell::Text(text) => text.clone(),
            // The latency of a timeout.
            Cell::Number(number) if number.is_infinite() => "inf".to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::Empty => String::new(),
        }
    }
}

pub(super) type Row = Vec<Cell>;

/// Builds a row from values of different types.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$($crate::csv_tables::cells::Cell::from($value)),*] };
}
pub(super) use row;

/// Writes a table.
pub(super) fn table(file: &'static str, header: &[&str], rows: impl Iterator<Item = Row>) -> CsvTable {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect("memory takes every byte");
    for row in rows {
        debug_assert_eq!(row.len(), header.len(), "{file}");
        writer.write_record(row.iter().map(Cell::text)).expect("rows have the length of the header");
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    CsvTable { file, text: String::from_utf8(bytes).expect("cells are UTF-8") }
}

/// Returns both ends of an interval.
pub(super) fn ends(interval: Option<Interval>) -> (Option<f64>, Option<f64>) {
    (interval.map(|it| it.low), interval.map(|it| it.high))
}

/// Returns the word of a value in files.
pub(super) fn name_of(value: &impl Serialize) -> Cell {
    let word = serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned));
    Cell::from(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_texts_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(Cell::from(formula).text(), format!("'{formula}"));
        }
        assert_eq!(Cell::from(-0.25).text(), "-0.25");
        assert_eq!(Cell::from("a=b").text(), "a=b");
        assert_eq!(Cell::from(f64::INFINITY).text(), "inf");
        assert_eq!(Cell::from(None::<f64>).text(), "");
    }
}
