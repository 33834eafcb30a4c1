//! Copies of the rows: Parquet files on disk and in S3. The server over PostgreSQL.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use test_fixture::PostgresServer;
use tests::collect::CollectMachine;
use tests::{RunningProcess, component};

use super::{Developer, stored_rows};
use crate::trial::json;

/// Prints the ids of a copy with their developers and truths, as JSON Lines.
const READ: &str = "
import json, sys
import pyarrow.dataset as ds
from pyarrow import fs
files, root = fs.FileSystem.from_uri(sys.argv[1])
table = ds.dataset(root, filesystem=files, format='parquet', partitioning='hive').to_table(['id', 'developer', 'truth', 'licences'])
for row in table.to_pylist():
    print(json.dumps(row))
";

/// A server of S3 in memory, with the bucket `traces`.
const S3: &str = "
import sys
import boto3
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
boto3.client('s3', endpoint_url=f'http://{host}:{port}', region_name='us-east-1').create_bucket(Bucket='traces')
print(f'{host}:{port}', flush=True)
sys.stdin.read()
";

fn python() -> Option<PathBuf> {
    component("parquet-python")
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/ghostbench-collect")
}

fn python_command(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.env("PYTHONPATH", package().join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        command.env(variable, "test");
    }
    command
}

struct S3Server {
    process: Child,
    address: String,
}

