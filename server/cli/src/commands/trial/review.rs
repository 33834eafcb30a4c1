//! `ghostbench trial review`: shows opportunities, and remembers which ones were shown in full.

use std::ops::ControlFlow;

use cases::to_line;
use report::format::opportunities;
use trial::StoreReader;
use trial::store::{StoreFilter, StoredOpportunity, mark_reviewed};

use crate::args::TrialReviewArgs;
use crate::output::{self, print_message};
use crate::steps::trial_rows;
use crate::steps::trial_store::TrialPlace;
use crate::views;

/// Rows that are marked at once.
const BATCH: usize = 200;

/// Runs the command.
pub(crate) fn run(args: &TrialReviewArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let filter = StoreFilter { reviewed: args.new.then_some(false), ..place.filter(&args.filter)? };
    let path = place.store();
    let reader = StoreReader::open(&path)?;
    let hidden = trial_rows::blind_names(&[], &args.workspace, args.filter.trial.as_deref())?;
    let (mut shown, mut batch) = (0, Vec::new());
    // The pipe may be closed before all is shown; only what was printed counts as reviewed.
    let mut failed = None;
    reader.visit(&filter, |row: StoredOpportunity| {
        let mut shown_row = row.clone();
        if let Some(hidden) = &hidden {
            hidden.hide(&mut shown_row.opportunity);
        }
        let text = match (args.json, args.full) {
            (true, true) => to_line(&shown_row.opportunity),
            (true, false) => views::trial::short_json(&shown_row),
            (false, is_full) => views::trial::opportunity(&shown_row, is_full),
        };
        if let Err(error) = output::print(&text) {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        shown += 1;
        if args.full {
            batch.push(row.opportunity);
        }
        ControlFlow::Continue(())
    })?;
    let mut marked = 0;
    for rows in batch.chunks(BATCH) {
        marked += mark_reviewed(&path, rows)?;
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let shown = opportunities(shown);
    print_message(&match args.full {
        true => format!(
            "{shown}; {marked} {} reviewed and can be exported",
            if marked == 1 { "is" } else { "are" }
        ),
        false => {
            format!("{shown}, in short; --full shows all that an export contains, and marks it as reviewed")
        }
    });
    Ok(())
}
