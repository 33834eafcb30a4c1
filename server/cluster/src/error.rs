//! Errors of runs on a cluster. Messages contain the remedy if it is the same everywhere.

use std::io;
use std::path::PathBuf;

use cases::ParseError;
use replay::ReplayError;
use thiserror::Error;

/// Why a run cannot use a cluster.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// Python cannot be started.
    #[error("cannot start {}: {reason}; name another Python with --python or GHOSTBENCH_PYTHON", program.display())]
    Python {
        /// The program.
        program: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// Python has no usable package `ghostbench_ray`.
    #[error(
        "{} cannot use the package ghostbench-ray: {reason}; install it there with the cluster's version of Ray: pip install \
         ghostbench-ray=={version} ray==VERSION, or name another Python with --python or GHOSTBENCH_PYTHON",
        program.display()
    )]
    Package {
        /// The program.
        program: PathBuf,
        /// Its last output.
        reason: String,
        /// The version of this program, which is that of the package.
        version: &'static str,
    },
    /// The package of another release.
    #[error(
        "{} has ghostbench-ray {theirs}, and this is Ghostbench {ours}; install the same version there: pip install ghostbench-ray=={ours}",
        program.display()
    )]
    Version {
        /// The program.
        program: PathBuf,
        /// The package's version.
        theirs: String,
        /// The version of this program.
        ours: &'static str,
    },
    /// The package ended before the run.
    #[error("the connection to the cluster ended: {reason}")]
    Ended {
        /// Its last output.
        reason: String,
    },
    /// The package does not answer.
    #[error("the connection to the cluster gave no sign of life for {seconds} s")]
    Silent {
        /// How long.
        seconds: u64,
    },
    /// The cluster cannot be used.
    #[error("{reason}")]
    Cluster {
        /// Why, and the remedy.
        reason: String,
    },
    /// A message that is none.
    #[error("invalid message from the cluster: {0}")]
    Message(#[from] serde_json::Error),
    /// A row that is none.
    #[error("invalid row from the cluster: {0}")]
    Row(#[from] ParseError),
    /// A row that belongs to no request.
    #[error("a row from the cluster answers case {case} by engine `{engine}`, which the run does not have")]
    UnknownRow {
        /// The case.
        case: String,
        /// The engine.
        engine: String,
    },
    /// Answers that crashed the workers.
    #[error(
        "{patches} answers have no verdict, such as that of engine `{engine}` to case {case}: the workers of the cluster ended while they were \
         judged; the messages above say why. Judge them on one machine, without --ray"
    )]
    NotJudged {
        /// Number of different answers.
        patches: usize,
        /// The case of the first one.
        case: String,
        /// Its engine.
        engine: String,
    },
    /// An answer cannot be judged on this node.
    #[error("{0}")]
    Judging(#[from] ReplayError),
    /// A pipe broke.
    #[error("the connection to the cluster broke: {0}")]
    Pipe(#[from] io::Error),
}
