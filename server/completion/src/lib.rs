//! The one way to a completion: editor, command line, trial and replay all call [`complete`].
//!
//! ```text
//! snapshot + offset --gate--> --gather--> request --engine--> pieces --stop--> --clean--> --gate--> outcome
//! ```
//!
//! Everything that looks at the document is here: gates, context, when to stop reading, and what is cut from the answer. It knows
//! neither editors' protocols nor cases. A [`Snapshot`] holds the open document as it is on the screen, and the rest of the
//! workspace without that file, so text that was removed from the document cannot be reached from a request at all.
//!
//! An editor asks at every key. [`Live`] stands between it and [`complete`]: it keeps answers, shares the one that is being written and
//! waits for pauses. Whoever measures goes past it.

mod alternatives;
mod clean;
mod complete;
mod debounce;
mod embedder;
mod explain;
mod extent;
mod gate;
mod gathering;
mod generation;
mod live;
mod place;
mod recent;
mod settings;
mod trace;
mod world;

pub use builtin::{Passage, Typing};
pub use complete::{complete, complete_shared};
pub use debounce::{Response, Stands};
pub use embedder::ServerEmbedder;
pub use explain::{Explanation, Span, SpanSource};
pub use gate::{Gate, MAX_DOCUMENT_BYTES};
pub use gathering::Gathering;
pub use generation::{Generation, Verdict, judge};
pub use live::{Live, Question, Suggested};
pub use place::{Basis, Place};
pub use recent::Recent;
pub use settings::Settings;
pub use trace::{
    Alternative, Clock, ContextItem, Cut, Keeps, Outcome, Sent, Status, Timings, Trace, first_line,
};
pub use world::{Around, Document, PathGate, Snapshot, World};
