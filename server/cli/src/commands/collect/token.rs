//! `ghostbench collect token`: the accounts of a server, in its database.

use anyhow::Context;
use collect::account::{AccountRole, CredentialHash, check_name, new_token};
use serde_json::json;

use crate::args::{
    CollectTokenAddArgs, CollectTokenArgs, CollectTokenCommand, CollectTokenListArgs, CollectTokenRevokeArgs,
    RoleArg,
};
use crate::exit::UsageError;
use crate::output::{self, print_message};
use crate::steps::collect_store;

/// Actor of the audit log for commands on the server's machine.
const OPERATOR: &str = "operator";

/// Runs the command.
pub(crate) fn run(args: &CollectTokenArgs) -> anyhow::Result<()> {
    match &args.command {
        CollectTokenCommand::Add(args) => add(args),
        CollectTokenCommand::List(args) => list(args),
        CollectTokenCommand::Revoke(args) => revoke(args),
    }
}

fn add(args: &CollectTokenAddArgs) -> anyhow::Result<()> {
    check_name(&args.name).map_err(|error| UsageError(error.to_string()))?;
    let role = match args.role {
        RoleArg::Developer => AccountRole::Developer,
        RoleArg::Analyst => AccountRole::Analyst,
        RoleArg::Admin => AccountRole::Admin,
    };
    let (token, credential) = match &args.certificate {
        Some(path) => (None, CredentialHash::of_certificate(&http_server::certificate_of(path)?)),
        None => {
            let token = new_token().context("the system has no random numbers")?;
            let credential = CredentialHash::of_token(&token);
            (Some(token), credential)
        }
    };
    let store = collect_store::open(&args.store)?;
    store.add_account(&args.name, role, &credential).map_err(collect_store::store_error)?;
    store.audit(OPERATOR, "token add", &args.name, role.name())?;
    if args.json {
        let report = json!({ "account": args.name, "role": role.name(), "token": token });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    match token {
        Some(token) => {
            print_message(&format!(
                "the token of {} ({role}), which is shown only now; it goes into the variable that `collect.token_env` names:",
                args.name
            ));
            Ok(output::print(&format!("{token}\n"))?)
        }
        None => Ok(output::print(&format!("{} ({role}) is known by its certificate\n", args.name))?),
    }
}

fn list(args: &CollectTokenListArgs) -> anyhow::Result<()> {
    let accounts = collect_store::open(&args.store)?.accounts()?;
    if args.json {
        return Ok(output::print(&format!("{:#}\n", json!({ "accounts": accounts })))?);
    }
    if accounts.is_empty() {
        print_message("there are no accounts; create one: ghostbench collect token add NAME");
    }
    let lines = accounts.iter().map(|account| {
        let state = if account.is_active { "" } else { ", revoked" };
        format!("{}: {}{state}\n", account.name, account.role)
    });
    Ok(output::print(&lines.collect::<String>())?)
}

fn revoke(args: &CollectTokenRevokeArgs) -> anyhow::Result<()> {
    let store = collect_store::open(&args.store)?;
    store.revoke(&args.name).map_err(collect_store::store_error)?;
    store.audit(OPERATOR, "token revoke", &args.name, "")?;
    match args.json {
        true => Ok(output::print(&format!("{:#}\n", json!({ "account": args.name, "revoked": true })))?),
        false => {
            Ok(output::print(&format!("{} has no access any more; its opportunities stay\n", args.name))?)
        }
    }
}
