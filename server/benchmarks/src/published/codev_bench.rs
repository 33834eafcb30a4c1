//! Codev-Bench's published results: pass rates in percent, judged by unit tests.
//!
//! Source: the tables "The Results of Scenario 1" to "4" in the README of <https://github.com/LingmaTongyi/Codev-Bench> at commit e2d185f
//! (`images/scenario1.png` to `images/scenario4.png`; paper: arXiv 2410.01353). Its text and its list of files number the second and the
//! third scenario differently. The shares tell which is which: those of scenario 3 are of 620 rows, twice the blocks of scenario 1, so
//! that it has the two files with an incomplete suffix.

use cases::Case;

use super::{PublishedTables, rows_of};
use crate::codev_bench::CodevFile;

/// The repositories of the public rows.
const REPOSITORIES: [&str; 10] = [
    "UHGEval",
    "UniRef",
    "camp_zipnerf",
    "microagents",
    "microsearch",
    "nlm-ingestor",
    "ollama-python",
    "open-iris",
    "searcharray",
    "tanuki_py",
];

/// The table of our report with the files of each scenario, the rows that the published shares are of, and the models' results.
const SCENARIOS: [(&str, &[CodevFile], usize, &str); 4] = [
    ("full_block", &[CodevFile::FullBlock], 312, FULL_BLOCK),
    ("inner_block", &[CodevFile::InnerBlock, CodevFile::InnerBlockEmpty], 530, INNER_BLOCK),
    (
        "incomplete_suffix",
        &[CodevFile::FunctionSuffixEmpty, CodevFile::FileSuffixEmpty],
        620,
        INCOMPLETE_SUFFIX,
    ),
    ("rag", &[CodevFile::Rag], 312, RAG),
];

/// Columns of the tables: function, if, for, try, statement and average of the README.
const COLUMNS: [&str; 6] = ["function", "branch", "loop", "exception", "statement", "average"];

#[cfg(test)]
pub(super) const ALL_ROWS: [&str; 4] = [FULL_BLOCK, INNER_BLOCK, INCOMPLETE_SUFFIX, RAG];

const FULL_BLOCK: &str = "\
GPT-4 15.38 22.08 12.70 15.22 50.00 27.56
GPT-4o 23.08 42.86 33.33 26.09 69.00 45.19
GPT-4o-mini 0.00 16.88 14.29 2.17 37.00 19.23
Claude-3.5-Sonnet 0.00 7.79 6.35 0.00 46.00 17.95
Deepseek-v2 0.00 1.30 0.00 0.00 9.00 3.21
Mistral-123b 0.00 3.90 0.00 0.00 24.00 8.65
Yi-1.5-34b 0.00 3.90 0.00 0.00 9.00 3.85
Qwen-2-54b-moe 0.00 1.30 0.00 0.00 6.00 2.24
Qwen-2-72b 0.00 19.48 4.76 0.00 69.00 27.88
Llama-3.1-70b 0.00 9.09 1.59 0.00 66.00 23.72
Llama-3.1-405b 0.00 23.38 28.57 15.22 78.00 38.78
Codeqwen-1.5 26.92 36.36 20.63 47.83 52.00 39.10
Deepseek-coder-v2-lite 53.85 32.47 33.33 56.52 61.00 47.12
Codegeex-4-9b 11.54 11.69 19.05 17.39 20.0 16.67
Starcoder-2-7b 0.00 2.60 0.00 2.17 1.00 1.28
Codegemma-7b 46.15 41.56 33.33 71.74 70.00 53.85
";

const INNER_BLOCK: &str = "\
GPT-4 10.0 16.55 19.05 10.87 14.53 15.47
GPT-4o 2.5 13.67 19.05 0.0 11.17 12.08
GPT-4o-mini 2.5 3.6 2.38 4.35 2.79 3.02
Claude-3.5-Sonnet 37.5 46.76 46.83 50.0 54.19 48.87
Deepseek-v2 20.0 30.94 19.84 32.61 22.35 24.72
Mistral-123b 7.5 4.32 7.14 4.35 1.12 4.15
Yi-1.5-34b 12.5 14.39 13.49 23.91 16.20 15.47
Qwen-2-54b-moe 35.0 23.02 20.63 41.3 18.99 23.58
Qwen-2-72b 15.0 8.63 7.14 6.52 7.82 8.30
Llama-3.1-70b 0.0 5.76 6.35 2.17 6.70 5.47
Llama-3.1-405b 15.0 23.74 34.13 8.70 16.76 21.89
Codeqwen-1.5 75.0 38.85 65.87 47.83 56.42 54.72
Deepseek-coder-v2-lite 66.67 68.48 87.21 100.0 79.82 78.62
Codegeex-4-9b 22.22 36.96 26.74 100.0 27.52 32.70
Starcoder-2-7b 0.0 0.0 0.0 0.0 0.0 0.0
Codegemma-7b 88.89 71.74 79.07 76.92 78.90 77.36
";

