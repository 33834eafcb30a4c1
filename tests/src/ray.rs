//! A Ray cluster on this machine, and Pythons that stand in for one.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::unix::set_mode;
use crate::{Project, component};

/// Starts a cluster.
const CLUSTER: &str = include_str!("ray/cluster.py");

/// Stands in for the Python package, without a cluster.
const STAND_IN: &str = include_str!("ray/stand_in.py");

/// A Ray cluster. Dropping it ends all its processes.
pub struct RayCluster {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    address: String,
}

/// Returns the Python that has Ray. If it is missing, the test is skipped, or fails under CI.
pub fn ray_python() -> Option<PathBuf> {
    component("ray-python")
}

/// Returns the folder of our Python package.
pub fn ray_package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/ghostbench-ray/src")
}

impl RayCluster {
    /// Starts a cluster with a head and this number of nodes that make requests; `None` without Ray.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn start(nodes: usize) -> Option<RayCluster> {
        let mut process = Command::new(ray_python()?)
            .args(["-c", CLUSTER, &nodes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python starts");
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let stdout = BufReader::new(stdout.expect("it is piped"));
        let mut cluster = RayCluster { process, stdin, stdout, address: String::new() };
        let started = cluster.next_message();
        cluster.address = started["address"].as_str().expect("an address").to_owned();
        Some(cluster)
    }

    /// Returns its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Kills a node, by its number from 0, with everything on it.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[track_caller]
    pub fn kill_node(&mut self, number: usize) {
        self.tell(&format!("kill {number}"));
    }

    /// Waits until no command uses a node, with all nodes alive.
    #[track_caller]
    pub fn wait_until_idle(&mut self) {
        self.tell("idle");
    }

    #[track_caller]
    fn tell(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        writeln!(stdin, "{line}").expect("the cluster lives");
        self.next_message();
    }

    #[track_caller]
    fn next_message(&mut self) -> serde_json::Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the cluster lives");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the cluster ended: {line:?}"))
    }

    /// Returns `ghostbench` with a Python that can use the cluster.
    #[track_caller]
    pub fn ghostbench(&self, project: &Project, arguments: &str) -> Command {
        with_ray(project, &format!("{arguments} --yes --ray {}", self.address))
    }
}

impl Drop for RayCluster {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.process.wait();
    }
}

/// Returns `ghostbench` with the Python that has Ray and our package, if there is one.
#[track_caller]
pub fn with_ray(project: &Project, arguments: &str) -> Command {
    let mut command = project.ghostbench(arguments);
    if let Some(python) = env::var_os("GHOSTBENCH_RAY_PYTHON") {
        command.env("GHOSTBENCH_PYTHON", python);
    }
    command.env("PYTHONPATH", ray_package());
    command
}

/// Returns `ghostbench` with a script in place of Python. It runs one worker here and behaves as `mode` says; the script describes the
/// modes.
///
/// # Panics
///
/// If the script cannot be written.
#[track_caller]
pub fn with_stand_in(project: &Project, mode: &str, arguments: &str) -> Command {
    let script = script(project, "stand_in.py", STAND_IN);
    let mut command = project.ghostbench(&format!("{arguments} --yes --python {}", script.display()));
    command.env("STAND_IN_MODE", mode).env("STAND_IN_VERSION", env!("CARGO_PKG_VERSION"));
    command
}

/// Writes an executable script outside of the workspace, and returns its path.
///
/// # Panics
///
/// If it cannot be written.
#[track_caller]
pub fn script(project: &Project, name: &str, text: &str) -> PathBuf {
    let path = project.sibling_path(name);
    fs::write(&path, text).expect("the temporary folder is ours");
    set_mode(&path, 0o755);
    path
}
