//! End-to-end tests: the `ghostbench` binary as a user drives it.

mod bad_input;
mod build;
mod caches;
mod cassettes;
mod cceval_reader;
mod collect;
mod commands;
mod compare;
mod cross_file;
mod determinism;
mod documents;
mod editor_features;
mod embeddings;
mod engine_identity;
mod engines;
mod export;
mod function_tasks;
mod gates;
#[cfg(unix)]
mod github_action;
mod history;
#[cfg(unix)]
mod images;
mod import;
#[cfg(unix)]
mod interruption;
#[cfg(unix)]
mod judge_resume;
mod language_servers;
mod lsp;
mod neovim;
mod neovim_commands;
mod neovim_fallback;
#[cfg(unix)]
mod neovim_faults;
mod neovim_trial;
mod open_telemetry;
#[cfg(unix)]
mod other_editors;
#[cfg(unix)]
mod packages;
mod program_engines;
#[cfg(unix)]
mod ray;
#[cfg(target_os = "linux")]
mod ray_judge;
mod real_c_code;
mod report;
mod requests;
mod run_rows;
#[cfg(target_os = "linux")]
mod sandbox_attacks;
mod score;
#[cfg(unix)]
mod secrets;
mod serve;
mod settings;
mod trial;
mod trial_export;
mod trial_page;
mod trial_rows;
mod trial_scoreboard;
#[cfg(target_os = "linux")]
mod unit_test_runners;
#[cfg(target_os = "linux")]
mod unit_tests;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod vscode;
#[cfg(target_os = "linux")]
mod vscode_faults;
#[cfg(unix)]
mod vscode_trial;
#[cfg(unix)]
mod vscode_typing;
#[cfg(unix)]
mod vscode_views;
mod watch;
