//! Finds cases whose right answer an editor would not show unchanged: no engine could be right on them.

use cases::Case;
use completion::{CompletionSettings, DocumentText, WorkspaceIndex, complete};
use engines::{Script, ScriptedEngine};
use syntax::Language;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::steps::run_replay::runtime;

/// An engine that answers with the truth, in the pipeline of all engines.
pub(crate) struct PerfectAnswer {
    runtime: Runtime,
    settings: CompletionSettings,
}

impl PerfectAnswer {
    pub(crate) fn new() -> anyhow::Result<PerfectAnswer> {
        Ok(PerfectAnswer { runtime: runtime()?, settings: CompletionSettings::for_replay() })
    }

    /// Returns whether the truth is shown unchanged.
    pub(crate) fn is_shown(&self, case: &Case) -> bool {
        let Some(language) = Language::from_name(&case.language) else { return false };
        let document = DocumentText {
            path: case.path.as_str().into(),
            language,
            text: [&*case.prefix, &case.suffix].concat().into(),
        };
        let engine =
            ScriptedEngine::new("perfect", Script { pieces: vec![case.truth.clone()], ..Script::default() });
        let snapshot = WorkspaceIndex::empty().snapshot(document).with_context([].into());
        let cancel = CancellationToken::new();
        let answer = complete(&snapshot, case.prefix.len(), &engine, &self.settings, &cancel);
        self.runtime.block_on(answer).text == case.truth
    }
}
