//! The store of a workspace's live trials: where it is, which rows are selected, questions to the user.

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use replay::RecordedSuite;
use trial::proposal::ProposalError;
use trial::store::{PlaceKey, STORE_FILE, StoreFilter};

use crate::args::TrialFilterArgs;
use crate::exit::UsageError;
use crate::folders;
use crate::output::{self, print_message};

/// Remedy for a missing home folder.
const SET_HOME: &str = "set the environment variable of your home folder";

/// The trials of one workspace.
pub(crate) struct TrialPlace {
    /// The workspace.
    pub(crate) root: PathBuf,
    /// The folder of its trials.
    pub(crate) folder: PathBuf,
    /// The secret key of this machine.
    pub(crate) key: PlaceKey,
}

impl TrialPlace {
    /// Returns the place of the workspace at `root`.
    pub(crate) fn of(root: &Path) -> anyhow::Result<TrialPlace> {
        if !root.is_dir() {
            let path = output::path(root);
            return Err(UsageError(format!("{path} is not a folder; name the folder of a workspace")).into());
        }
        let data = folders::data_folder(SET_HOME)?;
        let key = PlaceKey::new(data.hash_key()?.bytes());
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(TrialPlace { folder: data.trial(&root), root, key })
    }

    /// Returns the file of the store.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join(STORE_FILE)
    }

    /// Returns the suite of the cases recorded in the workspace.
    pub(crate) fn recorded_suite(&self) -> anyhow::Result<RecordedSuite> {
        Ok(folders::data_folder(SET_HOME)?.recorded_suite(&self.root))
    }

    /// Returns a path of the command line relative to the workspace, with `/` between its parts. It may be deleted since.
    pub(crate) fn relative(&self, path: &Path) -> Result<String, UsageError> {
        let whole =
            path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        let in_root = whole.strip_prefix(&self.root).ok().filter(|path| !path.as_os_str().is_empty());
        // A path that does not exist here may be named as the store knows it.
        let known = if path.is_relative() && !path.exists() { Some(path) } else { in_root };
        let parts =
            known.map(|path| path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()));
        let parts: Vec<String> = parts.map(Iterator::collect).unwrap_or_default();
        if parts.is_empty() {
            let message =
                format!("{} is not in the workspace {}", output::path(path), output::path(&self.root));
            return Err(UsageError(message));
        }
        Ok(parts.join("/"))
    }

    /// Returns the filter that the arguments describe.
    pub(crate) fn filter(&self, args: &TrialFilterArgs) -> Result<StoreFilter, UsageError> {
        let place = args.file.as_deref().map(|path| self.relative(path)).transpose()?;
        Ok(StoreFilter {
            id: args.id.clone(),
            trial: args.trial.clone(),
            language: args.language.clone(),
            place: place.map(|path| self.key.hash(&path)),
            from: args.since,
            until: args.until,
            reviewed: None,
        })
    }
}

/// Asks a question that only `y` or `yes` answers in the affirmative. Without a terminal, `--yes` has to be given.
pub(crate) fn confirm(question: &str, is_agreed: bool) -> anyhow::Result<()> {
    if is_agreed {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(UsageError(format!("{question} There is no terminal to answer; agree with --yes")).into());
    }
    print_message(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(UsageError("not confirmed; nothing was done".to_owned()).into()),
    }
}

/// Returns the error of the command for a trial that cannot be started or stopped: a wrong choice is a wrong command line.
pub(crate) fn proposal_error(error: ProposalError) -> anyhow::Error {
    match error {
        ProposalError::Definition(_) | ProposalError::Pause(_) | ProposalError::Random(_) => error.into(),
        _ => UsageError(error.to_string()).into(),
    }
}

/// Returns the present time, RFC 3339 in UTC.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
