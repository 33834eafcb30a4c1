//! The one way to a completion: editor, command line, trial and replay all call [`complete`].
//!
//! ```text
//! snapshot + offset --gate--> --gather--> request --engine--> pieces --stop--> --clean--> --gate--> outcome
//! ```
//!
//! Everything that looks at the document is here: gates, context, when to stop reading, and what is cut from the answer. It knows
//! neither editors' protocols nor cases. A [`Snapshot`] holds the open document as it is on the screen, and the rest of the
//! workspace without that file, so text that was removed from the document cannot be reached from a request at all.

mod clean;
mod complete;
mod embedder;
mod extent;
mod gate;
mod recent;
mod settings;
mod trace;
mod world;

pub use complete::complete;
pub use embedder::ServerEmbedder;
pub use gate::{Gate, MAX_DOCUMENT_BYTES};
pub use recent::{Basis, Recent};
pub use settings::{Settings, fingerprint};
pub use trace::{ContextItem, Cut, Outcome, Sent, Status, Timings, Trace};
pub use world::{Around, Document, Snapshot, World};
