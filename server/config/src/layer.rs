//! One layer of the configuration: a file, the editor's settings or the environment, each checked on its own.
//!
//! Problems of a layer do not affect other layers. A layer with an error may be replaced by its last valid version.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::environment::Environment;
use crate::problem::{Problem, Severity};
use crate::raw_value::{json, toml};
use crate::setting_location::{LayerKind, SettingLocation};
use crate::suggest::{snake_case, suggest};
use crate::table::SECTIONS;
use crate::trust::Trust;
use crate::validate::{
    EngineLayerEntry, KeySetting, TRUSTED, ValidatedLayer, check_value, truncate_name, validate,
};
use crate::value_type::ValidationContext;

/// Prefix of all Ghostbench environment variables.
const PREFIX: &str = "GHOSTBENCH_";

/// A layer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigLayer {
    pub(crate) kind: LayerKind,
    /// Path, if the layer is a file.
    pub(crate) path: Option<Arc<Path>>,
    pub(crate) trust: Trust,
    pub(crate) settings: Vec<KeySetting>,
    pub(crate) engines: Vec<EngineLayerEntry>,
    pub(crate) problems: Vec<Problem>,
}

impl ConfigLayer {
    /// Parses a file. Invalid TOML sets nothing, but everything that can be parsed is still checked.
    pub fn file(
        kind: LayerKind,
        path: &Path,
        content: &[u8],
        trust: Trust,
        variables: &Environment,
    ) -> ConfigLayer {
        let path: Arc<Path> = path.into();
        let text = match str::from_utf8(content) {
            Ok(text) => text,
            Err(error) => {
                let valid = content.get(..error.valid_up_to()).unwrap_or_default();
                let problems = vec![toml::not_text(&path, valid)];
                return ConfigLayer::new(
                    kind,
                    Some(path),
                    trust,
                    ValidatedLayer { problems, ..ValidatedLayer::default() },
                );
            }
        };
        let (entries, mut problems) = toml::entries(&path, text);
        let is_toml = problems.is_empty();
        let is_shared = kind == LayerKind::Workspace;
        let checked =
            validate(entries, kind, ValidationContext { folder: path.parent(), is_shared, variables });
        problems.extend(checked.problems);
        problems.sort_by_key(|problem| problem.location.position());
        let checked = if is_toml {
            ValidatedLayer { problems, ..checked }
        } else {
            ValidatedLayer { problems, ..ValidatedLayer::default() }
        };
        ConfigLayer::new(kind, Some(path), trust, checked)
    }

    /// A file that exists and cannot be read.
    pub fn unreadable(kind: LayerKind, path: &Path, reason: &str) -> ConfigLayer {
        let path: Arc<Path> = path.into();
        let problems =
            vec![Problem::error(SettingLocation::whole_file(&path), format!("cannot be read: {reason}"))];
        ConfigLayer::new(
            kind,
            Some(path),
            Trust::Trusted,
            ValidatedLayer { problems, ..ValidatedLayer::default() },
        )
    }

    /// Parses the settings of an editor: the sections and keys of a file as JSON, in camelCase or snake_case. Nulls set nothing.
    pub fn editor(settings: &Json, variables: &Environment) -> ConfigLayer {
        let around = ValidationContext { folder: None, is_shared: false, variables };
        let checked = match (settings, json::entries(settings)) {
            (Json::Null, _) => ValidatedLayer::default(),
            (_, Some(entries)) => validate(entries, LayerKind::Editor, around),
            (_, None) => {
                let place = SettingLocation::Setting("ghostbench".to_owned());
                let known: Vec<_> = SECTIONS.iter().map(|section| section.name).collect();
                let message = format!(
                    "the settings are not an object; the known fields are {}, engine",
                    known.join(", ")
                );
                ValidatedLayer { problems: vec![Problem::error(place, message)], ..ValidatedLayer::default() }
            }
        };
        ConfigLayer::new(LayerKind::Editor, None, Trust::Trusted, checked)
    }

    /// Reads the environment variables of the table. Others with the same prefix are ignored unless they resemble one of these.
    pub fn environment(variables: &Environment) -> ConfigLayer {
        let mut checked = ValidatedLayer::default();
        let keys: Vec<_> = SECTIONS.iter().flat_map(|section| section.keys).collect();
        let names: Vec<String> = keys.iter().filter_map(|key| key.variable()).collect();
        let around = ValidationContext { folder: None, is_shared: false, variables };
        for (name, value) in
            variables.iter().filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
        {
            let place = SettingLocation::Variable(name.to_owned());
            match keys.iter().find(|key| key.variable().as_deref() == Some(name)) {
                Some(key) => match check_value(key, &key.takes.raw_of_env(value), around) {
                    Ok((value, warning)) => {
                        checked.problems.extend(warning.map(|text| Problem::warning(place.clone(), text)));
                        checked.settings.push(KeySetting { key, value, location: place });
                    }
                    Err(reason) => {
                        let message = format!("`{}` in [{}] {reason}", key.name, key.section);
                        checked.problems.push(Problem::error(place, message));
                    }
                },
                None => checked.problems.extend(unknown_variable(name, &names)),
            }
        }
        ConfigLayer::new(LayerKind::Environment, None, Trust::Trusted, checked)
    }

    fn new(kind: LayerKind, path: Option<Arc<Path>>, trust: Trust, checked: ValidatedLayer) -> ConfigLayer {
        let ValidatedLayer { settings, engines, problems } = checked;
        ConfigLayer { kind, path, trust, settings, engines, problems }
    }

    /// Returns the kind of the layer.
    pub fn kind(&self) -> LayerKind {
        self.kind
    }

    /// Returns the path, if the layer is a file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns whether the layer may set all keys.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the problems of the layer.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns whether the layer has an error, so that some of its settings are missing.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Returns the layer; if it is broken, with the settings of its earlier version and the problems of the current one.
    #[must_use]
    pub fn or_last_valid(self, earlier: Option<&ConfigLayer>) -> ConfigLayer {
        match earlier {
            Some(earlier) if self.is_broken() && !earlier.settings_are_empty() => {
                ConfigLayer { problems: self.problems, path: self.path, ..earlier.clone() }
            }
            _ => self,
        }
    }

    fn settings_are_empty(&self) -> bool {
        self.settings.is_empty() && self.engines.is_empty()
    }
}

/// Returns the editor's `trusted` setting; `None` if unset.
pub fn editor_trusts_folder(settings: &Json) -> Option<bool> {
    settings.get(TRUSTED)?.as_bool()
}

/// Returns a warning about an unknown variable that resembles a known one.
fn unknown_variable(name: &str, names: &[String]) -> Option<Problem> {
    let rest = name.strip_prefix(PREFIX)?;
    let names = names.iter().filter_map(|name| name.strip_prefix(PREFIX));
    let lower: Vec<String> = names.map(snake_case).collect();
    let meant = suggest(rest, lower.iter().map(String::as_str));
    let section = SECTIONS.iter().find(|section| {
        snake_case(rest).strip_prefix(section.name).is_some_and(|rest| rest.starts_with('_'))
    });
    let remedy = match (meant, section) {
        (Some(meant), _) => format!("did you mean {PREFIX}{}?", meant.to_uppercase()),
        (None, Some(section)) => format!("[{}] has no such key", section.name),
        (None, None) => return None,
    };
    let message = format!("unknown variable {}; {remedy}", truncate_name(name));
    Some(Problem::warning(SettingLocation::Variable(name.to_owned()), message))
}
