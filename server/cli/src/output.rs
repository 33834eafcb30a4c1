//! Prints results to standard output and messages to standard error.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;

/// Prints a result. A closed pipe is an error that ends the command silently.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a message to standard error, and ignores errors.
pub(crate) fn print_message(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Formats a number and its noun.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns the style of tables on standard output.
pub(crate) fn style() -> report::terminal::Style {
    let is_terminal = io::stdout().is_terminal();
    report::terminal::Style {
        color: is_terminal && takes_color(),
        width: console_width().filter(|_| is_terminal).unwrap_or(DEFAULT_WIDTH),
        unicode: !cfg!(windows) || is_terminal,
    }
}

/// Returns the style of tables on standard error.
pub(crate) fn error_style() -> report::terminal::Style {
    let is_terminal = io::stderr().is_terminal();
    report::terminal::Style { color: is_terminal && takes_color(), ..style() }
}

/// Returns whether the terminal supports escape codes and the user has not disabled colors.
fn takes_color() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    !is_dumb && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Width of output to a file or a pipe.
const DEFAULT_WIDTH: usize = 100;

fn console_width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(usize::from(columns))
}

/// Formats a path for a message: always on one line.
pub(crate) fn path(path: &Path) -> String {
    let shown = path.display().to_string();
    shown
        .chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

/// Writes the page of `--html`.
pub(crate) fn write_page(file: &Path, html: &[u8]) -> anyhow::Result<()> {
    private_files::write(file, html)
        .with_context(|| format!("cannot write {}; choose another place with --html", path(file)))
}

/// Quotes a path for a shell.
pub(crate) fn shell_quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "/\\._-:+@%".contains(c));
    if is_plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
