//! `ghostbench/didIdentifyChange`: the client knows how the last change of a document came about.

use cases::Provenance;
use trial::EventKind;

use crate::ext::{DidIdentifyChangeParams, IdentifiedProvenance};
use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_identify_change(state: &mut OrderedState, params: DidIdentifyChangeParams) {
    let provenance = match params.provenance {
        IdentifiedProvenance::Popup => Provenance::Popup,
        IdentifiedProvenance::Pasted => Provenance::Pasted,
        IdentifiedProvenance::Undo => Provenance::Undo,
        IdentifiedProvenance::Formatter => Provenance::Formatter,
        IdentifiedProvenance::OtherProvider => Provenance::OtherProvider,
    };
    let document = from_proto::document_key(&params.text_document.uri);
    state.record(|_| Some(EventKind::Identified { document, provenance }));
}
