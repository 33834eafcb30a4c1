//! Writes tables into the folder of `--csv`.

use std::path::Path;

use anyhow::Context;
use report::CsvTable;

use crate::output;

/// Writes one file for each table, and creates the folder if it is missing.
pub(crate) fn write_csv(folder: &Path, tables: &[CsvTable]) -> anyhow::Result<()> {
    let hint = || format!("cannot write to {}; choose another folder with --csv", output::path(folder));
    private_files::create_folder(folder).with_context(hint)?;
    for table in tables {
        private_files::write(&folder.join(table.file), table.text.as_bytes()).with_context(hint)?;
    }
    Ok(())
}
