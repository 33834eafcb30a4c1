//! Which code a case is cut from, or a run may read.

use cases::{Origin, OriginKind, WorkspaceState};
use workspace::{GitState, Snapshot};

/// What tells one state of a workspace's code from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeVersion {
    /// A name for people: the repository's, or the folder's.
    pub name: String,
    /// The code as `run.json` describes it.
    pub state: WorkspaceState,
}

impl CodeVersion {
    /// The code in a snapshot, with what git knows of its folder.
    pub fn new(snapshot: &Snapshot, git: Option<&GitState>) -> CodeVersion {
        let totals = snapshot.totals();
        let state = WorkspaceState {
            commit: git.map(|git| git.commit.clone()),
            dirty: git.map(|git| git.dirty),
            tree_hash: snapshot.tree_hash().to_owned(),
            files: totals.files as u64,
            lines: totals.lines as u64,
        };
        let repository = git.map(|git| git.repository.clone());
        let name = repository.or_else(|| folder_name(snapshot)).unwrap_or_else(|| "workspace".to_owned());
        CodeVersion { name, state }
    }

    /// Where a case that is made of this code comes from.
    pub fn origin(&self, kind: OriginKind) -> Origin {
        Origin {
            repository: Some(self.name.clone()),
            commit: self.state.commit.clone(),
            dirty: self.state.dirty,
            ..Origin::new(kind, &self.state.tree_hash)
        }
    }
}

fn folder_name(snapshot: &Snapshot) -> Option<String> {
    snapshot.root().canonicalize().ok()?.file_name()?.to_str().map(str::to_owned)
}
