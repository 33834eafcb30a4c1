//! A PostgreSQL server for one test, reachable by a socket in a temporary folder.
//!
//! The programs are those that `GHOSTBENCH_POSTGRES` names, or that are in the search path. PostgreSQL does not run as root; then it runs
//! as the user with the fewest rights.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use tempfile::TempDir;

/// Number of the user without rights, and of its group, on all systems.
const NOBODY: u32 = 65534;

/// How long the server may take to start.
const START_TIME: Duration = Duration::from_secs(60);

/// A running server. Dropping it ends the server and deletes its files.
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    process: Child,
}

impl PostgresServer {
    /// Starts a server with an empty database; `None` if PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn start() -> Option<PostgresServer> {
        let programs = programs()?;
        let folder = TempDir::new().expect("there is room for temporary files");
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("root may give files away");
        }
        let data = folder.path().join("data");
        let mut initdb = command(&programs, "initdb", folder.path());
        let done = initdb
            .args(["--auth=trust", "--username=ghostbench", "--no-sync", "--encoding=UTF8", "-D"])
            .arg(&data);
        let done = done.output().expect("initdb starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let process = spawn(&programs, folder.path());
        let mut server = PostgresServer { folder, programs, process };
        server.wait();
        Some(server)
    }

    /// Stops the server; its data stays.
    pub fn stop(&mut self) {
        // A fast shutdown also releases its shared memory.
        let stopped = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        if !stopped.is_ok_and(|status| status.success()) {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }

    /// Starts the stopped server again.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn restart(&mut self) {
        self.process = spawn(&self.programs, self.folder.path());
        self.wait();
    }

    /// Lets its user in with this password only.
    ///
    /// # Panics
    ///
    /// If it does not start again.
    #[track_caller]
    pub fn require_password(&mut self, password: &str) {
        self.query(&format!("ALTER USER ghostbench PASSWORD '{password}'"));
        self.stop();
        fs::write(self.folder.path().join("data/pg_hba.conf"), "local all all scram-sha-256\n")
            .expect("the temporary folder is ours");
        self.restart();
    }

    /// Returns the result of a query, as `psql` prints it without a table.
    ///
    /// # Panics
    ///
    /// If it fails.
    #[track_caller]
    pub fn query(&self, sql: &str) -> String {
        let mut psql = command(&self.programs, "psql", self.folder.path());
        let done =
            psql.args(["--no-psqlrc", "-At", "-c", sql]).arg(self.address()).output().expect("psql starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Returns the address of its database, as keys and values.
    pub fn address(&self) -> String {
        format!("host={} user=ghostbench dbname=postgres", self.folder.path().display())
    }

    fn wait(&mut self) {
        let (start, file) = (Instant::now(), self.folder.path().join("data/postmaster.pid"));
        // The last line says whether connections are accepted.
        while !fs::read_to_string(&file)
            .is_ok_and(|text| text.lines().last().is_some_and(|line| line.trim() == "ready"))
        {
            assert!(start.elapsed() < START_TIME, "postgres does not start");
            let ended = self.process.try_wait().expect("it is our child");
            assert!(ended.is_none(), "postgres ended: {ended:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(programs: &Path, folder: &Path) -> Child {
    command(programs, "postgres", folder)
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("postgres starts")
}

/// Returns the folder of the programs.
fn programs() -> Option<PathBuf> {
    let chosen = env::var_os("GHOSTBENCH_POSTGRES").map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&paths).map(|folder| folder.join("postgres"));
    let program = chosen.into_iter().chain(installed).find(|program| program.is_file())?;
    // The other programs are beside the real one, which may be behind a link.
    Some(program.canonicalize().ok()?.parent()?.to_owned())
}

fn command(programs: &Path, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(programs.join(name));
    command.current_dir(folder).stdin(Stdio::null()).env("LC_ALL", "C");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
