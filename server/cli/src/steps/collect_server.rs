//! The client of a server of traces, from the settings and the command line.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use collect::client::{ClientError, CollectClient, ServerAddress};
use config::Collect;

use crate::args::CollectServerArgs;
use crate::exit::UsageError;
use crate::output;
use crate::steps::settings_sources::SettingsSources;

/// Returns the client. `shared_with` is the server that the repository is shared with, if it is.
pub(crate) fn client(
    args: &CollectServerArgs,
    root: &Path,
    shared_with: Option<&str>,
) -> anyhow::Result<CollectClient> {
    let settings = SettingsSources::new(args.settings.file.as_deref()).config(root)?.collect;
    let url = server_url([args.server.as_deref(), shared_with, settings.url.as_deref()])?;
    if settings.token.is_none() && settings.tls_identity.is_none() {
        return Err(UsageError(
            "there is no token; set `collect.token_env` in the settings to an environment variable that holds it, or `collect.tls_identity` \
             to your certificate"
                .to_owned(),
        )
        .into());
    }
    let address = server_address(&settings, url)?;
    CollectClient::new(&address, Duration::from_secs(args.wait)).map_err(client_error)
}

/// Returns the first address that is given.
pub(crate) fn server_url<const SOURCES: usize>(sources: [Option<&str>; SOURCES]) -> Result<&str, UsageError> {
    sources.into_iter().flatten().next().ok_or_else(|| {
        UsageError(
            "no server is named; name it with --server, or set `collect.url` in the settings".to_owned(),
        )
    })
}

fn server_address(settings: &Collect, url: &str) -> anyhow::Result<ServerAddress> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", output::path(path)));
    Ok(ServerAddress {
        url: url.to_owned(),
        token: settings.token.clone(),
        root_certificates: settings.tls_roots.as_deref().map(read).transpose()?,
        identity: settings.tls_identity.as_deref().map(read).transpose()?,
    })
}

/// Returns the error of the command: a refusal can be remedied by the user.
pub(crate) fn client_error(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Refused { .. } => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}
