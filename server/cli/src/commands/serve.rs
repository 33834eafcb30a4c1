//! `ghostbench serve`: opens the front door for completion plugins until Ctrl-C.

use std::path::{Path, PathBuf};

use anyhow::Context;
use config::{LayerKind, Serve};
use engines::RegisteredEngine;
use recording::{ClockKind, TrialSession};
use serde_json::{Value, json};
use session::{
    BackgroundPool, EngineSource, IndexingOutcome, IndexingReport, NewFolder, SessionEvent, SessionSetup,
};
use tokio::runtime;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::args::ServeArgs;
use crate::exit::{InterruptedError, UsageError};
use crate::folders;
use crate::output::{print, print_message};
use crate::steps::engine_registry::registry;
use crate::steps::settings_sources::{SettingsSources, refuse_broken};
use crate::steps::use_threads;

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    use_threads(Some(session::background_threads()))?;
    let roots = args.folders.iter().map(|folder| root(folder)).collect::<anyhow::Result<Vec<_>>>()?;
    let sources = SettingsSources::new(args.settings.file.as_deref());
    let layers = sources.files.read(None).layers(&[], &sources.variables);
    refuse_broken(&layers, LayerKind::CommandLine)?;
    let setup = SessionSetup {
        files: sources.files,
        variables: sources.variables,
        engines: EngineSource {
            registry: registry(None),
            names: args.engine.iter().cloned().collect(),
            scripted: args.scripted.as_deref().map(RegisteredEngine::scripted_instance),
        },
        data: folders::data_folder("set the environment variable for it")?,
        cache: folders::cache(),
    };
    let level = args.log_level.into();
    let log = folders::server_log().map(|path| lsp::LogSettings { path, level });
    lsp::start_logging(log.as_ref());
    let background = BackgroundPool::start().context("cannot start threads")?;
    let runtime = runtime::Builder::new_multi_thread()
        .on_thread_start(|| {
            completion::take_short_turns();
        })
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let end = runtime.block_on(serve(args, setup, roots, background));
    runtime.shutdown_background();
    end
}

/// The folder without links, as the other commands know it.
fn root(folder: &Path) -> anyhow::Result<PathBuf> {
    let root = folder.canonicalize().ok().filter(|root| root.is_dir());
    Ok(root.ok_or_else(|| UsageError(format!("{} is no folder; name an existing one", folder.display())))?)
}

async fn serve(
    args: &ServeArgs,
    setup: SessionSetup,
    roots: Vec<PathBuf>,
    background: BackgroundPool,
) -> anyhow::Result<()> {
    let (events, received) = mpsc::unbounded_channel();
    let session = TrialSession::new(setup, ClockKind::System, background, events);
    session.folders.start(Value::Null);
    for root in roots {
        let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        session.folders.add(NewFolder { uri: format!("file://{}", root.display()), name, root });
    }
    tokio::spawn(show(received));
    let first = session.folders.first();
    let settings = session.settings_in(first.as_deref()).await.context("there are no settings")?;
    let mut serve: Serve = settings.config.serve.clone();
    serve.listen = args.listen.clone().unwrap_or(serve.listen);
    let door = serve::open(session.clone(), &serve, None).await?;
    match args.json {
        true => {
            let line = json!({"address": door.address.to_string(), "engine": settings.ghost_text.name});
            print(&format!("{line}\n"))?;
        }
        false => print_message(&format!(
            "the front door is open at http://{} for engine {}; press Ctrl-C to close it",
            door.address, settings.ghost_text.name
        )),
    }
    tokio::signal::ctrl_c().await.context("cannot wait for Ctrl-C")?;
    session.trial.finish_describing().await;
    session.stopping.cancel();
    session.trial.finish();
    Err(InterruptedError { remedy: String::new() }.into())
}

/// Prints what the user must know.
async fn show(mut events: UnboundedReceiver<SessionEvent>) {
    while let Some(event) = events.recv().await {
        match event {
            SessionEvent::IndexingStarted(indexing) => drop(tokio::spawn(show_indexing(indexing))),
            SessionEvent::FolderUnreadable(reason) => print_message(&reason),
            SessionEvent::FolderReadable(folder) => print_message(&format!("{folder} can be read again")),
            SessionEvent::SettingsProblems(problems) => {
                problems.iter().for_each(|problem| print_message(&problem.to_string()));
            }
            SessionEvent::Warning(message) | SessionEvent::UserWarning(message) => print_message(&message),
            SessionEvent::CasesAdded => {}
        }
    }
}

async fn show_indexing(indexing: IndexingReport) {
    // Without an outcome, the command ends.
    match indexing.outcome.await {
        Ok(IndexingOutcome::Ready { .. }) => print_message(&format!("{} is read", indexing.folder)),
        Ok(IndexingOutcome::Failed(reason)) => print_message(&reason),
        Err(_) => {}
    }
}
