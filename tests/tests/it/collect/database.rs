//! The database of the server at its start: later than the server, away, or refusing.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use test_fixture::PostgresServer;
use tests::{FrontDoor, Project, RunningProcess, component, wait_until};

/// Returns a server over the database at this address.
fn serve(machine: &Project, database: &str, arguments: &str) -> Command {
    let mut command = machine.ghostbench("collect serve --listen 127.0.0.1:0 --postgres-env TEST_DATABASE");
    command.args(arguments.split(' ')).env("TEST_DATABASE", database);
    command
}

#[test]
fn server_waits_for_a_database_that_is_started_later() {
    let Some(mut postgres) = PostgresServer::start() else {
        component("postgres");
        return;
    };
    let address = postgres.address();
    postgres.stop();
    let machine = Project::new("");
    let command = serve(&machine, &address, "--json");
    let server = FrontDoor::start_and_act(command, "waiting for the database", || postgres.restart());
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn waiting_is_announced_without_the_password_and_has_an_end() {
    let machine = Project::new("");
    let absent = machine.sibling_path("no-database");
    let address = format!("host={} user=ann password=hidden dbname=traces", absent.display());
    let ended = RunningProcess::start(serve(&machine, &address, "--wait 1")).wait().expect_code(3);
    let ended = ended.expect_message(&[
        "waiting for the database at ",
        "no-database:5432/traces: ",
        "trying again for 1 s",
        "cannot reach the database",
        "start it",
    ]);
    assert!(!ended.stderr.contains("hidden"), "{}", ended.stderr);
    let ended = RunningProcess::start(serve(&machine, &address, "--wait 0")).wait().expect_code(3);
    assert!(!ended.stderr.contains("waiting"), "{}", ended.stderr);
}

#[test]
fn a_signal_ends_the_waiting() {
    for signal in ["-TERM", "-INT"] {
        let machine = Project::new("");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a setting of the socket");
        let port = listener.local_addr().expect("it is bound").port();
        let address = format!("postgresql://ann:hidden@127.0.0.1:{port}/traces");
        let process = RunningProcess::start(serve(&machine, &address, "--wait 3600"));
        // Each connection is closed at once.
        for _ in 0..2 {
            wait_until("the server tries to connect", || listener.accept().is_ok());
        }
        let sent = Command::new("kill").args([signal, &process.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{signal}");
        process.wait_at_most(Duration::from_secs(60)).expect_code(130).expect_message(&["stopped"]);
    }
}

#[test]
fn refusal_of_a_database_is_not_waited_for() {
    let Some(mut postgres) = PostgresServer::start() else {
        component("postgres");
        return;
    };
    let address = postgres.address();
    let machine = Project::new("");
    let refused = |address: &str, reason: &str| {
        let process = RunningProcess::start(serve(&machine, address, "--wait 3600"));
        let ended = process.wait().expect_code(3).expect_message(&[reason, "refuses", "in its address"]);
        assert!(!ended.stderr.contains("waiting") && !ended.stderr.contains("hidden"), "{}", ended.stderr);
    };
    refused(&address.replace("dbname=postgres", "dbname=absent"), "does not exist");
    refused(&address.replace("user=ghostbench", "user=absent"), "does not exist");
    postgres.require_password("right");
    refused(&format!("{address} password=hidden"), "password authentication failed");
    refused(&address, "password missing");
}
