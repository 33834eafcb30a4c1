//! `docs/benchmarks.md`: one section per part, between a pair of marker lines, with the machine that it was measured on.

use std::fs;

use anyhow::{Context, Result};

const DOCUMENT: &str = "docs/benchmarks.md";

/// Replaces the section of `part` by `body`, under a line that names this machine and the command to repeat it.
pub(crate) fn write_section(part: &str, body: &str) -> Result<()> {
    let text = fs::read_to_string(DOCUMENT).context("failed to read docs/benchmarks.md")?;
    let section = format!("{}. Repeat with `cargo xtask bench {part}`.\n\n{}\n", machine(), body.trim());
    let text = replace_section(&text, part, &section)
        .with_context(|| format!("docs/benchmarks.md lacks the marker lines of section `{part}`"))?;
    fs::write(DOCUMENT, text)?;
    println!("\n{body}\nwritten to {DOCUMENT}");
    Ok(())
}

/// Returns the document with the text between `<!-- bench:part -->` and `<!-- /bench:part -->` replaced.
fn replace_section(document: &str, part: &str, section: &str) -> Option<String> {
    let (before, rest) = document.split_once(&format!("<!-- bench:{part} -->\n"))?;
    let (_, after) = rest.split_once(&format!("<!-- /bench:{part} -->"))?;
    Some(format!("{before}<!-- bench:{part} -->\n{section}<!-- /bench:{part} -->{after}"))
}

/// Describes the machine: processor, cores, memory, operating system and the measured version.
fn machine() -> String {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal").and_then(|value| gigabytes(&value));
    let memory = memory.map_or_else(|| "unknown memory".to_owned(), |memory| format!("{memory} GB"));
    let os = std::env::consts::OS;
    let version = env!("CARGO_PKG_VERSION");
    format!("Ghostbench {version} on {cpu}, {cores} cores, {memory}, {os}")
}

/// Returns the value of the first `name: value` line of a file of `/proc`.
pub(super) fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Whole gigabytes of a value such as `24000000 kB`.
fn gigabytes(value: &str) -> Option<u64> {
    let kilobytes: u64 = value.strip_suffix(" kB")?.parse().ok()?;
    Some((kilobytes + 500_000) / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_rest_stays() {
        let document = "# A\n<!-- bench:main -->\nold\n<!-- /bench:main -->\nrest\n";
        let expected = "# A\n<!-- bench:main -->\nnew\n<!-- /bench:main -->\nrest\n";
        assert_eq!(replace_section(document, "main", "new\n").as_deref(), Some(expected));
        assert_eq!(replace_section(document, "scoring", "new\n"), None);
    }

    #[test]
    fn memory_is_rounded_to_gigabytes() {
        assert_eq!(gigabytes("24689012 kB"), Some(25));
        assert_eq!(gigabytes("24689012"), None);
    }
}
