//! The version of the code that a case is cut from or a run may read.

use cases::{Origin, OriginKind, WorkspaceState};
use workspace::{GitState, Snapshot};

/// Identifies one state of a workspace's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeVersion {
    /// Display name: that of the repository or the folder.
    pub name: String,
    /// The code as described in `run.json`.
    pub state: WorkspaceState,
}

impl CodeVersion {
    /// Describes the code in a snapshot, with the git state of its folder.
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

    /// Returns the origin of a case cut from this code.
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
