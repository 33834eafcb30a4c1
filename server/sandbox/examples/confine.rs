//! Runs a command in a sandbox over a workspace and prints its outcome: `confine WORKSPACE COMMAND...`.

use std::path::Path;
use std::time::Duration;
use sandbox::*;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args[0].as_str() {
        MOUNT_COMMAND => { eprintln!("{}", run_mount()); std::process::exit(3) }
        INIT_COMMAND => { if let Err(error) = run_init(args.get(1).map(Path::new)) { eprintln!("{error}"); std::process::exit(3) } return }
        _ => {}
    }
    let mut options = SandboxOptions::default();
    options.limits.time = Duration::from_secs(200);
    options.limits.memory_bytes = 1 << 30;
    options.limits.disk_bytes = 200 << 20;
    options.limits.processes = 100;
    if std::env::var_os("NO_SANDBOX").is_some() { options.confinement = ConfinementChoice::None; }
    let start = std::time::Instant::now();
    let sandbox = match Sandbox::new(Path::new(&args[0]), &options) { Ok(s) => s, Err(e) => { eprintln!("{e}"); std::process::exit(3) } };
    eprintln!("ready {:?} overlays {}", start.elapsed(), sandbox.has_overlays());
    if args[1] == "tests" {
        let runners = TestRunner::detect(sandbox.workspace());
        println!("{runners:?}");
        let start = std::time::Instant::now();
        let ids = args[2..].to_vec();
        let run = runners[0].run(&sandbox, &[], TestSelection { tests: (!ids.is_empty()).then_some(&ids), covers_lines: ids.is_empty() }).unwrap();
        println!("{:?} {:?} tests {} control {:?} build error {}", start.elapsed(), run.outcome.exit, run.results.tests.len(), run.results.has_failing_control, run.results.has_build_error);
        println!("covered {:?}", run.results.covered.as_ref().map(|c| c.iter().map(|(p, l)| (p.clone(), l.len())).collect::<Vec<_>>()));
        if !ids.is_empty() { println!("{:?}", run.verdict(&ids)); }
        println!("{}", &run.outcome.output[run.outcome.output.len().saturating_sub(1500)..]);
        return;
    }
    let start = std::time::Instant::now();
    let command = SandboxCommand { words: args[1..].to_vec(), reports: vec![ReportFiles::File("report.txt".into())], ..SandboxCommand::default() };
    let out = sandbox.run(&[ChangedFile { path: "changed/x.txt".into(), text: "changed\n".into() }], &command);
    eprintln!("{:?}", start.elapsed());
    match out { Ok(out) => println!("{:?} {:?} peak {}\n{}\n{:?}", out.exit, out.wall, out.peak_memory_bytes, out.output, out.reports), Err(e) => println!("ERROR {e}") }
}
