//! `ghostbench trial forget`: deletes opportunities, and all traces of their texts in the files of the store.

use serde_json::json;
use trial::StoreReader;
use trial::store::{ForgetScope, StoreFilter, forget};

use report::format::opportunities;

use crate::args::TrialForgetArgs;
use crate::exit::UsageError;
use crate::output::{self, print_message};
use crate::progress::Progress;
use crate::steps::trial_store::{TrialPlace, confirm};

/// Digits of an id.
const ID_DIGITS: usize = 32;

/// Runs the command.
pub(crate) fn run(args: &TrialForgetArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let (scope, filter) = scope(args, &place)?;
    let selected = StoreReader::open(&place.store())?.count(&filter)?;
    confirm(&format!("Delete {} for good?", opportunities(selected)), args.yes)?;
    let progress = Progress::spinner("deleting");
    let forgotten = forget(&place.store(), &scope, &place.key)?;
    drop(progress);
    for file in &forgotten.set_aside {
        print_message(&format!(
            "{} is a damaged store that may contain them too; --all deletes it",
            output::path(file)
        ));
    }
    if args.json {
        let aside: Vec<String> = forgotten.set_aside.iter().map(|file| file.display().to_string()).collect();
        return Ok(output::print(&format!(
            "{:#}\n",
            json!({ "forgotten": forgotten.rows, "set_aside": aside })
        ))?);
    }
    Ok(output::print(&format!(
        "{} {} deleted; exported files are not changed\n",
        opportunities(forgotten.rows as u64),
        if forgotten.rows == 1 { "is" } else { "are" }
    ))?)
}

fn scope(args: &TrialForgetArgs, place: &TrialPlace) -> Result<(ForgetScope, StoreFilter), UsageError> {
    let all = StoreFilter::default();
    if let Some(id) = &args.id {
        if id.len() != ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(UsageError(format!(
                "--id needs all {ID_DIGITS} digits; `ghostbench trial review` shows them"
            )));
        }
        return Ok((ForgetScope::Id(id.clone()), StoreFilter { id: Some(id.clone()), ..all }));
    }
    if let Some(path) = &args.file {
        let path = place.relative(path)?;
        let filter = StoreFilter { place: Some(place.key.hash(&path)), ..all };
        return Ok((ForgetScope::Path(path), filter));
    }
    if args.all {
        return Ok((ForgetScope::All, all));
    }
    let filter = StoreFilter { from: args.since, until: args.until, ..all };
    let to = args.until.map_or(i64::MAX, |until| until - 1);
    Ok((ForgetScope::Time { from: args.since.unwrap_or_default(), to }, filter))
}
