//! The repositories of the benchmarks: names, pinned versions and the folders of their sources.

use std::path::PathBuf;

use syntax::Language;

/// The registry of a repository, for the name in [`PinnedRepository::package`].
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
pub(crate) struct PinnedRepository {
    /// Name in tables and of its folder below `target/bench-repos`.
    pub name: &'static str,
    /// Name in the registry.
    pub package: &'static str,
    /// Version, in the registry's notation.
    pub version: &'static str,
    /// The measured language.
    pub language: Language,
    /// The registry.
    pub registry: Registry,
    /// Folder of the sources in the unpacked package.
    pub sources: &'static str,
}

impl PinnedRepository {
    /// Whether code of `language` has the same syntax as the measured one.
    pub(crate) fn measures(&self, language: Language) -> bool {
        family(self.language) == family(language)
    }
}

fn family(language: Language) -> Language {
    match language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => Language::TypeScript,
        Language::C | Language::Cpp => Language::C,
        other => other,
    }
}

/// A fetched repository.
#[derive(Clone, Debug)]
pub(crate) struct Repo {
    /// Its name and version.
    pub pinned: PinnedRepository,
    /// The folder of its sources.
    pub root: PathBuf,
}

/// The repositories of every part; weights are fitted on them, too.
pub(crate) const REPOSITORIES: &[PinnedRepository] = &[
    pinned("flask", "flask", "3.1.3", Language::Python, Registry::PyPi, "."),
    pinned("rich", "rich", "15.0.0", Language::Python, Registry::PyPi, "."),
    pinned("jinja2", "jinja2", "3.1.6", Language::Python, Registry::PyPi, "."),
    pinned("rxjs", "rxjs", "7.8.2", Language::TypeScript, Registry::Npm, "src"),
    pinned("immer", "immer", "11.2.10", Language::TypeScript, Registry::Npm, "src"),
    pinned("regex-automata", "regex-automata", "0.4.18", Language::Rust, Registry::Cargo, "."),
    pinned("clap_builder", "clap_builder", "4.6.7", Language::Rust, Registry::Cargo, "."),
    pinned("tokio", "tokio", "1.54.1", Language::Rust, Registry::Cargo, "."),
    pinned("zstd", "zstd-sys", "2.1.2+zstd.1.5.7", Language::C, Registry::Cargo, "zstd/lib"),
    pinned("gin", "golang-github-gin-gonic-gin-dev", "1.8.1-1", Language::Go, Registry::DebianBinary, GIN),
    pinned("javapoet", "javapoet", "1.13.0-1", Language::Java, Registry::DebianSource, "."),
    pinned("commons-lang", COMMONS_LANG, "3.12.0-2+deb12u1", Language::Java, Registry::DebianSource, "src"),
    pinned("leveldb", "leveldb", "1.23-4", Language::Cpp, Registry::DebianSource, "."),
    pinned("dapper", "Dapper", "31981fd", Language::CSharp, Registry::Golden, "."),
];

/// Additional repositories that the weights of retrieval are fitted on. No table is made from these, nor from [`REPOSITORIES`],
/// where retrieval is measured.
pub(crate) const FIT: &[PinnedRepository] = &[
    pinned("attrs", "attrs", "26.1.0", Language::Python, Registry::PyPi, "."),
    pinned("click", "click", "8.5.1", Language::Python, Registry::PyPi, "."),
    pinned("httpx", "httpx", "0.28.1", Language::Python, Registry::PyPi, "."),
    pinned("marshmallow", "marshmallow", "4.4.0", Language::Python, Registry::PyPi, "."),
    pinned("requests", "requests", "2.34.2", Language::Python, Registry::PyPi, "."),
    pinned("starlette", "starlette", "1.10.0", Language::Python, Registry::PyPi, "."),
    pinned("prosemirror-view", "prosemirror-view", "1.42.9", Language::TypeScript, Registry::Npm, "."),
    pinned("redux", "redux", "5.0.1", Language::TypeScript, Registry::Npm, "."),
    pinned("tiptap-core", "@tiptap/core", "3.34.0", Language::TypeScript, Registry::Npm, "."),
    pinned("zod", "zod", "4.6.7", Language::TypeScript, Registry::Npm, "."),
    pinned("failsafe", "failsafe", "080bd68", Language::Java, Registry::Golden, "."),
    pinned("jsoup", "jsoup", "1.15.3-1", Language::Java, Registry::DebianSource, "."),
    pinned("httpcore", "httpcomponents-core", "4.4.16-1", Language::Java, Registry::DebianSource, "."),
    pinned("dbus-sharp", "dbus-sharp", "0.8.1-2.1", Language::CSharp, Registry::DebianSource, "."),
    pinned("keepass", "keepass2", "2.47+dfsg-2", Language::CSharp, Registry::DebianSource, "."),
    pinned("chi", "golang-github-go-chi-chi-dev", "5.0.7-1", Language::Go, Registry::DebianBinary, CHI),
    pinned("snappy", "snappy", "1.1.9-3", Language::Cpp, Registry::DebianSource, "."),
];

