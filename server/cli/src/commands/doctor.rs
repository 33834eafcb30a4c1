//! `ghostbench doctor`: reports the effective settings of a folder with their origins, the engines in use, and all problems.

use std::path::{Path, PathBuf};

use config::{
    Config, ConfigLayer, EffectiveValue, LayerKind, Problem, SettingLocation, SettingOrigin, Severity, Trust,
};
use engines::RegisteredEngine;
use sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use session::{configured_runner, workspace_file};

use crate::args::DoctorArgs;
use crate::exit::{FindingError, UsageError};
use crate::folders;
use crate::output::print;
use crate::steps::engine_registry::registry_without_runs;
use crate::steps::find_tests::find_runner;
use crate::steps::ray_cluster::{self, ClusterSupport};
use crate::steps::settings_sources::SettingsSources;

/// Runs the command. Exit code 1 if there is a problem; an untrusted file does not count.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    if !args.path.is_dir() {
        let message = format!("{} is not a folder; name the folder of a workspace", args.path.display());
        return Err(UsageError(message).into());
    }
    let sources = SettingsSources::new(args.settings.file.as_deref());
    let layers = sources.layers(&args.path);
    let config = Config::new(&layers, &sources.variables);
    let findings = DoctorReport {
        files: files(&sources, &layers, args),
        folders: used_folders(),
        engines: registry_without_runs().configured_engines(&config),
        tests: UnitTests::of(&args.path, &config),
        cluster: ray_cluster::support(),
        config,
    };
    print(&if args.json { findings.to_json() } else { findings.to_text() })?;
    if findings.config.problems.iter().any(|problem| problem.severity != Severity::Untrusted) {
        return Err(FindingError("the settings have problems").into());
    }
    Ok(())
}

/// The report of the command.
struct DoctorReport {
    /// Settings files and their states.
    files: Vec<(&'static str, Option<PathBuf>, &'static str)>,
    /// The folders in use.
    folders: Vec<(&'static str, Option<PathBuf>)>,
    config: Config,
    /// The configured engines, in the order of the configuration.
    engines: Vec<RegisteredEngine>,
    tests: UnitTests,
    cluster: ClusterSupport,
}

/// Whether unit tests can judge answers here.
struct UnitTests {
    /// The runner of the settings, or the first one found.
    runner: Option<&'static str>,
    /// Name of the sandbox, or why there is none.
    sandbox: Result<&'static str, String>,
}

impl UnitTests {
    fn of(folder: &Path, config: &Config) -> UnitTests {
        let runner = find_runner(folder, configured_runner(&config.tests)).ok();
        let sandbox = Sandbox::new(folder, &SandboxOptions::default());
        UnitTests {
            runner: runner.map(|runner| runner.kind.name()),
            sandbox: sandbox.map(|sandbox| sandbox.confinement().name()).map_err(|error| error.to_string()),
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let runner = self.runner.unwrap_or("none found; set `command` in the section [tests]").to_owned();
        let sandbox =
            self.sandbox.as_ref().map_or_else(|why| format!("none: {why}"), |name| (*name).to_owned());
        vec![vec!["runner".to_owned(), runner], vec!["sandbox".to_owned(), sandbox]]
    }

    fn to_json(&self) -> Value {
        json!({"runner": self.runner, "sandbox": self.sandbox.as_ref().ok(), "reason": self.sandbox.as_ref().err()})
    }
}

fn files(
    sources: &SettingsSources,
    layers: &[ConfigLayer],
    args: &DoctorArgs,
) -> Vec<(&'static str, Option<PathBuf>, &'static str)> {
    let state = |kind: LayerKind| match layers.iter().find(|layer| layer.kind() == kind) {
        None => "not there",
        Some(layer) if layer.is_broken() => "has errors",
        Some(layer) => match (kind, layer.trust()) {
            (LayerKind::Workspace, Trust::Trusted) => "trusted",
            (_, Trust::Trusted) => "read",
            (_, Trust::Changed) => "changed since it was trusted",
            (_, Trust::Unknown) => "not trusted",
        },
    };
    let workspace = workspace_file(&args.path).unwrap_or_else(|| args.path.join(config::FILE_NAME));
    let mut files = vec![
        (LayerKind::User.name(), sources.files.user.clone(), state(LayerKind::User)),
        (LayerKind::Workspace.name(), Some(workspace), state(LayerKind::Workspace)),
    ];
    if sources.files.named.is_some() {
        files.push((
            LayerKind::CommandLine.name(),
            sources.files.named.clone(),
            state(LayerKind::CommandLine),
        ));
    }
    files
}

fn used_folders() -> Vec<(&'static str, Option<PathBuf>)> {
    vec![
        ("runs, suites, recorded cases", folders::data_path()),
        ("caches", folders::cache_path()),
        ("log of the server", folders::server_log()),
        ("logs of engines", folders::engine_logs()),
        ("list of trusted files", folders::trust_list()),
    ]
}

impl DoctorReport {
    fn to_text(&self) -> String {
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(|| "none: no home folder".to_owned(), |path| path.display().to_string())
        };
        let files = self
            .files
            .iter()
            .map(|(name, file, state)| vec![(*name).to_owned(), (*state).to_owned(), path(file)]);
        let folders = self.folders.iter().map(|(name, folder)| vec![(*name).to_owned(), path(folder)]);
        let settings = self.config.values().iter().map(|row| {
            vec![format!("{}.{}", row.key.section, row.key.name), display_value(row), row.origin.to_string()]
        });
        let problems = self.config.problems.iter().map(|problem| {
            vec![severity(problem).to_owned(), format!("{}: {}", problem.location, problem.message)]
        });
        let mut text = String::new();
        section(&mut text, "Files", files.collect());
        section(&mut text, "Folders", folders.collect());
        section(&mut text, "Settings", settings.collect());
        section(&mut text, "Engines", self.engine_rows());
        section(&mut text, "Unit tests as judges", self.tests.rows());
        section(&mut text, "Replay on a Ray cluster", self.cluster_rows());
        section(&mut text, "Problems", problems.collect());
        text
    }

