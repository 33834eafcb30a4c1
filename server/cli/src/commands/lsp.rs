//! `ghostbench lsp`: runs the language server until the client disconnects.

use std::io::{self, IsTerminal};

use anyhow::bail;
use config::LayerKind;
use engines::RegisteredEngine;
use lsp::{ClockKind, ExitReason, LogSettings, ServerSetup};
use session::{EngineSource, SessionSetup};

use crate::args::LspArgs;
use crate::exit::FindingError;
use crate::folders;
use crate::output::print_message;
use crate::steps::engine_registry::registry;
use crate::steps::settings_sources::{SettingsSources, refuse_broken};
use crate::steps::use_threads;

/// Runs the command.
pub(crate) fn run(args: &LspArgs) -> anyhow::Result<()> {
    use_threads(Some(session::background_threads()))?;
    if io::stdin().is_terminal() {
        print_message(
            "an editor starts this command and speaks the language server protocol with it; press Ctrl-C to stop",
        );
    }
    let level = args.log_level.into();
    let sources = SettingsSources::new(args.settings.file.as_deref());
    let layers = sources.files.read(None).layers(&[], &sources.variables);
    refuse_broken(&layers, LayerKind::CommandLine)?;
    let setup = ServerSetup {
        session: SessionSetup {
            files: sources.files,
            variables: sources.variables,
            engines: EngineSource {
                registry: registry(None),
                names: args.engines.clone(),
                scripted: args.scripted.as_deref().map(RegisteredEngine::scripted_instance),
            },
            data: folders::data_folder("set the environment variable for it")?,
            cache: folders::cache(),
        },
        log: folders::server_log().map(|path| LogSettings { path, level }),
        clock: if args.simulated_clock { ClockKind::Simulated } else { ClockKind::System },
    };
    match lsp::serve(setup)? {
        ExitReason::Shutdown | ExitReason::ClientGone => Ok(()),
        ExitReason::ExitWithoutShutdown => {
            Err(FindingError("the editor sent `exit` without `shutdown`").into())
        }
        ExitReason::BrokenHeaders(reason) => bail!(
            "cannot understand the editor: {reason}; a message begins with a header `Content-Length: BYTES` and a blank line"
        ),
        ExitReason::ClientDoesNotRead => bail!("the editor does not read messages"),
    }
}
