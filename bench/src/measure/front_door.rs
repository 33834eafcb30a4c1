//! The front door: the time that it adds to a request of a plugin, compared to the same request sent to the server directly, in the same run.
//!
//! Requests go over new connections, as plugins that start `curl` send them, alternately to both. The server is the `mock` crate's.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cases::{TrialArm, TrialDefinition, TrialMode};
use mock::{MockServer, Reply};
use replay::DataFolder;
use serde_json::json;
use tests::front_door::exchange;
use tests::{FrontDoor, Project, wait_until};
use trial::definition::write_definition;

/// Number of requests to each of both.
const REQUESTS: usize = 2_000;
/// Time before each pair of requests: several times as many as one developer's keys cause.
const PAUSE: Duration = Duration::from_millis(10);
/// Requests before the measurement.
const WARM_UP: usize = 100;
/// Files of the workspace, of some 60 lines.
const FILES: usize = 300;

/// Measures and returns the Markdown of the section.
pub(crate) fn measure() -> Result<String> {
    let program = super::ghostbench()?;
    measure_program(&program)
}

fn measure_program(program: &Path) -> Result<String> {
    let mut rows = String::new();
    for (name, is_recorded, is_stream) in [
        ("one answer, no trial", false, false),
        ("one answer, recorded by a trial", true, false),
        ("a stream of 20 parts, recorded by a trial", true, true),
    ] {
        let added = added_latency(program, is_recorded, is_stream)?;
        rows.push_str(&format!("| {name} | {added} |\n"));
    }
    Ok(format!(
        "Time from connecting to the last byte of the answer, in ms, for {REQUESTS} requests of 8 KB through the front door and as many \
         directly, alternately, each over a new connection, a pair every {} ms. A workspace of {FILES} files; the server answers at once.\n\n\
         | request | directly p50 / p99 | through p50 / p99 | added p50 / p99 |\n|---|---|---|---|\n{rows}",
        PAUSE.as_millis()
    ))
}

fn added_latency(program: &Path, is_recorded: bool, is_stream: bool) -> Result<String> {
    let project = Project::generated(FILES);
    let server = MockServer::scripted(move |_| if is_stream { stream() } else { whole() });
    let settings = project.home().join(".config/ghostbench");
    fs::create_dir_all(&settings)?;
    let engine = format!("[[engine]]\nname = \"remote\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    fs::write(settings.join("config.toml"), engine)?;
    if is_recorded {
        start_trial(&project)?;
    }
    let door = FrontDoor::start(project.command(program, "serve --json --listen 127.0.0.1:0"));
    wait_until("the folder is read", || door.status()["folders"][0]["state"] == "ready");
    if is_recorded {
        door.wait_for_trial();
    }
    let text = fs::read_to_string(project.root().join("shop/module_7.py"))?;
    let (mut direct, mut through) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + REQUESTS {
        thread::sleep(PAUSE);
        let body = request(&text, number);
        let ask = |address: &str| -> Result<Duration> {
            let start = Instant::now();
            let reply = exchange(address, "POST", "/infill", &[], body.as_bytes());
            ensure!(reply.status == 200 && reply.is_whole, "{reply:?}");
            Ok(start.elapsed())
        };
        let times = (ask(&server.address())?, ask(&door.address)?);
        if number >= WARM_UP {
            direct.push(times.0);
            through.push(times.1);
        }
    }
    let added = direct.iter().zip(&through).map(|(direct, through)| ms(*through) - ms(*direct)).collect();
    let times = |times: &[Duration]| percentiles(times.iter().copied().map(ms).collect());
    Ok(format!("{} | {} | {}", times(&direct), times(&through), percentiles(added)))
}

fn start_trial(project: &Project) -> Result<()> {
    let folder = DataFolder::new(project.home().join(".local/share/ghostbench")).trial(&project.root());
    let arms = vec![TrialArm::new("remote".to_owned())];
    let started = "2026-01-01T00:00:00Z".to_owned();
    let definition = TrialDefinition::new("bench".to_owned(), TrialMode::Single, arms, started);
    write_definition(&folder, &definition).context("the definition cannot be written")
}

/// A request in the middle of a function, at which other text is typed each time.
fn request(text: &str, number: usize) -> String {
    let at = text.find("        price = ").unwrap_or(0);
    let extra = [json!({"filename": "other.py", "text": "x = 1\n".repeat(1_000)})];
    let (above, below) = text.split_at(at);
    let typed = format!("        net_{number} = ");
    json!({
        "input_prefix": above, "prompt": typed, "input_suffix": format!("\n{below}"), "input_extra": extra, "n_predict": 128
    })
    .to_string()
}

fn whole() -> Reply {
    Reply::json(200, &json!({"content": "order.price * 2", "stop": true}))
}

fn stream() -> Reply {
    let parts: Vec<String> =
        (0..20).map(|part| json!({"content": format!("p{part} "), "stop": part == 19}).to_string()).collect();
    Reply::events(parts.iter().map(String::as_str))
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn percentiles(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    format!("{:.2} / {:.2}", at(0.5), at(0.99))
}
