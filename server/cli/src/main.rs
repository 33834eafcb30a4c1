//! The `ghostbench` binary: the only place that prints, reads the working directory and sets exit codes.
//!
//! Standard output carries results, standard error everything else. Exit codes: 0 success; 1 a finding; 2 usage; 3 external errors
//! (unreadable files, a full disk, an engine that is down); 130 after Ctrl-C. A closed standard output is 0 and silent.

mod args;
mod commands;
mod exit;
mod folders;
mod interrupt;
mod output;
mod progress;
mod steps;
mod views;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Try(args) => commands::try_command::run(&args),
        Command::Lsp(args) => commands::lsp::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Mine(args) => commands::mine::run(&args),
        Command::Judge(args) => commands::judge::run(&args),
        Command::SandboxMount => match sandbox::run_mount() {
            Ok(status) => return exit::code_of_process(status),
            Err(message) => Err(anyhow::Error::msg(message)),
        },
        Command::SandboxInit { spec } => sandbox::run_init(spec.as_deref()).map_err(anyhow::Error::msg),
        Command::Index(args) => commands::index::run(&args),
        Command::RayWorker(args) => commands::ray_worker::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Watch(args) => commands::watch::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Build(args) => commands::build::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Engines(args) => commands::engines::run(&args),
        Command::Trial(args) => commands::trial::run(&args),
        Command::Collect(args) => commands::collect::run(&args),
        Command::Trust(args) => commands::trust::run(&args),
        Command::Config(args) => commands::config::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Manual { folder } => commands::manual::run(&folder),
        Command::Retrieve(args) => commands::retrieve::run(args),
    };
    exit::exit_code(result)
}