const INCOMPLETE_SUFFIX: &str = "\
GPT-4 0.00 0.00 0.79 13.04 15.31 6.94
GPT-4o 0.00 1.95 1.59 8.70 10.20 5.32
GPT-4o-mini 0.00 1.30 0.79 5.43 4.08 2.58
Claude-3.5-Sonnet 1.92 3.25 7.14 6.52 13.78 7.74
Deepseek-v2 0.00 0.65 0.00 2.17 2.55 1.29
Mistral-123b 0.00 0.00 0.00 0.00 1.53 0.48
Yi-1.5-34b 0.00 0.00 0.00 0.00 0.00 0.00
Qwen-2-54b-moe 0.00 0.00 0.00 0.00 0.51 0.16
Qwen-2-72b 0.00 0.00 2.38 2.17 4.08 2.10
Llama-3.1-70b 0.00 0.00 0.00 1.09 4.08 1.45
Llama-3.1-405b 0.00 1.30 0.79 6.52 16.84 6.77
Codeqwen-1.5 0.00 1.57 5.10 7.76 9.02 5.44
Deepseek-coder-v2-lite 0.00 0.94 3.49 10.42 5.08 3.75
Codegeex-4-9b 0.00 0.00 0.00 0.00 1.69 0.50
Starcoder-2-7b 0.00 0.00 0.00 0.00 0.85 0.25
Codegemma-7b 0.00 3.64 3.05 10.00 6.38 4.84
";

/// The README's table of scenario 4 has zeros for Deepseek-coder-v2-lite, its table of all scenarios the average.
const RAG: &str = "\
GPT-4 11.54 18.18 12.70 10.87 49.00 25.32
GPT-4o 15.38 35.06 34.92 19.57 69.00 41.99
GPT-4o-mini 0.00 11.69 19.05 0.00 43.00 20.51
Claude-3.5-Sonnet 0.00 3.90 0.00 2.17 47.00 16.35
Deepseek-v2 0.00 1.30 1.59 0.00 26.00 8.97
Mistral-123b 3.85 3.90 0.00 0.00 33.00 11.86
Yi-1.5-34b 0.00 1.30 0.00 0.00 7.00 2.56
Qwen-2-54b-moe 0.00 0.00 0.00 0.00 6.00 1.92
Qwen-2-72b 0.00 16.88 4.76 2.17 66.00 26.60
Llama-3.1-70b 0.00 7.79 1.59 0.00 71.00 25.00
Llama-3.1-405b 3.85 22.08 33.33 19.57 78.00 40.38
Codeqwen-1.5 42.31 31.17 30.16 41.30 54.00 40.71
Deepseek-coder-v2-lite - - - - - 45.19
Codegeex-4-9b 7.69 10.39 17.46 23.91 23.0 17.63
Starcoder-2-7b 0.00 1.30 0.00 0.00 2.00 0.96
Codegemma-7b 42.31 45.45 44.44 65.22 70.00 55.77
";

/// Returns the published results of the scenarios of which the cases are the public ones.
pub(super) fn published(cases: &[&Case]) -> Option<PublishedTables> {
    let is_public = |case: &Case| case.path.split('/').any(|part| REPOSITORIES.contains(&part));
    if !cases.iter().all(|case| is_public(case)) {
        return None;
    }
    let rows = |files: &[CodevFile]| {
        cases.iter().filter(|case| CodevFile::of_case(case).is_some_and(|file| files.contains(&file))).count()
    };
    let complete = SCENARIOS.iter().filter(|(_, files, published, _)| rows(files) >= *published);
    let tables = complete.map(|(name, _, _, results)| {
        (*name, "pass_rate", COLUMNS.map(|column| (column, true)).to_vec(), rows_of(results))
    });
    PublishedTables::new("the README of github.com/LingmaTongyi/Codev-Bench, judged by unit tests", tables)
}
