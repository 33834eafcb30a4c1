//! Packages: each is made from the built binary, installed in an empty environment, and benchmarks a small project from there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
#[cfg(target_os = "linux")]
use std::process::Stdio;

use serde_json::Value;
#[cfg(target_os = "linux")]
use tests::wait_until;
use tests::{ProcessOutcome, Project, RunningProcess, binary, component};

use crate::run_rows;

/// Makes the packages of these formats, and returns their folder.
#[track_caller]
fn package(project: &Project, formats: &str) -> PathBuf {
    let folder = project.sibling_path("packages");
    let mut xtask = xtask();
    // Nearly all of the time would go into making the package smaller.
    xtask.env("DPKG_DEB_COMPRESSOR_LEVEL", "0");
    xtask.arg("package").arg("--binary").arg(binary()).args(["--only", formats, "--out"]).arg(&folder);
    RunningProcess::start(xtask).wait().expect_code(0);
    folder
}

/// The development tasks; their tools need the home of this machine's user.
fn xtask() -> Command {
    let xtask = binary().with_file_name("xtask");
    assert!(xtask.is_file(), "{} is missing: run `cargo build --workspace --bins`", xtask.display());
    Command::new(xtask)
}

/// The only file in a folder whose name has this start and this end.
#[track_caller]
fn the_file(folder: &Path, start: &str, end: &str) -> PathBuf {
    let names =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let matching = names.filter(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.starts_with(start) && name.ends_with(end)
    });
    let found: Vec<_> = matching.collect();
    assert_eq!(found.len(), 1, "{start}*{end} in {}: {found:?}", folder.display());
    found[0].clone()
}

/// Runs a program in the project with its empty home, without any network.
#[track_caller]
fn run(project: &Project, program: &Path, arguments: &[&str]) -> ProcessOutcome {
    RunningProcess::start(isolated(project, program, arguments)).wait()
}

fn isolated(project: &Project, program: &Path, arguments: &[&str]) -> Command {
    let mut command = project.command(program, "");
    command.args(arguments);
    for (variable, value) in [
        ("PIP_NO_INDEX", "1"),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("UV_OFFLINE", "1"),
        ("npm_config_offline", "true"),
        ("npm_config_update_notifier", "false"),
    ] {
        command.env(variable, value);
    }
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// Runs `try` with an installed program, and checks that it made a report.
#[track_caller]
fn check_try(project: &Project, program: &Path, before: &[&str]) {
    let run_folder = project.sibling_path("run");
    let arguments = [before, &["try", ".", "--cases", "8", "--out", text(&run_folder)]].concat();
    let outcome = run(project, program, &arguments).expect_code(0);
    assert!(outcome.stdout.contains("builtin"), "{}", outcome.stdout);
    assert!(run_folder.join("report.html").is_file(), "there is no report: {}", outcome.stdout);
    fs::remove_dir_all(run_folder).expect("it is ours");
}

/// Unpacks an archive and returns the folder in it.
#[track_caller]
fn unpacked_archive(project: &Project) -> PathBuf {
    let packages = package(project, "archive");
    let archive = the_file(&packages, "ghostbench-", ".tar.gz");
    let target = project.sibling_path("unpacked");
    fs::create_dir(&target).expect("the folder is ours");
    run(project, Path::new("tar"), &["-xzf", text(&archive), "-C", text(&target)]).expect_code(0);
    the_file(&target, "ghostbench-", "")
}

#[test]
fn archive_holds_program_manual_completions_plugin_and_licences() {
    let project = Project::generated(3);
    let folder = unpacked_archive(&project);
    check_try(&project, &folder.join("ghostbench"), &[]);
    check_cyclonedx(&project.sibling_path("packages"));
    check_manual(&project, &folder.join("man/man1"));
    let script = folder.join("completions/ghostbench.bash");
    let complete = format!(
        "source '{}' && COMP_WORDS=(ghostbench tr) COMP_CWORD=1 && _ghostbench ghostbench tr ghostbench && echo ${{COMPREPLY[*]}}",
        script.display()
    );
    let offered = run(&project, Path::new("bash"), &["--norc", "-c", &complete]).expect_code(0).stdout;
    assert_eq!(offered.trim(), "try trial trust");
    for name in ["_ghostbench", "ghostbench.fish", "_ghostbench.ps1"] {
        let script = run_rows::text(&folder.join("completions").join(name));
        assert!(script.contains("scoreboard"), "{name} does not complete `trial scoreboard`");
    }
    let plugin = run_rows::text(&folder.join("neovim/plugin/ghostbench.lua"));
    assert!(plugin.contains("Ghostbench"), "{plugin}");
    let notices = run_rows::text(&folder.join("THIRD-PARTY.txt"));
    for linked in ["  tokio ", "  tree-sitter-python ", "  libsqlite3-sys "] {
        assert!(notices.contains(linked), "no{linked}in the licences");
    }
    assert!(!notices.contains("  proptest "), "packages of tests are not linked");
    assert!(notices.contains("without restriction"), "the texts of licences are in the file");
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

/// Checks that each command that the help shows has a page.
#[track_caller]
fn check_manual(project: &Project, folder: &Path) {
    let help = project.run("--help").expect_code(0).stdout;
    let commands = help.split("Commands:\n").nth(1).expect("a list").split("\n\n").next().expect("an end");
    let commands: Vec<_> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"try") && commands.len() > 10, "{commands:?}");
    for command in commands.iter().filter(|command| **command != "help") {
        let page = run_rows::text(&folder.join(format!("ghostbench-{command}.1")));
        assert!(
            page.contains(&format!("ghostbench {command}"))
                || page.contains(&format!("ghostbench\\-{command}")),
            "{page}"
        );
    }
    assert!(!folder.join("ghostbench-sandbox-init.1").exists(), "hidden commands have no page");
}

