//! Everything a program's answers depend on besides its settings, as far as it can be determined without running it: the files
//! that its command line refers to, and its inherited variables.
//!
//! Reads the beginning of the program for its interpreter, and nothing else. Files that a program loads itself are unknown:
//! imported modules, libraries, configuration in a home folder, servers.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::Program;

/// Maximum length of a shebang line in bytes: as much as Linux reads.
const SHEBANG: u64 = 256;

/// Variables of the terminal, the login, the desktop or the editor from which Ghostbench was started. They differ between
/// windows, and models do not read them.
const OF_THE_SESSION: [&str; 30] = [
    "_",
    "COLORTERM",
    "COLUMNS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_STARTUP_ID",
    "DISPLAY",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "ICEAUTHORITY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LINES",
    "LS_COLORS",
    "MANAGERPID",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
    "OLDPWD",
    "PROMPT",
    "PS1",
    "PWD",
    "SESSIONNAME",
    "SESSION_MANAGER",
    "SHLVL",
    "STY",
    "SYSTEMD_EXEC_PID",
    "TERM",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "WINDOWPATH",
    "XAUTHORITY",
];

/// As [`OF_THE_SESSION`], by prefix.
const OF_THE_SESSION_BEGIN: [&str; 22] = [
    "ALACRITTY_",
    "CHROME_",
    "ELECTRON_",
    "GIO_",
    "GNOME_TERMINAL_",
    "ITERM_",
    "KITTY_",
    "KONSOLE_",
    "LC_TERMINAL",
    "MYVIMRC",
    "NVIM",
    "SSH_",
    "TERM_",
    "TERMINAL_",
    "TMUX",
    "VIM",
    "VSCODE_",
    "VTE_",
    "WEZTERM_",
    "WT_",
    "XDG_SESSION_",
    "ZELLIJ",
];

/// Returns the inherited variables that can change a program's behaviour, as names and values sorted by name.
pub(super) fn environment(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<_> = inherited.into_iter().filter(|(name, _)| !is_of_the_session(name)).collect();
    kept.sort_unstable();
    kept
}

fn is_of_the_session(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    OF_THE_SESSION.contains(&&*name) || OF_THE_SESSION_BEGIN.iter().any(|begin| name.starts_with(begin))
}

/// Returns the variables that a program inherits, without its own, in an unambiguous encoding.
pub(super) fn inherited_by(program: &Program, environment: &[(OsString, OsString)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in environment {
        if name.to_str().is_some_and(|name| program.env.contains_key(name)) {
            continue;
        }
        for text in [name, value] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_encoded_bytes());
        }
    }
    bytes
}

/// Returns the files and folders that an argument of the command line refers to; for the program itself also its interpreter.
pub(super) fn leads_to(program: &Program, place: usize) -> Vec<PathBuf> {
    if place == 0 {
        let file = program.file().unwrap_or_else(|| PathBuf::from(&program.command[0]));
        let interpreter = interpreter(&file, program);
        return [file].into_iter().chain(interpreter).collect();
    }
    let word = &program.command[place];
    let folder = program.folder.as_deref().unwrap_or(Path::new(""));
    let existing = |word: &str| {
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        [word, value]
            .into_iter()
            .filter(|path| !path.is_empty())
            .map(|path| folder.join(path))
            .find(|path| path.exists())
    };
    let mut found: Vec<PathBuf> = existing(word).into_iter().collect();
    if program.command[place - 1] == "-m" {
        found.extend(module(word, folder));
    }
    if found.is_empty() {
        // A shell's command text.
        let words = word.split(|c: char| c.is_whitespace() || "'\"`;&|()<>".contains(c));
        let files = words.filter(|word| word.contains(['.', '/', '\\'])).filter_map(existing);
        found.extend(files.filter(|path| path.is_file()));
    }
    found
}

/// Returns the file and the package folder where Python searches a module first.
fn module(name: &str, folder: &Path) -> Vec<PathBuf> {
    let package = name.split('.').next().unwrap_or(name);
    [format!("{package}.py"), package.to_owned()]
        .into_iter()
        .map(|name| folder.join(name))
        .filter(|path| !package.is_empty() && path.exists())
        .collect()
}

/// Returns the interpreter in a script's first line.
fn interpreter(script: &Path, program: &Program) -> Option<PathBuf> {
    if !script.is_file() {
        return None;
    }
    let mut beginning = Vec::new();
    File::open(script).ok()?.take(SHEBANG).read_to_end(&mut beginning).ok()?;
    let beginning = String::from_utf8_lossy(&beginning);
    let mut words = beginning.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let first = words.next()?;
    let name = match Path::new(first).file_name()?.to_str()? {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('='))?,
        _ => first,
    };
    Program { command: vec![name.to_owned()], ..program.clone() }.file()
}
