//! The repositories that the benchmarks run on: names, pinned versions and where their sources lie.

use std::path::PathBuf;

use syntax::Language;

/// Who distributes a repository, under the name in [`Pinned::package`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registry {
    /// A source distribution of PyPI.
    PyPi,
    /// A package of npm.
    Npm,
    /// A crate.
    Cargo,
    /// A binary package of Debian 12 that carries sources.
    DebianBinary,
    /// A source package of Debian 12.
    DebianSource,
    /// A row of `cceval_repos.jsonl` in the folder of golden data.
    Golden,
}

/// A repository at one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pinned {
    /// What tables call it; also its folder below `target/bench-repos`.
    pub name: &'static str,
    /// The registry's name for it.
    pub package: &'static str,
    /// Version, as the registry writes it.
    pub version: &'static str,
    /// The language that is measured.
    pub language: Language,
    /// Who distributes it.
    pub registry: Registry,
    /// Where the sources lie in the unpacked package.
    pub sources: &'static str,
}

/// A fetched repository.
#[derive(Clone, Debug)]
pub(crate) struct Repo {
    /// Its name and version.
    pub pinned: Pinned,
    /// The folder of its sources.
    pub root: PathBuf,
}

/// Every repository of the benchmarks.
pub(crate) const REPOSITORIES: &[Pinned] = &[
    pinned("flask", "flask", "3.1.3", Language::Python, Registry::PyPi, "."),
    pinned("rich", "rich", "15.0.0", Language::Python, Registry::PyPi, "."),
    pinned("jinja2", "jinja2", "3.1.6", Language::Python, Registry::PyPi, "."),
    pinned("rxjs", "rxjs", "7.8.2", Language::TypeScript, Registry::Npm, "src"),
    pinned("immer", "immer", "11.2.10", Language::TypeScript, Registry::Npm, "src"),
    pinned("regex-automata", "regex-automata", "0.4.18", Language::Rust, Registry::Cargo, "."),
    pinned("clap_builder", "clap_builder", "4.6.7", Language::Rust, Registry::Cargo, "."),
    pinned("tokio", "tokio", "1.54.1", Language::Rust, Registry::Cargo, "."),
    pinned("zstd", "zstd-sys", "2.1.2+zstd.1.5.7", Language::C, Registry::Cargo, "zstd/lib"),
    pinned(
        "gin",
        "golang-github-gin-gonic-gin-dev",
        "1.8.1-1",
        Language::Go,
        Registry::DebianBinary,
        "usr/share/gocode/src/github.com/gin-gonic/gin",
    ),
    pinned("javapoet", "javapoet", "1.13.0-1", Language::Java, Registry::DebianSource, "."),
    pinned(
        "commons-lang",
        "libcommons-lang3-java",
        "3.12.0-2+deb12u1",
        Language::Java,
        Registry::DebianSource,
        "src",
    ),
    pinned("leveldb", "leveldb", "1.23-4", Language::Cpp, Registry::DebianSource, "."),
    pinned("dapper", "Dapper", "31981fd", Language::CSharp, Registry::Golden, "."),
];

const fn pinned(
    name: &'static str,
    package: &'static str,
    version: &'static str,
    language: Language,
    registry: Registry,
    sources: &'static str,
) -> Pinned {
    Pinned { name, package, version, language, registry, sources }
}
