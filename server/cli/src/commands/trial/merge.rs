//! `ghostbench trial merge`: puts bundles of several developers together.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use cases::Bundle;
use report::format::opportunities;
use serde_json::json;

use super::export::write;
use crate::args::TrialMergeArgs;
use crate::exit::UsageError;
use crate::output::{self, count, print_message, shell_quoted};

/// Runs the command.
pub(crate) fn run(args: &TrialMergeArgs) -> anyhow::Result<()> {
    let bundles: Vec<Bundle> =
        args.bundles.iter().map(|path| read_bundle(path)).collect::<anyhow::Result<_>>()?;
    let (merged, replaced) = Bundle::merge(bundles);
    if replaced > 0 {
        print_message(&format!(
            "{} in several bundles with different contents; the last bundle counts",
            opportunities(replaced as u64)
        ));
    }
    write(&args.out, &merged.print())?;
    let sheet = &merged.datasheet;
    if args.json {
        let report =
            json!({ "path": args.out.display().to_string(), "replaced": replaced, "datasheet": sheet });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    let developers = count(usize::try_from(sheet.developers)?, "developer");
    Ok(output::print(&format!(
        "{} of {developers} in {}\n",
        opportunities(sheet.opportunities),
        shell_quoted(&args.out)
    ))?)
}

/// Reads a bundle.
pub(super) fn read_bundle(path: &Path) -> anyhow::Result<Bundle> {
    Bundle::parse(&read_text(path)?).with_context(|| output::path(path))
}

/// Reads a file that the user named.
pub(super) fn read_text(path: &Path) -> anyhow::Result<String> {
    match fs::read_to_string(path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound || path.is_dir() => {
            Err(UsageError(format!("{}: {reason}; name another file", output::path(path))).into())
        }
        text => text.with_context(|| format!("cannot read {}", output::path(path))),
    }
}
