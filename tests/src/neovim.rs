//! A real Neovim with the configuration of `editors/neovim` and the real server.
//!
//! It runs without a terminal and listens on a socket; `nvim --server` presses its keys and evaluates Lua in it. There are no
//! fixed delays: conditions are polled.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::component::missing;
use crate::lsp::{Buffer, Encoding};
use crate::{Project, RunningProcess, binary, component, wait_until};

/// Neovim's startup script.
const INIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/neovim/init.lua");

/// Functions of tests, which the startup script loads.
const PROBES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/neovim/probes.lua");

/// The startup script for other plugins.
const PLUGIN_INIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/neovim/plugins.lua");

/// The folder that users add to their runtimepath.
const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors/neovim");

/// Poll interval; each poll starts a process.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The first version with inline completion.
const OLDEST: &str = "nvim-0.12";

/// Who draws ghost text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeovimVersion {
    /// Neovim 0.12 itself.
    Native,
    /// The plugin in Neovim 0.12, by an option.
    Forced,
    /// The plugin in Neovim 0.11.
    Eleven,
    /// The plugin in Neovim 0.10.
    Ten,
}

impl NeovimVersion {
    /// Those in which the plugin draws.
    pub const FALLBACKS: [NeovimVersion; 3] =
        [NeovimVersion::Forced, NeovimVersion::Eleven, NeovimVersion::Ten];

    /// Name of the component.
    fn program(self) -> &'static str {
        match self {
            NeovimVersion::Native | NeovimVersion::Forced => "nvim",
            NeovimVersion::Eleven => "nvim-011",
            NeovimVersion::Ten => "nvim-010",
        }
    }
}

/// An editor with a file of a project. Dropping it ends it.
pub struct Neovim {
    program: PathBuf,
    socket: PathBuf,
    home: PathBuf,
    _process: RunningProcess,
}

impl Neovim {
    /// Opens a file of a project and waits until the server, started with additional arguments, serves it. Prints a message and
    /// returns `None` if there is no Neovim that is new enough.
    ///
    /// # Panics
    ///
    /// If the server is not ready in time.
    #[track_caller]
    pub fn open(project: &Project, file: &str, server_arguments: &[&str]) -> Option<Neovim> {
        Neovim::open_version(NeovimVersion::Native, project, file, server_arguments)
    }

    /// As [`Neovim::open`], in a certain version.
    ///
    /// # Panics
    ///
    /// If the server is not ready in time.
    #[track_caller]
    pub fn open_version(
        version: NeovimVersion,
        project: &Project,
        file: &str,
        server_arguments: &[&str],
    ) -> Option<Neovim> {
        let editor = Neovim::start(version, project, INIT, file, |command| {
            command.env("GHOSTBENCH_TEST_CONFIGURATION", CONFIGURATION).env("GHOSTBENCH_TEST_PROBES", PROBES);
            if version == NeovimVersion::Forced {
                command.env("GHOSTBENCH_TEST_FALLBACK", "1");
            }
            command.env("GHOSTBENCH_TEST_OPTIONS", Value::from(server_arguments.to_vec()).to_string());
            command.env("PATH", search_path());
        })?;
        editor.wait_until("Test.is_attached()");
        Some(editor)
    }

    /// Installs the plugin as a package into the home folder, writes an `init.lua` that enables it after `setup`, and opens a file,
    /// without waiting for the server. Only [`Neovim::evaluate`] and what needs no record of requests can be used. `path` is
    /// the search path. Prints a message and returns `None` if there is no such Neovim.
    ///
    /// # Panics
    ///
    /// If Neovim does not start.
    #[track_caller]
    pub fn install(
        version: NeovimVersion,
        project: &Project,
        file: &str,
        setup: &str,
        path: &OsStr,
    ) -> Option<Neovim> {
        let package = project.home().join(".local/share/nvim/site/pack/ghostbench/start/ghostbench");
        copy_folder(Path::new(CONFIGURATION), &package);
        let enable = match version {
            NeovimVersion::Ten => "require('ghostbench').enable()",
            _ => "vim.lsp.enable('ghostbench')",
        };
        let init = project.home().join(".config/nvim/init.lua");
        fs::create_dir_all(init.parent().expect("it has a folder")).expect("the folder is ours");
        fs::write(&init, format!("vim.g.loaded_python3_provider = 0\n{setup}\n{enable}\n"))
            .expect("the folder is ours");
        let editor = Neovim::start(version, project, &init.display().to_string(), file, |command| {
            command.env("PATH", path);
        })?;
        editor.evaluate(&format!("dofile('{PROBES}')"));
        Some(editor)
    }

    /// Opens a file of a project with another plugin, whose folder and settings (in Lua) are given, and without our server. Prints a
    /// message and returns `None` if there is no Neovim that is new enough.
    ///
    /// # Panics
    ///
    /// If Neovim does not start.
    #[track_caller]
    pub fn with_plugin(project: &Project, file: &str, plugin: &Path, setup: &str) -> Option<Neovim> {
        Neovim::start(NeovimVersion::Native, project, PLUGIN_INIT, file, |command| {
            command.env("GHOSTBENCH_TEST_PLUGIN", plugin).env("GHOSTBENCH_TEST_SETUP", setup);
        })
    }

    #[track_caller]
    fn start(
        version: NeovimVersion,
        project: &Project,
        script: &str,
        file: &str,
        configure: impl FnOnce(&mut Command),
    ) -> Option<Neovim> {
        let program = component(version.program())?;
        let socket = free_socket(project);
        let mut command = project.command(&program, "--headless -i NONE -n");
        command.args(["-u", script, "--listen"]).arg(&socket).arg(file);
        configure(&mut command);
        let editor =
            Neovim { program, socket, home: project.home(), _process: RunningProcess::start(command) };
        poll_until("Neovim listens", || editor.remote("--remote-expr", "1").is_ok());
        if version.program() == "nvim" && editor.evaluate(&format!("vim.fn.has('{OLDEST}')")) == 0 {
            missing("nvim is older than 0.12; `cargo xtask test` installs a newer one on Debian");
            return None;
        }
        Some(editor)
    }

