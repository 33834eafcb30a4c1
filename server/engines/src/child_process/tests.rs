//! Shell scripts as programs: how their ends are reported, and that none outlives its owner.

use std::time::Instant;

use tokio::io::AsyncWriteExt;

use super::*;

/// Runs until killed.
const LONG: &str = "sleep 600";

/// Timeout; generous for a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

/// A secret that no message may contain.
const KEY: &str = "sk-very-secret-0123456789";

/// A program run by a shell.
fn shell(script: &str) -> Program {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    Program { command, env: [("KEY".to_owned(), Secret::new(KEY))].into(), folder: None }
}

fn start(script: &str) -> (ChildProcess, ChildPipes) {
    ChildProcess::start(&shell(script)).expect("there is a shell")
}

/// The error of a program that couldn't be started.
fn refused(program: &Program) -> String {
    let fault = ChildProcess::start(program).err().expect("it cannot be started");
    assert_eq!(program.check(), Err(fault.clone()));
    fault.to_string()
}

async fn until<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// Reads the first line of a program's output.
async fn first_line(pipes: &mut ChildPipes) -> String {
    let mut line = Vec::new();
    while let Ok(byte) = until("a line", pipes.stdout.read_u8()).await {
        match byte {
            b'\n' => break,
            byte => line.push(byte),
        }
    }
    String::from_utf8(line).expect("the test writes text")
}

fn is_alive(process: &str) -> bool {
    std::process::Command::new("kill").args(["-0", process]).output().expect("there is kill").status.success()
}

/// Waits until a process that isn't our child is gone.
async fn wait_until_gone(process: &str) {
    let end = Instant::now() + LIMIT;
    while is_alive(process) {
        assert!(Instant::now() < end, "{process} lives on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn input_reaches_the_program_and_closing_stdin_ends_it() {
    let (child, mut pipes) = start("echo \"$KEY\"; cat");
    pipes.stdin.write_all(b"in").await.unwrap();
    drop(pipes.stdin);
    let mut text = String::new();
    until("its output", pipes.stdout.read_to_string(&mut text)).await.unwrap();
    assert_eq!(text, format!("{KEY}\nin"));
    let fault = until("its end", child.wait()).await;
    assert_eq!(fault.to_string(), "`sh` ended with exit code 0");
}

#[tokio::test]
async fn exit_is_reported_with_last_stderr_line_without_keys() {
    let (child, _pipes) = start("echo first >&2; printf 'bad key %s\\n\\n' \"$KEY\" >&2; exit 3");
    let fault = until("its end", child.wait()).await;
    assert_eq!(fault.to_string(), "`sh` ended with exit code 3: bad key (the key)");
    let (child, _pipes) = start("kill -s TERM $$");
    let fault = until("its end", child.wait()).await.to_string();
    assert!(fault.starts_with("`sh` ended by signal: 15"), "{fault}");
}

#[tokio::test]
async fn stderr_never_blocks_and_is_kept_only_in_part() {
    let (child, mut pipes) = start("yes 'it overflows' | head -n 100000 >&2; echo done; exit 1");
    assert_eq!(first_line(&mut pipes).await, "done");
    let fault = until("its end", child.wait()).await;
    assert_eq!(fault.to_string(), "`sh` ended with exit code 1: it overflows");
    assert!(child.stderr.bytes.lock().unwrap().len() <= MAX_STDERR_BYTES);
    let half = "head -c 5000 /dev/zero | tr '\\0' x >&2; printf \"$KEY\" >&2; exit 1";
    let (child, _pipes) = start(half);
    let fault = until("its end", child.wait()).await;
    assert_eq!(fault.to_string(), "`sh` ended with exit code 1", "a line without its beginning");
}

#[tokio::test]
async fn grandchildren_are_killed_with_the_program() {
    let (child, mut pipes) = start(&format!("{LONG} & echo $!; echo $$; wait"));
    let (grandchild, process) = (first_line(&mut pipes).await, first_line(&mut pipes).await);
    assert!(is_alive(&grandchild) && is_alive(&process));
    drop(child);
    wait_until_gone(&grandchild).await;
    wait_until_gone(&process).await;
}

#[tokio::test]
async fn leftover_children_are_killed_and_do_not_delay_the_exit() {
    let (child, mut pipes) = start(&format!("{LONG} & echo $!; echo over >&2; exit 1"));
    let grandchild = first_line(&mut pipes).await;
    let fault = until("its end", child.wait()).await;
    assert_eq!(fault.to_string(), "`sh` ended with exit code 1: over");
    wait_until_gone(&grandchild).await;
}

#[test]
fn processes_are_killed_when_the_runtime_is_dropped() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (child, grandchild) = runtime.block_on(async {
        let (child, mut pipes) = start(&format!("{LONG} & echo $!; wait"));
        (child, first_line(&mut pipes).await)
    });
    drop(runtime);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        wait_until_gone(&grandchild).await;
        assert_eq!(child.wait().await.to_string(), "`sh` ended with Ghostbench");
    });
}

#[tokio::test]
async fn start_failure_is_reported_with_a_remedy() {
    let folder = std::env::temp_dir().join(format!("ghostbench-child-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("program");
    std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    let path = file.to_str().unwrap().to_owned();
    let program = |command: &str| Program { command: vec![command.to_owned()], ..Program::default() };
    let missing = refused(&program("no-such-program"));
    assert_eq!(missing, "there is no program `no-such-program`; install it, or correct `command`");
    let missing = refused(&program("/no/such/program"));
    assert_eq!(missing, "there is no program `/no/such/program`; install it, or correct `command`");
    assert_eq!(
        refused(&program(&path)),
        format!("`{path}` is not executable; make it executable, or correct `command`")
    );
    let nowhere = Program { folder: Some("/no/such/folder".into()), ..program("sh") };
    assert_eq!(refused(&nowhere), "there is no folder /no/such/folder to run `sh` in; correct `folder`");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let fault = ChildProcess::start(&program(&path)).err().expect("it has no interpreter");
    assert!(fault.to_string().starts_with(&format!("`{path}` cannot be started: ")), "{fault}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_program_runs_in_its_folder() {
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let program = Program { folder: Some(folder.clone()), ..shell("pwd -P") };
    let (_child, mut pipes) = ChildProcess::start(&program).unwrap();
    assert_eq!(first_line(&mut pipes).await, folder.to_str().unwrap());
}