impl S3Server {
    fn start(python: &Path) -> S3Server {
        let mut command = python_command(python);
        let command =
            command.args(["-c", S3]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("Python starts");
        let mut address = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut address).expect("it prints its address");
        assert!(address.contains(':'), "it starts");
        S3Server { process, address: address.trim().to_owned() }
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Brings a copy up to date.
#[track_caller]
fn sync(python: &Path, machine: &CollectMachine, token: &str, target: &str) -> Value {
    let mut command = python_command(python);
    command.args(["-m", "ghostbench_collect", &machine.url(), target]).env("TRACES_TOKEN", token);
    json(&RunningProcess::start(command).wait().expect_code(0).stdout)
}

/// Returns id and developer of each row of a copy.
#[track_caller]
fn copied(python: &Path, target: &str) -> Vec<(String, String)> {
    let mut command = python_command(python);
    command.args(["-c", READ, target]);
    let text = RunningProcess::start(command).wait().expect_code(0).stdout;
    let field = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    let mut rows: Vec<_> = text
        .lines()
        .map(|line| {
            let row = json(line);
            assert_eq!(
                (&row["truth"], &row["licences"][0]),
                (&"return count * zebra_price\n".into(), &"MIT".into())
            );
            (field(&row, "id"), field(&row, "developer"))
        })
        .collect();
    rows.sort();
    rows
}

#[track_caller]
fn check_copy(machine: &CollectMachine, python: &Path, target: &str) {
    let analyst = machine.token("eve", "analyst");
    let ann = Developer::joined(machine, "a1", 3);
    let bob = Developer::joined(machine, "b2", 2);
    for developer in [&ann, &bob] {
        developer.project.write("LICENSE", "MIT License\n");
        developer.send(machine);
    }
    assert_eq!(sync(python, machine, &analyst, target)["rows"], 5);
    assert_eq!(sync(python, machine, &analyst, target)["rows"], 0, "the cursor continues");
    let expected = || {
        let mut rows: Vec<(String, String)> =
            stored_rows(machine, &analyst).into_iter().map(|(developer, row)| (row.id, developer)).collect();
        rows.sort();
        rows
    };
    assert_eq!(copied(python, target), expected());

    let deleted = ann.run(machine, "collect forget --yes --json").expect_code(0);
    deleted.expect_message(&["still have the rows"]);
    let open = machine.get("/v1/status", &analyst).json();
    assert_eq!(open["copies"][0]["pending"], 1, "{open}");
    assert_eq!(sync(python, machine, &analyst, target)["deleted_folders"], 1);
    assert_eq!(machine.get("/v1/status", &analyst).json()["copies"][0]["pending"], 0);
    let rest = copied(python, target);
    assert_eq!(rest, expected());
    let ids: BTreeSet<String> = bob.bundle().rows.into_iter().map(|row| row.id).collect();
    assert_eq!(rest.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>(), ids);
}

#[test]
fn parquet_files_on_disk_follow_the_server_and_its_deletions() {
    let Some(python) = python() else { return };
    let machine = CollectMachine::start("");
    let target = machine.project.sibling_path("parquet");
    check_copy(&machine, &python, target.to_str().expect("a path"));
    let wrong = {
        let mut command = python_command(&python);
        command.args(["-m", "ghostbench_collect", &machine.url(), "x"]).env("TRACES_TOKEN", "wrong");
        RunningProcess::start(command).wait()
    };
    wrong.expect_code(3).expect_message(&["401", "token is missing or wrong"]);
}

#[test]
fn parquet_files_in_s3_follow_the_server_and_its_deletions() {
    let Some(python) = python() else { return };
    let machine = CollectMachine::start("");
    let s3 = S3Server::start(&python);
    let target = format!(
        "s3://traces/copy?endpoint_override={}&scheme=http&region=us-east-1",
        s3.address.replace(':', "%3A")
    );
    check_copy(&machine, &python, &target);
}

#[test]
fn the_package_passes_its_own_tests() {
    let Some(python) = python() else { return };
    let mut command = python_command(&python);
    command.args(["-m", "unittest", "discover", "-s"]).arg(package().join("tests"));
    RunningProcess::start(command).wait().expect_code(0);
}

#[test]
fn postgres_stores_counts_and_forgets_as_sqlite_does() {
    let Some(postgres) = PostgresServer::start() else {
        component("postgres");
        return;
    };
    let mut machine = CollectMachine::start_on_postgres(&postgres.address(), "");
    let analyst = machine.token("eve", "analyst");
    let (ann, bob) = (Developer::joined(&machine, "a1", 3), Developer::joined(&machine, "b2", 2));
    assert_eq!(ann.send(&machine)["sent"]["new"], 3);
    assert_eq!(bob.send(&machine)["sent"]["new"], 2);
    machine.kill();
    machine.restart();
    assert_eq!(ann.send(&machine)["known"], 3);
    let board = machine.get("/v1/scoreboard?trial=week", &analyst).json();
    assert_eq!((&board["developers"], &board["opportunities"]), (&2.into(), &5.into()));
    let page = machine.get("/", &analyst);
    assert!(page.status == 200 && String::from_utf8_lossy(&page.body).contains("2026-11-01"));
    assert_eq!(postgres.query("SELECT SUM(opportunities), MAX(developers) FROM dashboard_days"), "5|2");
    assert_eq!(
        postgres.query("SELECT SUM(answers), SUM(exact), MAX(median_ms) FROM dashboard_engines"),
        "5|5|12"
    );
    ann.run(&machine, "collect forget --yes").expect_code(0);
    assert_eq!(postgres.query("SELECT COUNT(*) FROM dashboard_answers"), "2");
    assert_eq!(stored_rows(&machine, &analyst).len(), 2);
    if let Some(python) = python() {
        let target = machine.project.sibling_path("parquet");
        assert_eq!(sync(&python, &machine, &analyst, target.to_str().expect("a path"))["rows"], 2);
    }
}

#[test]
fn a_database_that_is_away_delays_and_loses_nothing() {
    let Some(mut postgres) = PostgresServer::start() else {
        component("postgres");
        return;
    };
    let machine = CollectMachine::start_on_postgres(&postgres.address(), "");
    let ann = Developer::joined(&machine, "a1", 3);
    postgres.stop();
    assert_eq!(tests::front_door::exchange(&machine.address, "GET", "/health", &[], b"").status, 503);
    ann.run(&machine, "collect send --wait 1").expect_code(3).expect_message(&["are kept"]);
    postgres.restart();
    assert_eq!(ann.send(&machine)["sent"]["new"], 3);
}