    /// Kills the editor, as a crash or a lost connection does.
    pub fn kill(mut self) {
        self._process.kill();
    }

    /// Returns the program, and the socket on which it listens.
    pub fn address(&self) -> (&Path, &Path) {
        (&self.program, &self.socket)
    }

    /// Presses keys, in Neovim's notation: a `<` itself is `<lt>`.
    ///
    /// # Panics
    ///
    /// If Neovim has exited.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.remote("--remote-send", keys).expect("Neovim runs");
    }

    /// Returns the value of a Lua expression.
    ///
    /// # Panics
    ///
    /// If its evaluation fails.
    #[track_caller]
    pub fn evaluate(&self, lua: &str) -> Value {
        // The inner parentheses keep only the first value.
        let quoted = format!("vim.json.encode(({lua}))").replace('\'', "''");
        let answer = self.remote("--remote-expr", &format!("luaeval('{quoted}')"));
        let answer = answer.unwrap_or_else(|error| panic!("`{lua}` failed in Neovim: {error}"));
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("`{lua}` gave {answer}: {error}"))
    }

    /// Waits until a Lua expression is neither nil nor false, and returns its value.
    ///
    /// # Panics
    ///
    /// On timeout.
    #[track_caller]
    pub fn wait_until(&self, lua: &str) -> Value {
        let mut value = Value::Null;
        poll_until(&format!("`{lua}` in Neovim"), || {
            value = self.evaluate(lua);
            !matches!(value, Value::Null | Value::Bool(false))
        });
        value
    }

    /// Waits until ghost text is shown, and returns it.
    #[track_caller]
    pub fn wait_for_ghost_text(&self) -> String {
        self.wait_until("Test.ghost_text()").as_str().expect("ghost text is text").to_owned()
    }

    /// Returns the shown ghost text.
    #[track_caller]
    pub fn ghost_text(&self) -> Option<String> {
        self.evaluate("Test.ghost_text()").as_str().map(str::to_owned)
    }

    /// Returns the lines of the editor's buffer.
    #[track_caller]
    pub fn text(&self) -> String {
        let text = self.evaluate("table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')");
        text.as_str().expect("lines are text").to_owned()
    }

    /// Stops sending requests of a method, as if the server did not answer.
    #[track_caller]
    pub fn hold(&self, method: &str) {
        self.evaluate(&format!("rawset(Test.held, '{method}', true)"));
    }

    /// Returns all sent requests of a method, with their responses.
    #[track_caller]
    pub fn requests(&self, method: &str) -> Vec<Value> {
        let mut requests = self.evaluate("Test.requests");
        let requests = requests.as_array_mut().map(std::mem::take).unwrap_or_default();
        requests.into_iter().filter(|request| request["method"] == method).collect()
    }

    /// Waits until the latest request of a method is answered, and returns the response.
    #[track_caller]
    pub fn wait_for_answer(&self, method: &str) -> Value {
        let mut latest = None;
        poll_until(&format!("{method} is answered"), || {
            latest = self.requests(method).pop();
            latest.as_ref().is_some_and(|request| request["is_answered"] == true)
        });
        latest.expect("there is one")
    }

    /// Returns the editor's text with an item of a response inserted.
    #[track_caller]
    pub fn text_with(&self, item: &Value) -> String {
        let text = self.text();
        let buffer = Buffer::new("file:///any", "any", self.encoding(), &text);
        let (start, end) = (buffer.offset(&item["range"]["start"]), buffer.offset(&item["range"]["end"]));
        let insert = item["insertText"].as_str().expect("an item is plain text");
        format!("{}{insert}{}", &text[..start], &text[end..])
    }

    fn encoding(&self) -> Encoding {
        let name = self.evaluate("vim.lsp.get_clients({ bufnr = 0 })[1].offset_encoding");
        let found = Encoding::ALL.into_iter().find(|encoding| name == encoding.name());
        found.unwrap_or_else(|| panic!("{name} is no encoding"))
    }

    /// Returns the output of `nvim --server`, also of a failed call.
    fn remote(&self, action: &str, argument: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        // Without a folder for its log, Neovim writes one to its working directory.
        command
            .env("HOME", &self.home)
            .current_dir(&self.home)
            .arg("--server")
            .arg(&self.socket)
            .args([action, argument]);
        let output = command.output().expect("Neovim can be started");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

/// Returns the path of a socket that no other Neovim of the project listens on.
fn free_socket(project: &Project) -> PathBuf {
    let paths = (0..).map(|number| project.sibling_path(&format!("nvim{number}.sock")));
    paths.into_iter().find(|path| !path.exists()).expect("there are endless numbers")
}

#[track_caller]
fn poll_until(what: &str, mut is_true: impl FnMut() -> bool) {
    wait_until(what, || {
        let found = is_true();
        if !found {
            thread::sleep(POLL_INTERVAL);
        }
        found
    });
}

/// Copies a folder with all that is in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder is ours");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let copy = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("the folder is ours");
        }
    }
}

/// Returns the search path with the folder of `ghostbench` first.
pub fn search_path() -> OsString {
    path_with(binary().parent().expect("a file has a folder"))
}

/// Returns the search path with a folder prepended.
fn path_with(folder: &Path) -> OsString {
    let paths = env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(folder.to_owned()).chain(env::split_paths(&paths));
    env::join_paths(paths).expect("folders of a search path can be joined")
}
