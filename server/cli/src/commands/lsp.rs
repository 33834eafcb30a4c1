//! `ghostbench lsp`: the language server, until its editor has had enough.

use std::io::{self, IsTerminal};

use anyhow::bail;
use config::LayerKind;
use engines::RegisteredEngine;
use lsp::{End, EngineSource, Log, Setup};

use crate::args::LspArgs;
use crate::exit::Finding;
use crate::folders;
use crate::output::say;
use crate::steps::engines::registry;
use crate::steps::settings::{Sources, refuse_broken};
use crate::steps::use_threads;

/// Runs the command.
pub(crate) fn run(args: &LspArgs) -> anyhow::Result<()> {
    use_threads(Some(lsp::background_threads()))?;
    if io::stdin().is_terminal() {
        say("an editor starts this and speaks the language server protocol with it; Ctrl-C ends it");
    }
    let level = args.log_level.into();
    let sources = Sources::new(args.settings.file.as_deref());
    let layers = sources.files.read(None).layers(&[], &sources.variables);
    refuse_broken(&layers, LayerKind::CommandLine)?;
    let setup = Setup {
        files: sources.files,
        variables: sources.variables,
        engines: EngineSource {
            registry: registry(None),
            names: args.engines.clone(),
            scripted: args.scripted.as_deref().map(RegisteredEngine::scripted),
        },
        data: folders::data("set the environment variable for it")?,
        cache: folders::caches(),
        log: folders::server_log().map(|path| Log { path, level }),
    };
    match lsp::serve(setup)? {
        End::Shutdown | End::ClientGone => Ok(()),
        End::ExitWithoutShutdown => Err(Finding("the editor sent `exit` without `shutdown`").into()),
        End::BrokenHeaders(reason) => bail!(
            "cannot understand the editor: {reason}; a message begins with a header `Content-Length: BYTES` and a blank line"
        ),
        End::ClientDoesNotRead => bail!("the editor sends messages and reads none"),
    }
}