/// Checks the list of linked packages, for scanners.
#[track_caller]
fn check_cyclonedx(packages: &Path) {
    let list = run_rows::text(&the_file(packages, "ghostbench-", ".cdx.json"));
    let list: Value = serde_json::from_str(&list).expect("it is JSON");
    assert_eq!(list["bomFormat"], "CycloneDX");
    let components = list["components"].as_array().expect("a list");
    assert!(components.len() > 100, "{} packages", components.len());
    let tokio = components.iter().find(|component| component["name"] == "tokio").expect("it is linked");
    let version = tokio["version"].as_str().expect("a version");
    assert_eq!(tokio["purl"], format!("pkg:cargo/tokio@{version}"));
    assert_eq!(tokio["licenses"][0]["expression"], "MIT");
}

#[test]
fn wheel_works_with_pip_and_uvx() {
    let Some(uv) = component("uv") else { return };
    let Some(twine) = component("twine") else { return };
    let project = Project::generated(3);
    let wheel = the_file(&package(&project, "wheel"), "ghostbench-", ".whl");
    run(&project, &twine, &["check", "--strict", text(&wheel)]).expect_code(0);
    let environment = project.sibling_path("environment");
    run(&project, Path::new("python3"), &["-m", "venv", text(&environment)]).expect_code(0);
    let python = environment.join("bin/python");
    run(&project, &python, &["-m", "pip", "install", text(&wheel)]).expect_code(0);
    check_try(&project, &environment.join("bin/ghostbench"), &[]);
    let driver = the_file(&project.sibling_path("packages"), "ghostbench_ray-", ".whl");
    run(&project, &twine, &["check", "--strict", text(&driver)]).expect_code(0);
    run(&project, &python, &["-m", "pip", "install", "--no-deps", text(&driver)]).expect_code(0);
    let versions = run(&project, &python, &["-m", "ghostbench_ray", "--versions"]).expect_code(0).stdout;
    let expected = format!("\"ghostbench_ray\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(versions.contains(&expected), "{versions}");
    assert!(environment.join("share/man/man1/ghostbench-try.1").is_file(), "the manual is installed");
    run(&project, &python, &["-m", "pip", "uninstall", "--yes", "ghostbench"]).expect_code(0);
    assert!(!environment.join("bin/ghostbench").exists(), "pip knows all files");
    check_try(&project, &uv, &["tool", "run", "--from", text(&wheel), "ghostbench"]);
}

/// Installs both packages of npm into a folder, and returns the launcher.
#[track_caller]
fn npm_launcher(project: &Project, npm: &Path) -> PathBuf {
    let packages = package(project, "npm");
    let (launcher, program) =
        (the_file(&packages, "ghostbench-0", ".tgz"), the_file(&packages, "ghostbench-cli-", ".tgz"));
    let prefix = project.root();
    let arguments =
        ["install", "--no-audit", "--no-fund", "--prefix", text(&prefix), text(&launcher), text(&program)];
    run(project, npm, &arguments).expect_code(0);
    prefix.join("node_modules/.bin/ghostbench")
}

#[test]
fn npm_package_works_with_npx() {
    let Some(npm) = component("npm") else { return };
    let project = Project::generated(3);
    let launcher = npm_launcher(&project, &npm);
    check_try(&project, &npm, &["exec", "--no", "--", "ghostbench"]);
    let outcome = run(&project, &launcher, &["try", "--no-such-option"]).expect_code(2);
    outcome.expect_message(&["--no-such-option"]);
    let program = fs::read_dir(project.root().join("node_modules/@ghostbench")).expect("npm installed it");
    let program = program.map(|entry| entry.expect("an entry").path()).next().expect("one platform");
    fs::remove_dir_all(program).expect("it is ours");
    run(&project, &launcher, &["--version"]).expect_code(3).expect_message(&["--omit=optional"]);
}

#[test]
#[cfg(target_os = "linux")]
fn npm_launcher_passes_signals_on() {
    let Some(npm) = component("npm") else { return };
    let project = Project::generated(1);
    let launcher = npm_launcher(&project, &npm);
    let mut server = isolated(&project, &launcher, &["lsp", "--stdio"]);
    let mut server =
        server.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let launcher_id = server.id().to_string();
    let children = format!("/proc/{launcher_id}/task/{launcher_id}/children");
    let mut child = String::new();
    wait_until("the launcher starts the program", || {
        child = run_rows::text(Path::new(&children)).trim().to_owned();
        let program = fs::read_link(format!("/proc/{child}/exe"));
        program.is_ok_and(|program| program.ends_with("bin/ghostbench"))
    });
    Command::new("kill").arg(&launcher_id).status().expect("kill is there");
    wait_until("both end", || {
        server.try_wait().expect("it is ours").is_some() && !Path::new(&format!("/proc/{child}/exe")).exists()
    });
}

#[test]
fn debian_package_works_below_another_root() {
    let Some(dpkg) = component("dpkg") else { return };
    let project = Project::generated(3);
    let deb = the_file(&package(&project, "deb"), "ghostbench_", ".deb");
    let root = project.sibling_path("root");
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"] {
        fs::create_dir_all(root.join(folder)).expect("the folder is ours");
    }
    for file in ["status", "available"] {
        fs::write(root.join("var/lib/dpkg").join(file), "").expect("the folder is ours");
    }
    // The other root has no C library; the program uses that of this machine.
    let options = ["--force-not-root", "--force-depends", "--force-script-chrootless"];
    let root_option = format!("--root={}", root.display());
    let log = format!("--log={}", project.sibling_path("dpkg.log").display());
    let arguments = [options.as_slice(), &[&root_option, &log, "--install", text(&deb)]].concat();
    run(&project, &dpkg, &arguments).expect_code(0);
    check_try(&project, &root.join("usr/bin/ghostbench"), &[]);
    for path in [
        "usr/share/man/man1/ghostbench-try.1.gz",
        "usr/share/bash-completion/completions/ghostbench",
        "usr/share/zsh/vendor-completions/_ghostbench",
        "usr/share/fish/vendor_completions.d/ghostbench.fish",
        "usr/share/nvim/site/pack/ghostbench/start/ghostbench/plugin/ghostbench.lua",
        "usr/share/doc/ghostbench/copyright",
    ] {
        assert!(root.join(path).is_file(), "{path}");
    }
    let control = run(&project, Path::new("dpkg-deb"), &["--field", text(&deb)]).expect_code(0).stdout;
    assert!(control.contains("Depends: libc6 (>= 2."), "{control}");
}

