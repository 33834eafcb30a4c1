//! `ghostbench trial import`: reads a bundle into the store of a workspace.

use serde_json::json;
use trial::store::{StoreCounts, StoreHealth};
use trial::{Store, StoreSettings};

use crate::args::TrialImportArgs;
use crate::commands::trial::merge::read_bundle;
use crate::exit::UsageError;
use crate::output;
use crate::progress::Progress;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::trial_store::TrialPlace;

/// Rows between two flushes: fewer than the writer's queue holds.
const BATCH: usize = 100;

/// Runs the command.
pub(crate) fn run(args: &TrialImportArgs) -> anyhow::Result<()> {
    let bundle = read_bundle(&args.bundle)?;
    let place = TrialPlace::of(&args.workspace)?;
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&place.root)?;
    let Some(settings) = StoreSettings::from_config(&config, place.key.clone()) else {
        let message = "record.privacy is \"off\", so that nothing is stored; set it to \"full\", \"structure\" or \"metrics\"";
        return Err(UsageError(message.to_owned()).into());
    };
    let store = Store::open(&place.folder, &settings)?;
    let progress = Progress::new("imported", "opportunities");
    let total = bundle.rows.len();
    for (index, row) in bundle.rows.into_iter().enumerate() {
        store.put(row);
        if (index + 1) % BATCH == 0 || index + 1 == total {
            store.flush();
            progress.set(index as u64 + 1, total as u64);
        }
    }
    let StoreCounts { written, dropped } = store.counts();
    if let StoreHealth::Off { message } = store.health() {
        anyhow::bail!("{written} of {total} opportunities are imported: {message}");
    }
    progress.finish(&format!("{written} opportunities"));
    if args.json {
        let report =
            json!({ "imported": written, "dropped": dropped, "store": store.path().display().to_string() });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    Ok(output::print(&format!("{written} opportunities in {}\n", store.path().display()))?)
}
