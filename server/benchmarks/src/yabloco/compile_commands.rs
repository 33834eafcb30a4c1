//! The compilation database of a C or C++ project, `compile_commands.json`: which files are compiled, and where each looks for headers.
//!
//! Paths are compared as text, relative to the repository; no file is looked at. Files outside of the repository do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use serde::Deserialize;

/// Limit of the file in bytes. LLVM's has 50 MB.
const MAX_BYTES: u64 = 256 << 20;

/// Options that name a folder of headers, in their next argument or directly behind.
const INCLUDE_OPTIONS: [&str; 6] = ["-I", "-iquote", "-isystem", "-idirafter", "/I", "-external:I"];

/// The compiled files with their folders of headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileCommands {
    /// Folders by compiled file.
    files: BTreeMap<String, BTreeSet<String>>,
    /// Entries that are not valid or outside of the repository.
    pub ignored: usize,
}

/// An entry as written.
#[derive(Deserialize)]
struct Entry {
    directory: String,
    file: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

impl CompileCommands {
    /// Reads the database of the repository at `root`, an absolute path.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or is no JSON list.
    pub fn read(file: impl Read, root: &str) -> Result<CompileCommands, String> {
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
        if text.len() as u64 > MAX_BYTES {
            return Err(format!("longer than {MAX_BYTES} bytes"));
        }
        let entries: Vec<serde_json::Value> = cases::parse_document(&text)
            .map_err(|error| format!("line {}: {}", error.line, error.message))?;
        let mut commands = CompileCommands::default();
        for entry in entries {
            let added =
                serde_json::from_value::<Entry>(entry).ok().and_then(|entry| commands.add(&entry, root));
            commands.ignored += usize::from(added.is_none());
        }
        Ok(commands)
    }

    fn add(&mut self, entry: &Entry, root: &str) -> Option<()> {
        let inside = |path: &str| relative(&absolute(path, &entry.directory), root);
        let folders = self.files.entry(inside(&entry.file)?).or_default();
        let words =
            if entry.arguments.is_empty() { shell_words(&entry.command) } else { entry.arguments.clone() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(rest) = INCLUDE_OPTIONS.iter().find_map(|option| word.strip_prefix(option)) else {
                continue;
            };
            let folder = if rest.is_empty() { words.next()?.as_str() } else { rest.trim_start_matches('=') };
            folders.extend(inside(folder));
        }
        Some(())
    }

    /// Returns the number of compiled files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file of the repository is compiled.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether a file is compiled.
    pub fn compiles(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns the paths of the repository that `#include "name"` in a file can mean, the nearest first.
    pub fn include_targets<'a>(&'a self, path: &'a str, name: &'a str) -> impl Iterator<Item = String> + 'a {
        let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folders = self.files.get(path).into_iter().flatten().map(String::as_str);
        std::iter::once(own).chain(folders).filter_map(move |folder| join(folder, name))
    }

    /// Returns the folders of headers of all files.
    pub fn folders(&self) -> BTreeSet<&str> {
        self.files.values().flatten().map(String::as_str).collect()
    }
}

/// Returns the path without `.` and `..`; `None` if it leaves the folder that it is relative to.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn join(folder: &str, name: &str) -> Option<String> {
    normal(&[folder, name].join("/"))
}

fn absolute(path: &str, directory: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
    if is_absolute { path.to_owned() } else { [directory, path].join("/") }
}

/// Returns an absolute path relative to the root; `None` outside of it.
pub(super) fn relative(path: &str, root: &str) -> Option<String> {
    let (path, root) = (normal(path)?, normal(root)?);
    let rest = path.strip_prefix(&root)?;
    if rest.is_empty() { Some(String::new()) } else { rest.strip_prefix('/').map(str::to_owned) }
}

/// Splits a command as a shell does: blanks separate, quotes and backslashes keep.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_folders_of_headers() {
        let text = r#"[
            {"directory": "/w/repo/build", "file": "../src/a.c", "command": "cc -I../include \"-I/w/repo/third party\" -isystem /usr/include -I/w/repo -c ../src/a.c"},
            {"directory": "/w/repo", "file": "/w/repo/src/b.c", "arguments": ["cc", "-iquote", "lib", "-c", "src/b.c"]},
            {"directory": "/w/repo", "file": "/w/other/c.c", "arguments": []},
            {"directory": "/w", "file": "../../x.c", "arguments": []},
            {"file": 1}
        ]"#;
        let commands = CompileCommands::read(text.as_bytes(), "/w/repo").expect("a database");
        assert_eq!((commands.len(), commands.ignored), (2, 3));
        assert!(commands.compiles("src/a.c") && commands.compiles("src/b.c") && !commands.compiles("c.c"));
        let targets: Vec<String> = commands.include_targets("src/a.c", "x/y.h").collect();
        assert_eq!(targets, ["src/x/y.h", "x/y.h", "include/x/y.h", "third party/x/y.h"]);
        let targets: Vec<String> = commands.include_targets("src/b.c", "../y.h").collect();
        assert_eq!(targets, ["y.h", "y.h"]);
        assert_eq!(commands.include_targets("src/b.c", "../../../y.h").count(), 0);
    }

    #[test]
    fn broken_databases_are_refused() {
        for text in ["", "{}", "[1", "\u{0}"] {
            assert!(CompileCommands::read(text.as_bytes(), "/w").is_err(), "{text}");
        }
        assert_eq!(CompileCommands::read(&b"[1, null]"[..], "/w").expect("a list").ignored, 2);
    }

    #[test]
    fn commands_are_split_as_by_a_shell() {
        assert_eq!(shell_words(r#"a 'b c' "d \" e"f \ g"#), ["a", "b c", "d \" ef", " g"]);
        assert_eq!(shell_words("  "), Vec::<String>::new());
    }
}
