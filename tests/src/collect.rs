//! A running `ghostbench collect serve`, and developers that share with it.

use std::fs;
use std::process::Command;

use crate::front_door::{HttpReply, exchange};
use crate::{FrontDoor, ProcessOutcome, Project, RunningProcess};

/// Variable with the token of an account.
const TOKEN_VARIABLE: &str = "COLLECT_TEST_TOKEN";

/// The machine of a server with its database. Its server may be away.
pub struct CollectMachine {
    /// Home of the server.
    pub project: Project,
    /// Arguments that name the database.
    store: String,
    /// Address of PostgreSQL.
    database: Option<String>,
    /// Host and port, the same for all starts.
    pub address: String,
    server: Option<FrontDoor>,
}

impl CollectMachine {
    /// Starts a server over SQLite. `settings` are lines of its section `[collect]`.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn start(settings: &str) -> CollectMachine {
        CollectMachine::start_with("--folder ../server", None, settings)
    }

    /// Starts a server over a database of PostgreSQL.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn start_on_postgres(address: &str, settings: &str) -> CollectMachine {
        CollectMachine::start_with("--postgres-env TEST_DATABASE", Some(address.to_owned()), settings)
    }

    #[track_caller]
    fn start_with(store: &str, database: Option<String>, settings: &str) -> CollectMachine {
        let project = Project::new("");
        // Rows of the tests are of a fixed day, which is long ago at some time.
        let keep = if settings.contains("retention_days") { "" } else { "retention_days = 0\n" };
        fs::write(project.sibling_path("server.toml"), format!("[collect]\n{keep}{settings}\n"))
            .expect("the temporary folder is ours");
        let mut machine = CollectMachine {
            project,
            store: store.to_owned(),
            database,
            address: "127.0.0.1:0".to_owned(),
            server: None,
        };
        machine.restart();
        machine
    }

    /// Starts the server at its address.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn restart(&mut self) {
        let arguments =
            format!("collect serve --json --config ../server.toml --listen {} {}", self.address, self.store);
        let server = FrontDoor::start(self.command(&arguments));
        self.address.clone_from(&server.address);
        self.server = Some(server);
    }

    /// Kills the server, as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill();
        }
    }

    /// Returns `ghostbench` on the server's machine.
    #[track_caller]
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = self.project.ghostbench(arguments);
        command.envs(self.database.as_ref().map(|address| ("TEST_DATABASE", address)));
        command
    }

    /// Creates an account and returns its token.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[track_caller]
    pub fn token(&self, name: &str, role: &str) -> String {
        let command = self.command(&format!("collect token add {name} --role {role} {}", self.store));
        let token = RunningProcess::start(command).wait().expect_code(0).stdout.trim().to_owned();
        assert!(token.starts_with("gbc_"), "{token}");
        token
    }

    /// Runs a command about accounts on the server's machine.
    #[track_caller]
    pub fn run_token(&self, arguments: &str) -> ProcessOutcome {
        RunningProcess::start(self.command(&format!("collect token {arguments} {}", self.store))).wait()
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends a request with a token.
    #[track_caller]
    pub fn request(
        &self,
        method: &str,
        path: &str,
        token: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> HttpReply {
        let bearer = format!("Bearer {token}");
        let headers = [headers, &[("authorization", bearer.as_str())]].concat();
        exchange(&self.address, method, path, &headers, body)
    }

    /// Gets a path with a token.
    #[track_caller]
    pub fn get(&self, path: &str, token: &str) -> HttpReply {
        self.request("GET", path, token, &[], b"")
    }
}

/// Returns `ghostbench` of an account: in the folder of a project, with the token and the server in the settings.
///
/// # Panics
///
/// If the settings cannot be written.
#[track_caller]
pub fn as_account(project: &Project, machine: &CollectMachine, token: &str, arguments: &str) -> Command {
    let settings = project.sibling_path("client.toml");
    let text = format!("[collect]\nurl = \"{}\"\ntoken_env = \"{TOKEN_VARIABLE}\"\n", machine.url());
    fs::write(&settings, text).expect("the temporary folder is ours");
    let mut command = project.ghostbench(arguments);
    command.arg("--config").arg(settings).env(TOKEN_VARIABLE, token);
    command
}
