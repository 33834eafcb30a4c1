//! `ghostbench engines cassette`: converts a file of prompts and answers from another program to a cassette.

use std::fs;

use anyhow::Context;
use engines::{AnswersError, AnswersFile, HttpEngine};

use crate::args::EnginesCassetteArgs;
use crate::exit::UsageError;
use crate::output::{count, print_message};
use crate::steps::engine_registry::http_engine;
use crate::steps::settings_sources::SettingsSources;

/// Runs the command.
pub(super) fn run(args: &EnginesCassetteArgs) -> anyhow::Result<()> {
    let config = SettingsSources::new(args.settings.file.as_deref()).config(std::path::Path::new("."))?;
    let engines = args.engines.iter().map(|name| http_engine(&config, name));
    let engines: Vec<HttpEngine> = engines.collect::<Result<_, _>>()?;
    let text = fs::read_to_string(&args.answers)
        .with_context(|| format!("cannot read the answers {}", args.answers.display()))?;
    let made = AnswersFile::parse(&text).and_then(|prompts| prompts.write_cassette(&engines, &args.out));
    for made in made.map_err(|error| with_file_name(error, args))? {
        let others = match made.skipped {
            0 => String::new(),
            others => format!("; {others} are of other models"),
        };
        print_message(&format!("{}: {}{others}", made.engine, count(made.taken, "answer")));
    }
    Ok(())
}

/// Adds the file's name to the error.
fn with_file_name(error: AnswersError, args: &EnginesCassetteArgs) -> anyhow::Error {
    match error {
        AnswersError::Cassette(error) => error.into(),
        AnswersError::NoPrompts { .. } => UsageError(error.to_string()).into(),
        error => anyhow::anyhow!("{}: {error}", args.answers.display()),
    }
}
