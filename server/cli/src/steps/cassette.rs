//! Opens the cassette of the command line, and reports its use at the end.

use std::sync::Arc;

use engines::{Cassette, CassetteStats};

use crate::args::CassetteArgs;
use crate::exit::MissingRecordingError;
use crate::output::{count, print_message};

/// Opens the cassette; `None` if the command line names none.
pub(crate) fn open(args: &CassetteArgs) -> anyhow::Result<Option<Arc<Cassette>>> {
    let cassette = match (args.file.as_deref(), args.offline) {
        (None, false) => return Ok(None),
        (Some(file), false) => Cassette::recording(file)?,
        (file, true) => Cassette::offline(file)?,
    };
    if let (Some(file), Some(line)) = (&args.file, cassette.torn_line()) {
        print_message(&format!("{} line {line} is incomplete and is ignored", file.display()));
    }
    Ok(Some(Arc::new(cassette)))
}

/// Prints a summary. Missing answers and failed writes are an error.
pub(crate) fn close(args: &CassetteArgs, cassette: Option<&Cassette>) -> anyhow::Result<()> {
    let Some(tally) = cassette.map(Cassette::stats) else { return Ok(()) };
    if let Some(file) = &args.file {
        print_message(&format!("{}: {}", file.display(), summary(&tally)));
    }
    if let Some(failure) = tally.failure {
        anyhow::bail!("{failure}; later answers are only in the run");
    }
    if tally.missed > 0 {
        return Err(MissingRecordingError { questions: tally.missed, cassette: args.file.clone() }.into());
    }
    Ok(())
}

fn summary(tally: &CassetteStats) -> String {
    let mut done = format!("{} replayed, {} recorded", count(tally.replayed, "answer"), tally.recorded);
    if tally.repeated > 0 {
        done += &format!("; {} of them reused, because fewer are recorded than requested", tally.repeated);
    }
    done
}
