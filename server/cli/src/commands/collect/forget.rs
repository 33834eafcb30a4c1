//! `ghostbench collect forget`: deletes the opportunities of a developer on the server.

use collect::protocol;
use report::format::opportunities;
use serde_json::json;

use crate::args::CollectForgetArgs;
use crate::output::{self, print_message};
use crate::steps::collect_server::{client, client_error};
use crate::steps::run_replay::runtime;
use crate::steps::trial_store::confirm;

/// Runs the command.
pub(crate) fn run(args: &CollectForgetArgs) -> anyhow::Result<()> {
    let here = std::env::current_dir()?;
    let client = client(&args.server, &here, None)?;
    let of = args.account.as_ref().map_or_else(|| "your".to_owned(), |name| format!("{name}'s"));
    confirm(&format!("all of {of} opportunities will be deleted on the server. Do you agree?"), args.yes)?;
    let request = match &args.account {
        Some(account) => json!({ "account": account }),
        None => json!({}),
    };
    let deleted = runtime()?.block_on(client.post(protocol::FORGET, &request)).map_err(client_error)?;
    let copies: Vec<&str> =
        deleted["pending_copies"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    if !copies.is_empty() {
        print_message(&format!(
            "these copies still have the rows, and delete them when they are next brought up to date: {}",
            copies.join(", ")
        ));
    }
    if args.json {
        return Ok(output::print(&format!("{deleted:#}\n"))?);
    }
    let count = deleted["opportunities"].as_u64().unwrap_or_default();
    Ok(output::print(&format!("{} deleted\n", opportunities(count)))?)
}
