//! `ghostbench lsp`: the language server, until its editor has had enough.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use config::{Config, Files, LayerKind, Variables};
use lsp::{End, Log, Served, Setup};

use crate::args::LspArgs;
use crate::exit::{Finding, Usage};
use crate::folders;
use crate::output::say;
use crate::steps::engines::{self, Instance, Instances};
use crate::steps::settings::{Sources, refuse_broken};
use crate::steps::use_threads;

/// What a server asks of us.
struct EditorSettings {
    sources: Sources,
    /// The engines that the command line names.
    names: Vec<String>,
    scripted: Option<Instance>,
    instances: Instances,
}

impl EditorSettings {
    fn new(args: &LspArgs) -> Result<EditorSettings, Usage> {
        let sources = Sources::new(args.settings.file.as_deref());
        let layers = sources.read(None).layers(&[], &sources.variables);
        refuse_broken(&layers, LayerKind::CommandLine)?;
        Ok(EditorSettings {
            sources,
            names: args.engines.clone(),
            scripted: args.scripted.as_deref().map(engines::scripted),
            instances: Instances::on(None),
        })
    }
}

impl lsp::Settings for EditorSettings {
    fn read(&self, root: Option<&Path>) -> Files {
        self.sources.read(root)
    }

    fn variables(&self) -> &Variables {
        &self.sources.variables
    }

    fn engines(&self, config: &Config) -> Served {
        engines::for_editor(config, &self.names, self.scripted.as_ref(), &self.instances)
    }
}

/// Runs the command.
pub(crate) fn run(args: &LspArgs) -> anyhow::Result<()> {
    use_threads(Some(lsp::background_threads()))?;
    if io::stdin().is_terminal() {
        say("an editor starts this and speaks the language server protocol with it; Ctrl-C ends it");
    }
    let level = args.log_level.into();
    let setup = Setup {
        settings: Arc::new(EditorSettings::new(args)?),
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
