//! `ghostbench collect serve`: receives the opportunities that developers share, until Ctrl-C.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use collect::server::CollectServer;
use http_server::{TlsAcceptor, TlsFiles};
use serde_json::json;
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::args::CollectServeArgs;
use crate::exit::{InterruptedError, UsageError};
use crate::folders;
use crate::interrupt;
use crate::output::{print, print_message};
use crate::steps::collect_store;
use crate::steps::settings_sources::SettingsSources;

/// Threads for the database and for checking rows.
const BLOCKING_THREADS: usize = 64;

/// How long before its expiry a certificate is worth a warning: renewing one may need other people.
const EXPIRY_NOTICE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Runs the command.
pub(crate) fn run(args: &CollectServeArgs) -> anyhow::Result<()> {
    let sources = SettingsSources::new(args.settings.file.as_deref());
    let here = std::env::current_dir().context("cannot find the current folder")?;
    let settings = sources.config(&here)?.collect;
    let given = args.listen.clone().unwrap_or_else(|| settings.listen.clone());
    let address = address(&given, args)?;
    let files = args.tls_certificate.clone().zip(args.tls_key.clone()).map(|(certificate, key)| TlsFiles {
        certificate,
        key,
        client_authorities: args.tls_clients.clone(),
    });
    let tls = files.as_ref().map(TlsFiles::acceptor).transpose()?;
    let log = folders::collect_log().map(|path| lsp::LogSettings { path, level: args.log_level.into() });
    lsp::start_logging(log.as_ref());
    if let Some(files) = files
        && let Some(expiry) = files.expiry()?
        && let Some(warning) = expiry_warning(&files.certificate, expiry, SystemTime::now())
    {
        tracing::warn!("{warning}");
        print_message(&warning);
    }
    let runtime = runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let end = runtime.block_on(async {
        tokio::select! {
            // Signals count from the start, also while the database is not reachable.
            biased;
            stopped = interrupt::stop_signal() => {
                stopped.context("cannot wait for signals")?;
                Err(InterruptedError { remedy: String::new() }.into())
            }
            served = serve(args, &settings, address, tls) => served,
        }
    });
    runtime.shutdown_background();
    end
}

/// Warns of a certificate that clients refuse, or will soon.
fn expiry_warning(certificate: &Path, expiry: SystemTime, now: SystemTime) -> Option<String> {
    let (file, time) = (certificate.display(), humantime::format_rfc3339_seconds(expiry));
    let remedy = "renew it and restart the server";
    match expiry.duration_since(now) {
        Err(_) => {
            Some(format!("the certificate in {file} expired at {time}, and clients refuse it; {remedy}"))
        }
        Ok(left) if left <= EXPIRY_NOTICE => {
            Some(format!("the certificate in {file} expires at {time}; {remedy}"))
        }
        Ok(_) => None,
    }
}

async fn serve(
    args: &CollectServeArgs,
    settings: &config::Collect,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
) -> anyhow::Result<()> {
    let store = collect_store::open_when_reachable(&args.store, Duration::from_secs(args.wait)).await?;
    let listener = http_server::bind(address).await?;
    let address = listener.local_addr().unwrap_or(address);
    let scheme = if tls.is_some() { "https" } else { "http" };
    match args.json {
        true => print(&format!("{}\n", json!({ "address": address.to_string(), "scheme": scheme })))?,
        false => print_message(&format!(
            "receiving at {scheme}://{address}; create accounts with `ghostbench collect token add`; press Ctrl-C to stop"
        )),
    }
    let stopping = CancellationToken::new();
    let _stops = stopping.clone().drop_guard();
    CollectServer::new(store, settings).run(listener, tls, stopping).await;
    Ok(())
}

/// Returns the address to listen at. Tokens and code must not travel unencrypted.
fn address(given: &str, args: &CollectServeArgs) -> anyhow::Result<SocketAddr> {
    let plain = given.trim().replace("localhost:", "127.0.0.1:");
    let address: SocketAddr = plain.parse().map_err(|_| {
        UsageError(format!("{given:?} is no address with a port; write for example \"127.0.0.1:7118\""))
    })?;
    match address.ip().is_loopback() || args.tls_certificate.is_some() || args.behind_proxy {
        true => Ok(address),
        false => Err(UsageError(format!(
            "other machines can reach {address}, and connections are not encrypted; name a certificate with --tls-certificate and \
             --tls-key, or say --behind-proxy if a proxy encrypts"
        ))
        .into()),
    }
}
