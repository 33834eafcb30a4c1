//! Makes the requests of a run, and judges its answers, on the nodes of a Ray cluster.
//!
//! ```text
//! RayRunner, RayJudge
//!    |  ^
//! dispatch  --JSON Lines--> python -m ghostbench_ray --Arrow--> worker actor --JSON Lines--> ghostbench ray-worker
//!    ^  |                                                           |                              |
//!    |  +-- PendingAttempts: what is in flight, lost, delivered     +-- limiter actor <-- leases --+
//!    +---------------------------------- rows ---------------------------------------------------- +
//! ```
//!
//! The plan, the limits of the run and its rows stay with the process that the user started: it hands out batches of attempts, and passes
//! each answer or judgement to `replay` as if it had been made here. Workers use the code of `replay` as well. The Python package only
//! carries batches and rows, and knows neither cases nor engines.
//!
//! Must never count an attempt twice or lose one, whatever nodes, workers and the package do: an attempt is open until its first row,
//! later rows of it are dropped, and attempts of a lost batch are sent again. Must never send anything to another address than the
//! user's.

mod dispatch;
mod error;
mod judge_worker;
mod leases;
mod messages;
mod pending_attempts;
mod ray_driver;
mod ray_judge;
mod ray_runner;
mod request_worker;
mod worker;

pub use dispatch::RayCluster;
pub use error::ClusterError;
pub use judge_worker::JudgeWorker;
pub use messages::{
    CarriedFile, CarriedWorkspace, ClusterJob, DriverVersions, EngineRate, JudgingTask, RequestTask,
    SettingsLayer, WorkerJob, WorkerTask, WorkspaceText,
};
pub use ray_driver::versions;
pub use ray_judge::RayJudge;
pub use ray_runner::RayRunner;
pub use request_worker::RequestWorker;
pub use worker::{Worker, WorkerConnection};
