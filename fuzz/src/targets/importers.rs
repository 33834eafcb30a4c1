//! Files of public benchmarks and of other tools.

use std::io::BufReader;

use benchmarks::codev_bench::{CodevItem, CodevPrediction};
use benchmarks::crosscodeeval::{CcevalItem, CcevalPrediction};
use benchmarks::repoqa::{RepoqaDataset, RepoqaOutput};
use benchmarks::yabloco::{ClangdIndex, CompileCommands, YablocoDocument, YablocoFunctions, YablocoTable};
use benchmarks::{BenchmarkItem, RowReader, decompress, further_sources, write_rows};

use crate::first;

/// The first byte chooses the format; the rest is a file, plain or compressed.
pub(crate) fn run(input: &[u8]) {
    let (kind, input) = first(input);
    let text = String::from_utf8_lossy(input);
    match kind % 13 {
        0 => rows::<CodevItem>(input),
        1 => rows::<CodevPrediction>(input),
        2 => rows::<CcevalItem>(input),
        3 => rows::<CcevalPrediction>(input),
        4 => rows::<RepoqaOutput>(input),
        5 => drop(RepoqaDataset::read(input)),
        6 => drop(YablocoDocument::read(input)),
        7 => drop(YablocoTable::read(input)),
        8 => drop(YablocoFunctions::read(input)),
        9 => drop(CompileCommands::read(input, "/w")),
        10 => drop(ClangdIndex::default().add(input, "/w")),
        11 => {
            if let Ok(rows) = further_sources::copilot_arena_rows(input) {
                rows.iter().flatten().for_each(|row| drop(row.case(None)));
            }
        }
        _ => {
            if let Ok(cases) = further_sources::cursortab_cases(&text, "a.txtar") {
                cases.iter().for_each(|case| drop(case.case()));
            }
        }
    }
}

/// Imported rows are the same after their export.
fn rows<T: BenchmarkItem>(input: &[u8]) {
    let Ok(file) = decompress(BufReader::new(input)) else { return };
    let read: Vec<_> = RowReader::<_, T>::new(file).take(1_000).collect();
    for row in read.iter().flatten() {
        let mut written = Vec::new();
        write_rows([row.text.as_str()], &mut written).expect("memory can be written");
        let again: Vec<_> = RowReader::<_, T>::new(written.as_slice()).collect();
        let [Ok(again)] = &again[..] else { panic!("an exported row cannot be imported: {}", row.text) };
        assert_eq!(again.text, row.text);
    }
}
