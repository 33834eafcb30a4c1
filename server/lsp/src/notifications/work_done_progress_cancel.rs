//! `window/workDoneProgress/cancel`

use tower_lsp_server::gen_lsp_types::WorkDoneProgressCancelParams;

use crate::ordered_service::OrderedState;

pub(crate) fn work_done_progress_cancel(state: &mut OrderedState, params: WorkDoneProgressCancelParams) {
    state.server.progress_tasks.stop(&params.token);
}
