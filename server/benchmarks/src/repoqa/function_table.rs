//! The functions of a repository as the data set lists them: with their places in their file and in the whole code.

use rayon::prelude::*;
use serde::Serialize;
use syntax::Language;

use super::functions::{FileFunction, file_functions};
use crate::ordered_map::OrderedMap;

/// The functions of each file by its path.
pub type FunctionTable = OrderedMap<Vec<FunctionRow>>;

/// A function with the original's fields in their order. As in the original, a byte of the whole code mixes units: it counts the
/// characters of the files before, and the bytes of the file itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    /// Its name.
    pub name: String,
    /// First line in the file, 0-based.
    pub start_line: usize,
    /// Line after the last one.
    pub end_line: usize,
    /// Start in the file, in bytes.
    pub start_byte: usize,
    /// End in the file, in bytes.
    pub end_byte: usize,
    /// First line in the whole code.
    pub global_start_line: usize,
    /// Line after the last one in the whole code.
    pub global_end_line: usize,
    /// Start in the whole code.
    pub global_start_byte: usize,
    /// End in the whole code.
    pub global_end_byte: usize,
    /// Share of comments.
    pub code_ratio: f64,
}

/// What the files before a file have in all.
#[derive(Clone, Copy, Default)]
struct CodeBefore {
    /// Lines, one more than line feeds in each file.
    lines: usize,
    characters: usize,
}

/// Returns the functions of the files, which are in the order of contexts, each with its path and text.
pub fn function_table(language: Language, files: &[(&str, &str)]) -> FunctionTable {
    let functions: Vec<Vec<FileFunction>> =
        files.par_iter().map(|(_, text)| file_functions(language, text)).collect();
    let mut before = CodeBefore::default();
    let mut rows = Vec::with_capacity(files.len());
    for ((path, text), functions) in files.iter().zip(functions) {
        let of_file = functions.into_iter().map(|function| function_row(function, before)).collect();
        rows.push(((*path).to_owned(), of_file));
        before.lines += text.matches('\n').count() + 1;
        before.characters += text.chars().count();
    }
    OrderedMap(rows)
}

fn function_row(function: FileFunction, before: CodeBefore) -> FunctionRow {
    let FileFunction { name, lines, bytes, comment_ratio } = function;
    FunctionRow {
        name,
        start_line: lines.start,
        end_line: lines.end,
        start_byte: bytes.start,
        end_byte: bytes.end,
        global_start_line: before.lines + lines.start,
        global_end_line: before.lines + lines.end,
        global_start_byte: before.characters + bytes.start,
        global_end_byte: before.characters + bytes.end,
        code_ratio: comment_ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_the_files_before() {
        let files = [("a.py", "x = 'é'\n"), ("b.py", "\ndef f():\n    return 1\n")];
        let table = function_table(Language::Python, &files);
        assert_eq!(table.0[0], ("a.py".to_owned(), Vec::new()));
        let expected = r#"{"name":"f","start_line":1,"end_line":3,"start_byte":1,"end_byte":22,"global_start_line":3,"global_end_line":5,"global_start_byte":9,"global_end_byte":30,"code_ratio":0.0}"#;
        assert_eq!(serde_json::to_string(&table.0[1].1[0]).expect("JSON"), expected);
    }
}