#[test]
fn extension_for_a_platform_contains_a_working_server() {
    let Some(code_server) = component("code-server") else { return };
    let project = Project::generated(3);
    let extension = the_file(&package(&project, "vsix"), "ghostbench-", ".vsix");
    let (data, extensions) = (project.sibling_path("data"), project.sibling_path("extensions"));
    let arguments = [
        "--user-data-dir",
        text(&data),
        "--extensions-dir",
        text(&extensions),
        "--install-extension",
        text(&extension),
    ];
    let mut install = isolated(&project, &code_server, &arguments);
    install.env("EXTENSIONS_GALLERY", "{}");
    RunningProcess::start(install).wait().expect_code(0);
    let installed = the_file(&extensions, "ghostbench.ghostbench-", "");
    check_try(&project, &installed.join("server/ghostbench"), &[]);
    let (client, server) = (
        run_rows::text(&installed.join("THIRD-PARTY.txt")),
        run_rows::text(&installed.join("server/THIRD-PARTY.txt")),
    );
    assert!(client.contains("  vscode-languageclient ") && !client.contains("  esbuild "), "{client}");
    assert!(server.contains("  tokio "), "{server}");
}

/// Writes the installers for the archives in a folder.
#[track_caller]
fn write_installers(packages: &Path) {
    let mut xtask = xtask();
    xtask.arg("installers").arg(packages).arg("--incomplete");
    RunningProcess::start(xtask).wait().expect_code(0);
}

