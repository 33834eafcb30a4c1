//! `ghostbench engines cassette`: what another program heard models answer, as a cassette.

use std::fs;

use anyhow::Context;
use engines::{AnswersError, HttpEngine, Prompts};

use crate::args::EnginesCassetteArgs;
use crate::exit::Usage;
use crate::output::{count, say};
use crate::steps::engines::behind_http;
use crate::steps::settings::Sources;

/// Runs the command.
pub(super) fn run(args: &EnginesCassetteArgs) -> anyhow::Result<()> {
    let config = Sources::new(args.settings.file.as_deref()).config(std::path::Path::new("."))?;
    let engines = args.engines.iter().map(|name| behind_http(&config, name));
    let engines: Vec<HttpEngine> = engines.collect::<Result<_, _>>()?;
    let text = fs::read_to_string(&args.answers)
        .with_context(|| format!("cannot read the answers {}", args.answers.display()))?;
    let made = Prompts::parse(&text).and_then(|prompts| prompts.write_cassette(&engines, &args.out));
    for made in made.map_err(|error| named(error, args))? {
        let others = match made.others {
            0 => String::new(),
            others => format!("; {others} are of other models"),
        };
        say(&format!("{}: {}{others}", made.engine, count(made.taken, "answer")));
    }
    Ok(())
}

/// The error with the file that it is about.
fn named(error: AnswersError, args: &EnginesCassetteArgs) -> anyhow::Error {
    match error {
        AnswersError::Cassette(error) => error.into(),
        AnswersError::NoPrompts { .. } => Usage(error.to_string()).into(),
        error => anyhow::anyhow!("{}: {error}", args.answers.display()),
    }
}
