//! The platforms that packages are made for, with the name that each packaging system gives them, and the oldest C library that a
//! binary runs with.

use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::bytes::Regex;

/// A platform.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Platform {
    /// Target of rustc.
    pub triple: &'static str,
    /// Operating system, processor and C library for npm.
    pub npm: (&'static str, &'static str, Option<&'static str>),
    /// Target of VS Code's packager.
    pub vscode: &'static str,
    /// Architecture of Debian.
    pub debian: Option<&'static str>,
    /// Target in the registry of mason.nvim.
    pub mason: &'static str,
    /// Tag of Python's packages, or the processor in it where the tag depends on the C library of the binary.
    python: PythonTag,
}

/// Tag of Python's packages.
#[derive(Debug, PartialEq, Eq)]
enum PythonTag {
    /// The whole tag.
    Fixed(&'static str),
    /// A tag of Linux for this processor.
    Linux(&'static str),
}

/// All platforms of a release.
pub(super) const PLATFORMS: [Platform; 7] = [
    Platform {
        triple: "x86_64-unknown-linux-gnu",
        npm: ("linux", "x64", Some("glibc")),
        vscode: "linux-x64",
        debian: Some("amd64"),
        mason: "linux_x64_gnu",
        python: PythonTag::Linux("x86_64"),
    },
    Platform {
        triple: "aarch64-unknown-linux-gnu",
        npm: ("linux", "arm64", Some("glibc")),
        vscode: "linux-arm64",
        debian: Some("arm64"),
        mason: "linux_arm64_gnu",
        python: PythonTag::Linux("aarch64"),
    },
    Platform {
        triple: "x86_64-unknown-linux-musl",
        npm: ("linux", "x64", Some("musl")),
        vscode: "alpine-x64",
        debian: None,
        mason: "linux_x64_musl",
        python: PythonTag::Linux("x86_64"),
    },
    Platform {
        triple: "aarch64-unknown-linux-musl",
        npm: ("linux", "arm64", Some("musl")),
        vscode: "alpine-arm64",
        debian: None,
        mason: "linux_arm64_musl",
        python: PythonTag::Linux("aarch64"),
    },
    Platform {
        triple: "x86_64-apple-darwin",
        npm: ("darwin", "x64", None),
        vscode: "darwin-x64",
        debian: None,
        mason: "darwin_x64",
        python: PythonTag::Fixed("macosx_10_12_x86_64"),
    },
    Platform {
        triple: "aarch64-apple-darwin",
        npm: ("darwin", "arm64", None),
        vscode: "darwin-arm64",
        debian: None,
        mason: "darwin_arm64",
        python: PythonTag::Fixed("macosx_11_0_arm64"),
    },
    Platform {
        triple: "x86_64-pc-windows-msvc",
        npm: ("win32", "x64", None),
        vscode: "win32-x64",
        debian: None,
        mason: "win_x64",
        python: PythonTag::Fixed("win_amd64"),
    },
];

/// Names of versions of glibc's functions in a binary.
static GLIBC: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"GLIBC_2\.(\d{1,3})").expect("the pattern is part of the program"));

impl Platform {
    /// Returns the platform of a target of rustc.
    pub(super) fn of(triple: &str) -> Result<&'static Platform> {
        let found = PLATFORMS.iter().find(|platform| platform.triple == triple);
        found.with_context(|| {
            format!("no packages are made for {triple}; add it to xtask/src/package/platform.rs")
        })
    }

    /// Whether programs end in `.exe`.
    pub(super) fn is_windows(&self) -> bool {
        self.triple.contains("windows")
    }

    /// Name of the program.
    pub(super) fn program(&self) -> &'static str {
        if self.is_windows() { "ghostbench.exe" } else { "ghostbench" }
    }

    /// Name of the archive without its ending, which is also the folder in it.
    pub(super) fn archive_stem(&self) -> String {
        format!("ghostbench-{}", self.triple)
    }

    /// Name of the archive.
    pub(super) fn archive_name(&self) -> String {
        let ending = if self.is_windows() { "zip" } else { "tar.gz" };
        format!("{}.{ending}", self.archive_stem())
    }

    /// Name of the npm package with the binary.
    pub(super) fn npm_package(&self) -> String {
        let (system, processor, library) = self.npm;
        let suffix = if library == Some("musl") { "-musl" } else { "" };
        format!("@ghostbench/cli-{system}-{processor}{suffix}")
    }

    /// Tags of Python's packages, each of which is enough. A binary without glibc contains all that it needs, so it runs with
    /// either C library; pip prefers the package for the newest glibc that it can use.
    pub(super) fn python_tags(&self, binary: &[u8]) -> Vec<String> {
        match (&self.python, glibc_minor(binary)) {
            (PythonTag::Fixed(tag), _) => vec![(*tag).to_owned()],
            (PythonTag::Linux(processor), Some(minor)) => vec![format!("manylinux_2_{minor}_{processor}")],
            (PythonTag::Linux(processor), None) => {
                vec![format!("manylinux_2_17_{processor}"), format!("musllinux_1_1_{processor}")]
            }
        }
    }
}

/// Minor version of the oldest glibc 2 that has all functions of a binary; `None` if it uses none of them.
pub(super) fn glibc_minor(binary: &[u8]) -> Option<u32> {
    let versions = GLIBC.captures_iter(binary).filter_map(|found| {
        let digits = found.get(1)?.as_bytes();
        std::str::from_utf8(digits).ok()?.parse().ok()
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tag_names_the_newest_glibc_function() {
        let platform = Platform::of("x86_64-unknown-linux-gnu").expect("it is supported");
        let binary = b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0";
        assert_eq!(platform.python_tags(binary), ["manylinux_2_34_x86_64"]);
    }

    #[test]
    fn static_binary_runs_with_both_libraries() {
        let platform = Platform::of("aarch64-unknown-linux-musl").expect("it is supported");
        assert_eq!(platform.python_tags(b"\x7fELF"), ["manylinux_2_17_aarch64", "musllinux_1_1_aarch64"]);
    }

    #[test]
    fn names_differ_between_platforms() {
        let names: [fn(&Platform) -> String; 4] = [
            Platform::npm_package,
            Platform::archive_name,
            |platform| platform.vscode.to_owned(),
            |platform| platform.mason.to_owned(),
        ];
        for name in names {
            let different: BTreeSet<_> = PLATFORMS.iter().map(name).collect();
            assert_eq!(different.len(), PLATFORMS.len(), "{different:?}");
        }
    }

    #[test]
    fn unknown_platform_is_refused() {
        let error = Platform::of("wasm32-wasip2").expect_err("it is not in the table").to_string();
        assert!(error.contains("wasm32-wasip2"), "{error}");
    }
}
