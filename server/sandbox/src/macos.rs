//! The sandbox of macOS: a profile for `sandbox-exec`.

use std::path::Path;
use std::process::Command;

/// Returns a call of `sandbox-exec` for a program: no network, no home except tools, and writing only below `writable`.
pub(crate) fn command(home: &Path, readable: &[&Path], writable: &[&Path]) -> Command {
    let mut command = Command::new("/usr/bin/sandbox-exec");
    command.arg("-p").arg(profile(home, readable, writable));
    command
}

fn profile(home: &Path, readable: &[&Path], writable: &[&Path]) -> String {
    let subpath = |path: &Path| format!("(subpath {:?})", path.to_string_lossy());
    let list = |paths: &[&Path]| paths.iter().map(|path| subpath(path)).collect::<Vec<_>>().join(" ");
    format!(
        "(version 1)\n(allow default)\n(deny network*)\n(allow network* (local ip \"localhost:*\"))\n\
         (deny file-read* {})\n(allow file-read* {} {})\n\
         (deny file-write*)\n(allow file-write* {} (subpath \"/dev\"))\n",
        subpath(home),
        list(readable),
        list(writable),
        list(writable),
    )
}
