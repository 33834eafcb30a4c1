//! The sources of real completion plugins.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks a plugin (`GHOSTBENCH_PLUGINS`) below `folder`, and returns its folder. Prints a message and returns `None` if the variable is
/// unset.
///
/// # Panics
///
/// If the plugin is missing or cannot be read.
pub fn unpack_plugin(folder: &Path, name: &str) -> Option<PathBuf> {
    let Some(plugins) = env::var_os("GHOSTBENCH_PLUGINS").map(PathBuf::from) else {
        let _ = writeln!(io::stderr(), "skipped: GHOSTBENCH_PLUGINS is not set");
        return None;
    };
    let packed = plugins.join(format!("{name}.tar.gz"));
    assert!(packed.is_file(), "{} is missing", packed.display());
    let status = Command::new("tar").arg("xzf").arg(&packed).arg("-C").arg(folder).status();
    assert!(status.expect("tar can be started").success(), "{} cannot be unpacked", packed.display());
    let plugin = folder.join(name);
    assert!(plugin.is_dir(), "{} is not in it", plugin.display());
    Some(plugin)
}
