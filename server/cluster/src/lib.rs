//! Makes the requests of a run on the nodes of a Ray cluster.
//!
//! ```text
//! RayRunner --JSON Lines--> python -m ghostbench_ray --Arrow--> worker actor --JSON Lines--> ghostbench ray-worker
//!    ^  |                                                           |                              |
//!    |  +-- PendingAttempts: what is in flight, lost, delivered     +-- limiter actor <-- leases --+
//!    +---------------------------------- rows ---------------------------------------------------- +
//! ```
//!
//! The plan, the limits of the run and its rows stay with the process that the user started: it hands out batches of attempts, and passes
//! each answer to `replay` as if it had been made here. Workers answer with the code of `replay` as well. The Python package only
//! carries batches and rows, and knows neither cases nor engines.
//!
//! Must never count an attempt twice or lose one, whatever nodes, workers and the package do: an attempt is open until its first row,
//! later rows of it are dropped, and attempts of a lost batch are sent again. Must never send anything to another address than the
//! user's.

mod error;
mod leases;
mod messages;
mod pending_attempts;
mod ray_driver;
mod ray_runner;
mod worker;

pub use error::ClusterError;
pub use messages::{
    CarriedFile, ClusterJob, DriverVersions, EngineRate, SettingsLayer, WorkerJob, WorkspaceFile,
};
pub use ray_driver::versions;
pub use ray_runner::RayRunner;
pub use worker::{Worker, WorkerConnection};