#[track_caller]
fn run_installer(project: &Project, packages: &Path) -> ProcessOutcome {
    let mut install = isolated(project, Path::new("sh"), &[]);
    install.arg(packages.join("ghostbench-installer.sh"));
    install.env("GHOSTBENCH_DOWNLOADS", format!("file://{}", packages.display()));
    RunningProcess::start(install).wait()
}

#[test]
fn install_script_installs_only_what_has_the_checksum_of_the_release() {
    let Some(_) = component("curl") else { return };
    let project = Project::generated(3);
    let packages = package(&project, "archive");
    write_installers(&packages);
    let sums = run_rows::text(&packages.join("sha256.sum"));
    let mut check = Command::new("sha256sum");
    check.current_dir(&packages).args(["--check", "--strict", "sha256.sum"]);
    RunningProcess::start(check).wait().expect_code(0);
    let installed = project.home().join(".local/bin/ghostbench");
    let outcome = run_installer(&project, &packages).expect_code(0);
    assert!(outcome.stdout.contains("installed ghostbench 0."), "{}", outcome.stdout);
    check_try(&project, &installed, &[]);
    fs::remove_file(&installed).expect("it is ours");
    let archive = the_file(&packages, "ghostbench-", ".tar.gz");
    let mut bytes = fs::read(&archive).expect("an archive");
    *bytes.last_mut().expect("it is not empty") ^= 1;
    fs::write(&archive, bytes).expect("it is ours");
    let expected = sums.split(' ').next().expect("a checksum");
    run_installer(&project, &packages).expect_code(1).expect_message(&["checksum", expected]);
    assert!(!installed.exists(), "another program was installed");
    fs::remove_file(&archive).expect("it is ours");
    run_installer(&project, &packages).expect_code(1).expect_message(&["download"]);
}

#[test]
fn entry_for_nvim_lspconfig_starts_the_server() {
    let Some(nvim) = component("nvim") else { return };
    let project = Project::generated(1);
    let packages = project.sibling_path("packages");
    fs::create_dir(&packages).expect("the folder is ours");
    // The entry does not depend on the archive.
    fs::write(packages.join("ghostbench-x86_64-unknown-linux-gnu.tar.gz"), "").expect("the folder is ours");
    write_installers(&packages);
    project.write("ghostbench.toml", "");
    let script = project.write(
        "attach.lua",
        "vim.lsp.config('ghostbench', dofile(arg[1]))\n\
         vim.lsp.enable('ghostbench')\n\
         vim.cmd.edit('shop/module_0.py')\n\
         vim.cmd.filetype('detect')\n\
         local attached = vim.wait(60000, function()\n\
           local client = vim.lsp.get_clients({ bufnr = 0, name = 'ghostbench' })[1]\n\
           return client ~= nil and client.initialized\n\
         end, 20)\n\
         io.stdout:write(attached and 'attached to ' .. vim.lsp.get_clients()[1].root_dir or 'nothing')\n",
    );
    let entry = packages.join("nvim-lspconfig/ghostbench.lua");
    let mut command = isolated(&project, &nvim, &["--clean", "-l", text(&script), text(&entry)]);
    let folder = binary().parent().expect("a folder").display().to_string();
    command.env("PATH", format!("{folder}:{}", std::env::var("PATH").expect("a path")));
    let outcome = RunningProcess::start(command).wait();
    let output = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(output.contains(&format!("attached to {}", project.root().display())), "{output}");
}