/// The repositories of the retrieval tables. No weight is fitted on them, and none was in the study that retrieval was designed
/// with.
pub(crate) const REPORTED: &[PinnedRepository] = &[
    pinned("prompt_toolkit", "prompt_toolkit", "3.0.53", Language::Python, Registry::PyPi, "."),
    pinned("scrapy", "scrapy", "2.19.0", Language::Python, Registry::PyPi, "."),
    pinned("trio", "trio", "0.35.0", Language::Python, Registry::PyPi, "."),
    pinned("werkzeug", "werkzeug", "3.1.9", Language::Python, Registry::PyPi, "."),
    pinned("mobx", "mobx", "7.1.3", Language::TypeScript, Registry::Npm, "."),
    pinned("query-core", "@tanstack/query-core", "5.108.0", Language::TypeScript, Registry::Npm, "."),
    pinned("router-core", "@tanstack/router-core", "1.171.39", Language::TypeScript, Registry::Npm, "."),
    pinned("trpc-server", "@trpc/server", "11.25.2", Language::TypeScript, Registry::Npm, "."),
    pinned("collections", COLLECTIONS, "4.2-1", Language::Java, Registry::DebianSource, "."),
    pinned("junit", "junit4", "4.13.2-3", Language::Java, Registry::DebianSource, "."),
    pinned("zxing", "zxing", "3.4.1+ds-1", Language::Java, Registry::DebianSource, "."),
    pinned("dnlib", "dnlib", "2.1-3", Language::CSharp, Registry::DebianSource, "."),
    pinned("hyena", "hyena", "0.5-4.1", Language::CSharp, Registry::DebianSource, "."),
    pinned(
        "newtonsoft-json",
        "newtonsoft-json",
        "6.0.8+dfsg-1.1",
        Language::CSharp,
        Registry::DebianSource,
        ".",
    ),
    pinned("nunit", "nunit", "2.6.4+dfsg-1.1", Language::CSharp, Registry::DebianSource, "."),
    pinned("hyper", "hyper", "1.12.0", Language::Rust, Registry::Cargo, "."),
    pinned("rustls", "rustls", "0.23.46", Language::Rust, Registry::Cargo, "."),
    pinned("cobra", "golang-github-spf13-cobra-dev", "1.6.1-1", Language::Go, Registry::DebianBinary, COBRA),
    pinned("prometheus", PROMETHEUS_DEV, "1.14.0-3", Language::Go, Registry::DebianBinary, PROMETHEUS),
    pinned("libuv", "libuv1", "1.44.2-1+deb12u1", Language::C, Registry::DebianSource, "."),
    pinned("re2", "re2", "20220601+dfsg-1", Language::Cpp, Registry::DebianSource, "."),
    pinned("googletest", "googletest", "1.12.1-0.2", Language::Cpp, Registry::DebianSource, "."),
];

// Names and folders that are too long for a row.
const COLLECTIONS: &str = "libcommons-collections4-java";
const COMMONS_LANG: &str = "libcommons-lang3-java";
const PROMETHEUS_DEV: &str = "golang-github-prometheus-client-golang-dev";
const CHI: &str = "usr/share/gocode/src/github.com/go-chi/chi";
const COBRA: &str = "usr/share/gocode/src/github.com/spf13/cobra";
const GIN: &str = "usr/share/gocode/src/github.com/gin-gonic/gin";
const PROMETHEUS: &str = "usr/share/gocode/src/github.com/prometheus/client_golang";

const fn pinned(
    name: &'static str,
    package: &'static str,
    version: &'static str,
    language: Language,
    registry: Registry,
    sources: &'static str,
) -> PinnedRepository {
    PinnedRepository { name, package, version, language, registry, sources }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn reported_repositories_are_disjoint_from_fitted_ones() {
        let names =
            |set: &[PinnedRepository]| -> BTreeSet<_> { set.iter().map(|pinned| pinned.name).collect() };
        let fitted = &names(REPOSITORIES) | &names(FIT);
        assert_eq!(fitted.len(), REPOSITORIES.len() + FIT.len(), "a repository occurs twice");
        assert!(fitted.is_disjoint(&names(REPORTED)));
    }
}
