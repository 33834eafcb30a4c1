//! The snapshot a request works on: all documents as they were when it arrived.

use std::sync::Arc;
use std::time::Instant;

use crate::documents::Documents;

/// The state at a request's arrival; immutable, cheap to clone.
#[derive(Clone)]
pub struct RequestSnapshot {
    /// The open documents.
    pub documents: Arc<Documents>,
    /// Message counter; of two requests the later one has the larger number.
    pub arrival: u64,
    /// Time of arrival.
    pub time: Instant,
}
