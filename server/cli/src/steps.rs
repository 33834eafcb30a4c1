//! The steps of commands: read the settings, index a workspace, mine, run engines, show results.

pub(crate) mod benchmark_files;
pub(crate) mod builtin_judge;
pub(crate) mod cases_with_tests;
pub(crate) mod cassette;
pub(crate) mod clangd_index;
pub(crate) mod collect_server;
pub(crate) mod collect_store;

pub(crate) mod cursor_arg;
pub(crate) mod describe_functions;
pub(crate) mod embeddings;
pub(crate) mod engine_registry;
pub(crate) mod estimate;
pub(crate) mod export_rows;
pub(crate) mod find_tests;
pub(crate) mod gates;
pub(crate) mod history_files;
pub(crate) mod hole_candidates;
pub(crate) mod index;
pub(crate) mod last_commits;
pub(crate) mod licence;
pub(crate) mod mine;
pub(crate) mod mine_history;
pub(crate) mod open_telemetry;
pub(crate) mod perfect_answer;
pub(crate) mod ray_cluster;
pub(crate) mod ray_judge;
pub(crate) mod require_answers;
pub(crate) mod run_replay;
pub(crate) mod scored_runs;
pub(crate) mod settings_sources;
pub(crate) mod show_run;
pub(crate) mod test_code;
pub(crate) mod test_judge;
pub(crate) mod trial_rows;
pub(crate) mod trial_store;
pub(crate) mod trust_list;
pub(crate) mod write_csv;

use std::num::NonZeroUsize;

use anyhow::Context;
use replay::cores;

/// Limits the number of threads for all computation. Call it once, before any step.
pub(crate) fn use_threads(jobs: Option<NonZeroUsize>) -> anyhow::Result<()> {
    // More threads than cores would only wait for each other.
    let threads = jobs.map_or_else(cores, |jobs| jobs.get().min(cores()));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start threads")
}
