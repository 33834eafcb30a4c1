//! The files of the benchmark from imported cases.

use cases::Case;
use serde_json::Value;

use super::table::{YablocoFunctions, YablocoRow, YablocoTable};
use crate::JsonText;
use crate::ordered_map::OrderedMap;
use crate::row_template::row_of;

/// Field of an imported row with the values of the table, by column.
const COLUMNS: &str = "columns";

/// Field of an imported row with the entry of the document.
const FUNCTION: &str = "function";

/// Returns the row of a case's tag: a row of the table with its entry of the document, as one JSON object.
pub fn yabloco_row_text(
    table: &YablocoTable,
    row: &YablocoRow,
    functions: &YablocoFunctions,
) -> Option<String> {
    let values = table.columns.iter().cloned().zip(row.values.iter().cloned()).collect();
    let columns = JsonText::of(&OrderedMap(values))?;
    let function = JsonText::of(functions.function(&row.key)?)?;
    let fields = vec![(COLUMNS.to_owned(), columns), (FUNCTION.to_owned(), function)];
    serde_json::to_string(&OrderedMap(fields)).ok()
}

/// The files of the benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YablocoFiles {
    /// The table.
    pub table: YablocoTable,
    /// Its document.
    pub functions: YablocoFunctions,
    /// MERA's rows, with all their fields.
    pub mera: Vec<OrderedMap<JsonText>>,
}

impl YablocoFiles {
    /// Adds the row that a case was imported from; returns whether it was imported from one.
    pub fn add(&mut self, case: &Case) -> bool {
        let Some(row) = row_of(case) else { return false };
        let field = |name: &str| row.0.iter().rfind(|(field, _)| field == name).map(|(_, value)| value);
        let columns = field(COLUMNS).and_then(JsonText::parse::<OrderedMap<String>>);
        match columns.zip(field(FUNCTION).and_then(JsonText::parse::<Value>)) {
            Some((columns, function)) => {
                let key = case.origin.benchmark_id.clone().unwrap_or_default();
                self.functions.push(&key, function);
                let (names, values) = columns.0.into_iter().unzip();
                self.table.columns = names;
                self.table.rows.push(YablocoRow { line: self.table.rows.len() + 2, key, values });
                true
            }
            None => {
                self.mera.push(row);
                true
            }
        }
    }
}
