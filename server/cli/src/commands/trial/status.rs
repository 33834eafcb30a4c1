//! `ghostbench trial status`: the trials of a workspace and the contents of its store.

use std::fs;

use serde_json::json;
use trial::definition::read_definitions;
use trial::store::{DayCount, StoreFilter};
use trial::{StoreError, StoreReader};

use crate::args::TrialPlaceArgs;
use crate::steps::trial_store::TrialPlace;
use crate::{output, views};

/// Runs the command.
pub(crate) fn run(args: &TrialPlaceArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.path)?;
    let definitions = read_definitions(&place.folder)?;
    let path = place.store();
    let (mut days, mut reviewed): (Vec<DayCount>, u64) = (Vec::new(), 0);
    match StoreReader::open(&path) {
        Err(StoreError::Missing { .. }) => {}
        reader => {
            let reader = reader?;
            days = reader.days(&StoreFilter::default())?;
            reviewed = reader.count(&StoreFilter { reviewed: Some(true), ..StoreFilter::default() })?;
        }
    }
    let bytes = fs::metadata(&path).map_or(0, |file| file.len());
    if args.json {
        let day = |day: &DayCount| {
            json!({
                "day": day.day,
                "opportunities": day.opportunities,
                "truths": day.truths,
                "shown": day.shown,
                "accepted": day.accepted,
            })
        };
        let report = json!({
            "trials": definitions,
            "store": path.display().to_string(),
            "bytes": bytes,
            "opportunities": days.iter().map(|day| day.opportunities).sum::<u64>(),
            "reviewed": reviewed,
            "days": days.iter().map(day).collect::<Vec<_>>(),
        });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    let text = views::trial::status(&definitions, &days, reviewed, bytes, &path, output::style());
    Ok(output::print(&text)?)
}