    fn cluster_rows(&self) -> Vec<Vec<String>> {
        let state = match &self.cluster.versions {
            Ok(versions) => [("Python", Some(&versions.python)), ("Ray", versions.ray.as_ref())]
                .map(|(name, version)| format!("{name} {}", version.map_or("?", String::as_str)))
                .join(", "),
            Err(reason) => format!("not possible: {reason}"),
        };
        vec![vec!["python".to_owned(), state]]
    }

    fn engine_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for (engine, candidate) in self.config.engines.iter().zip(&self.engines) {
            let kind = engine.kind.map_or("?", |kind| kind.name());
            let state =
                candidate.obstacle().map_or_else(|| "asked".to_owned(), |why| format!("not asked: {why}"));
            rows.push(vec![engine.name.clone(), kind.to_owned(), state]);
            let keys = engine.values().iter().filter(|row| !["name", "kind"].contains(&row.key.name));
            rows.extend(
                keys.map(|row| {
                    vec![format!("  {}", row.key.name), display_value(row), row.origin.to_string()]
                }),
            );
        }
        if self.engines.iter().all(|candidate| candidate.obstacle().is_some()) {
            let state = "asked, because no other engine is".to_owned();
            rows.push(vec!["builtin".to_owned(), "builtin".to_owned(), state]);
        }
        rows
    }

    fn to_json(&self) -> String {
        let files = self
            .files
            .iter()
            .map(|(layer, path, state)| json!({"layer": layer, "path": path, "state": state}));
        let folders = self.folders.iter().map(|(name, path)| json!({"name": name, "path": path}));
        let settings = self.config.values().iter().map(|row| {
            let mut setting = json_row(row);
            setting["section"] = row.key.section.into();
            setting
        });
        let engines = self.config.engines.iter().zip(&self.engines).map(|(engine, candidate)| {
            json!({
                "name": engine.name,
                "kind": engine.kind.map(|kind| kind.name()),
                "asked": candidate.obstacle().is_none(),
                "reason": candidate.obstacle(),
                "settings": engine.values().iter().map(json_row).collect::<Vec<_>>(),
            })
        });
        let problems = self.config.problems.iter().map(|problem| {
            let mut place = json_location(&problem.location);
            place["severity"] = severity(problem).into();
            place["message"] = problem.message.clone().into();
            place
        });
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "files": files.collect::<Vec<_>>(),
            "folders": folders.collect::<Vec<_>>(),
            "settings": settings.collect::<Vec<_>>(),
            "engines": engines.collect::<Vec<_>>(),
            "tests": self.tests.to_json(),
            "cluster": {
                "python": self.cluster.python,
                "versions": self.cluster.versions.as_ref().ok(),
                "reason": self.cluster.versions.as_ref().err(),
            },
            "problems": problems.collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

fn display_value(row: &EffectiveValue) -> String {
    row.value.clone().unwrap_or_else(|| "-".to_owned())
}

fn severity(problem: &Problem) -> &'static str {
    match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Untrusted => "untrusted",
    }
}

fn json_row(row: &EffectiveValue) -> Value {
    let SettingOrigin { layer, location: place } = &row.origin;
    let mut json = json_location(place);
    json["key"] = row.key.name.into();
    json["value"] = row.value.clone().into();
    json["layer"] = layer.name().into();
    json
}

fn json_location(place: &SettingLocation) -> Value {
    match place {
        SettingLocation::Default => json!({}),
        SettingLocation::File { path, line: 0, .. } => json!({ "file": path.display().to_string() }),
        SettingLocation::File { path, line, column } => {
            json!({ "file": path.display().to_string(), "line": line, "column": column })
        }
        SettingLocation::Setting(setting) => json!({ "setting": setting }),
        SettingLocation::Variable(variable) => json!({ "variable": variable }),
        SettingLocation::Option(option) => json!({ "option": option }),
    }
}

/// Appends a heading and rows in aligned columns; nothing if there are no rows.
fn section(text: &mut String, heading: &str, rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    // One long value must not push the other columns out of view.
    let widths: Vec<usize> =
        (0..columns).map(|column| width(column).unwrap_or_default().min(MAX_COLUMN_WIDTH)).collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(heading);
    text.push('\n');
    for row in &rows {
        let mut line = String::from("  ");
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Maximum width in characters of a column that others are aligned to.
const MAX_COLUMN_WIDTH: usize = 48;
