//! `ghostbench lsp`: the language server, until its editor has had enough.

use std::io::{self, IsTerminal};

use anyhow::bail;
use lsp::{End, Log, Setup};

use crate::args::LspArgs;
use crate::exit::Finding;
use crate::folders;
use crate::output::say;
use crate::steps::{engines, use_threads};

/// Runs the command.
pub(crate) fn run(args: &LspArgs) -> anyhow::Result<()> {
    use_threads(Some(lsp::background_threads()))?;
    if io::stdin().is_terminal() {
        say("an editor starts this and speaks the language server protocol with it; Ctrl-C ends it");
    }
    let level = args.log_level.into();
    let setup = Setup {
        engines: engines::for_editor(&args.engines, args.scripted.as_deref()),
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
