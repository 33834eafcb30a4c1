//! `window/workDoneProgress/cancel`

use tower_lsp_server::gen_lsp_types::WorkDoneProgressCancelParams;

use crate::ordered::State;

pub(crate) fn work_done_progress_cancel(state: &mut State, params: WorkDoneProgressCancelParams) {
    state.server.works.stop(&params.token);
}
