//! `ghostbench collect join` and `leave`: the decision to share the opportunities of a repository.

use collect::protocol;
use collect::sharing::{Sharing, end_sharing, read_sharing, write_sharing};
use serde_json::{Value, json};

use crate::args::{CollectJoinArgs, CollectLeaveArgs};
use crate::exit::UsageError;
use crate::output;
use crate::steps::collect_server::{client, client_error, server_url};
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::trial_store::{TrialPlace, confirm, now};

/// Runs `join`.
pub(crate) fn run(args: &CollectJoinArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    if args.consent.trim().is_empty() {
        return Err(
            UsageError("the agreement is empty; say with --consent what you agree to".to_owned()).into()
        );
    }
    let settings = SettingsSources::new(args.settings.file.as_deref()).config(&place.root)?.collect;
    let server = server_url([args.server.as_deref(), settings.url.as_deref()])?.to_owned();
    let question = format!(
        "reviewed opportunities of {} with level {} will be sent to {server} by `ghostbench collect send`. Do you agree: \"{}\"?",
        output::path(&place.root),
        args.level,
        args.consent
    );
    confirm(&question, args.yes)?;
    let repository = place.key.hash(&place.root.display().to_string());
    let sharing =
        Sharing { server, consent: args.consent.clone(), level: args.level, repository, joined_at: now() };
    write_sharing(&place.folder, &sharing)?;
    match args.json {
        true => Ok(output::print(&format!("{:#}\n", json!(sharing)))?),
        false => Ok(output::print(&format!(
            "{} is shared with {}. Next: ghostbench trial review --full && ghostbench collect send\n",
            output::path(&place.root),
            sharing.server
        ))?),
    }
}

/// Runs `leave`.
pub(crate) fn leave(args: &CollectLeaveArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let sharing = read_sharing(&place.folder)?;
    let deleted: Option<Value> = match (&sharing, args.forget) {
        (Some(sharing), true) => {
            let client = client(&args.server, &place.root, Some(&sharing.server))?;
            let request = json!({ "repository": sharing.repository });
            Some(runtime()?.block_on(client.post(protocol::FORGET, &request)).map_err(client_error)?)
        }
        _ => None,
    };
    if !end_sharing(&place.folder)? {
        let message = format!("{} is not shared", output::path(&place.root));
        return Err(UsageError(message).into());
    }
    let count = deleted.as_ref().and_then(|deleted| deleted["opportunities"].as_u64());
    if args.json {
        return Ok(output::print(&format!("{:#}\n", json!({ "shared": false, "deleted": deleted })))?);
    }
    let deleted = count.map_or_else(String::new, |count| {
        format!("; {} deleted on the server", report::format::opportunities(count))
    });
    Ok(output::print(&format!("{} is not shared any more{deleted}\n", output::path(&place.root)))?)
}
