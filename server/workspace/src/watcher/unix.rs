//! Linux file systems that do not report changes made by other machines. On other systems, all are assumed to report them.

use std::path::Path;

/// Returns the name of the file system of `path`, if it is one of these.
#[cfg(target_os = "linux")]
pub(super) fn file_system_without_events(path: &Path) -> Option<&'static str> {
    /// File systems by their `statfs` numbers.
    const DEAF: [(u32, &str); 10] = [
        (0x6969, "NFS"),
        (0x517B, "SMB"),
        (0xFF53_4D42, "CIFS"),
        (0xFE53_4D42, "SMB2"),
        (0x0102_1997, "9P"),
        (0x6573_5546, "FUSE"),
        (0x6A65_6A63, "virtiofs"),
        (0x00C3_6400, "Ceph"),
        (0x5346_414F, "AFS"),
        (0x786F_4256, "a VirtualBox folder"),
    ];
    // The width of the number differs between platforms; all values fit into 32 bits.
    let kind = rustix::fs::statfs(path).ok()?.f_type as u32;
    DEAF.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn file_system_without_events(_: &Path) -> Option<&'static str> {
    None
}

/// Whether a system error means that the limit of watches is reached.
pub(super) fn is_limit(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}
