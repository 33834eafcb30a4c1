//! A real terminal, without a window: tmux, whose screen can be read and drawn.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Project, binary, component, wait_until};

/// Program that draws a screen.
const DRAW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/terminal/to_svg.py");

/// Seconds after which the shell ends, and with it the terminal, even if the test was killed. Longer than any test.
const LIFETIME: &str = "600";

/// A terminal with a shell in it. Dropping it ends it and its programs.
pub struct Terminal {
    program: PathBuf,
    socket: PathBuf,
    columns: u32,
}

impl Terminal {
    /// Opens a terminal with a shell in a folder, with the home of the project and `ghostbench` in its search path. Prints a
    /// message and returns `None` if tmux is missing.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[track_caller]
    pub fn open(project: &Project, folder: &Path, columns: u32, lines: u32) -> Option<Terminal> {
        let program = component("tmux")?;
        let terminal = Terminal { program, socket: project.sibling_path("tmux.sock"), columns };
        let mut command = project.command(&terminal.program, "-f /dev/null -S");
        command.arg(&terminal.socket).current_dir(folder);
        command.args(["new-session", "-d", "-x", &columns.to_string(), "-y", &lines.to_string()]);
        command.args(["timeout", "--foreground", LIFETIME]);
        // As root, other shells replace the prompt.
        command.args(["bash", "--norc", "--noprofile"]);
        let programs = binary().parent().expect("a folder").display().to_string();
        command.env("PATH", format!("{programs}:{}", std::env::var("PATH").expect("a search path")));
        command.env("PS1", "$ ").env("COLORTERM", "truecolor").env("LC_ALL", "C.UTF-8").env_remove("TMUX");
        assert!(command.status().expect("tmux starts").success(), "{command:?}");
        // The blank behind it is no part of the screen.
        terminal.wait_for("$");
        Some(terminal)
    }

    /// Types a line and presses Enter.
    #[track_caller]
    pub fn enter(&self, line: &str) {
        self.type_text(line);
        self.press(&["Enter"]);
    }

    /// Types text.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Presses keys, by tmux's names.
    #[track_caller]
    pub fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Returns the visible text.
    #[track_caller]
    pub fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the visible text contains a text.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("the terminal shows {text:?}"), |shown| shown.contains(text));
    }

    /// Waits until the visible text is as wanted.
    #[track_caller]
    pub fn wait_until(&self, wanted: &str, is_wanted: impl Fn(&str) -> bool) {
        wait_until(wanted, || is_wanted(&self.text()));
    }

    /// Draws the first lines of the visible text as SVG; blank lines at its end are left out.
    ///
    /// # Panics
    ///
    /// If the program that draws it fails.
    #[track_caller]
    pub fn draw(&self, python: &Path, path: &Path, title: &str, lines: usize) {
        let screen = self.tmux(&["capture-pane", "-p", "-e"]);
        let screen = screen.lines().take(lines).collect::<Vec<_>>().join("\n");
        let mut draw = Command::new(python);
        draw.arg(DRAW).arg(path).args([title, &self.columns.to_string()]).stdin(Stdio::piped());
        let mut child = draw.spawn().expect("Python starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(screen.trim_end().as_bytes()).expect("the program reads");
        drop(input);
        assert!(child.wait().expect("it ends").success(), "{draw:?}");
    }

    #[track_caller]
    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.program).arg("-S").arg(&self.socket).args(arguments).output();
        let output = output.expect("tmux starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("a screen is UTF-8")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = Command::new(&self.program).arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}
