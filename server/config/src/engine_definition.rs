//! Engines: merges the layers of each engine and checks whether it can be used.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::config::{EffectiveValue, LayeredSetting, effective_value};
use crate::engine_identity::{IdentityPart, identity};
use crate::engine_kind::EngineKind;
use crate::environment::Environment;
use crate::key::Values;
use crate::layer::ConfigLayer;
use crate::problem::Problem;
use crate::setting_location::{LayerKind, SettingLocation, SettingOrigin};
use crate::suggest::backquoted_list;
use crate::table::{ENGINE, EngineSettings, defaults};
use crate::trust::Trust;
use crate::validate::EngineLayerEntry;
use crate::value::Value;

/// A configured engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDefinition {
    /// Name of the engine.
    pub name: String,
    /// Kind of the engine, if known.
    pub kind: Option<EngineKind>,
    /// Its settings, or the reason why it cannot be used.
    pub settings: Result<EngineSettings, EngineConfigError>,
    /// Place where it is first named.
    pub origin: SettingOrigin,
    /// Settings that can change its answers; none for an engine without a kind.
    pub identity: Vec<IdentityPart>,
    values: Vec<EffectiveValue>,
}

/// Reason why an engine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineConfigError {
    /// The file that defines it is not trusted.
    Untrusted {
        /// The file.
        file: Arc<Path>,
    },
    /// A required setting is missing.
    Incomplete {
        /// Description of the missing setting.
        reason: String,
    },
}

impl fmt::Display for EngineConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineConfigError::Untrusted { file } => write!(f, "{} is not trusted", file.display()),
            EngineConfigError::Incomplete { reason } => f.write_str(reason),
        }
    }
}

impl EngineDefinition {
    /// Returns its keys that are set or have a default for its kind, in the order of the table.
    pub fn values(&self) -> &[EffectiveValue] {
        &self.values
    }
}

/// The entries of one engine in all layers, the strongest last.
#[derive(Default)]
struct EngineLayers<'a>(Vec<(&'a EngineLayerEntry, &'a ConfigLayer)>);

/// The settings of one engine by key.
type SettingsByKey<'a> = BTreeMap<&'static str, LayeredSetting<'a>>;

/// Returns all engines, and the problems that concern an engine as a whole.
pub(crate) fn merge_engines(
    layers: &[&ConfigLayer],
    variables: &Environment,
) -> (Vec<EngineDefinition>, Vec<Problem>) {
    let mut names: Vec<&str> = Vec::new();
    let mut trusted: BTreeMap<&str, EngineLayers<'_>> = BTreeMap::new();
    let mut untrusted: BTreeMap<&str, EngineLayers<'_>> = BTreeMap::new();
    for layer in layers {
        let found = if layer.trust == Trust::Trusted { &mut trusted } else { &mut untrusted };
        for entry in &layer.engines {
            if !names.contains(&entry.name.as_str()) {
                names.push(&entry.name);
            }
            found.entry(&entry.name).or_default().0.push((entry, layer));
        }
    }
    let mut problems = Vec::new();
    let engines = names.into_iter().filter_map(|name| match (trusted.get(name), untrusted.get(name)) {
        // An untrusted file cannot change an engine that other layers define.
        (Some(gathered), _) => engine(name, gathered, variables, &mut problems),
        (None, Some(gathered)) => unvalidated_definition(name, gathered, variables),
        (None, None) => None,
    });
    let engines = engines.collect();
    (engines, problems)
}

/// An engine that is listed but cannot be used. Its other problems do not matter yet.
fn unvalidated_definition(
    name: &str,
    gathered: &EngineLayers<'_>,
    variables: &Environment,
) -> Option<EngineDefinition> {
    let file = gathered.0.first().and_then(|(_, layer)| layer.path.clone())?;
    let engine = engine(name, gathered, variables, &mut Vec::new())?;
    Some(EngineDefinition { settings: Err(EngineConfigError::Untrusted { file }), ..engine })
}

fn engine(
    name: &str,
    gathered: &EngineLayers<'_>,
    variables: &Environment,
    problems: &mut Vec<Problem>,
) -> Option<EngineDefinition> {
    let (first, layer) = gathered.0.first()?;
    let origin = SettingOrigin { layer: layer.kind, location: first.location.clone() };
    let mut set = gathered.strongest();
    let kind = match set.get("kind").map(|layered| &layered.setting.value) {
        Some(Value::Text(word)) => EngineKind::from_name(word),
        _ => None,
    };
    let rows = rows(kind, &set);
    let mut obstacles = Vec::new();
    let mut parts = Vec::new();
    let settings = match kind {
        None => {
            obstacles.push("it has no `kind`".to_owned());
            if !gathered.was_rejected("kind") {
                let message = format!("engine `{name}` has no `kind`; give it one");
                problems.push(Problem::error(first.location.clone(), message));
            }
            None
        }
        Some(kind) => {
            problems.extend(unused_keys(kind, &set));
            set.retain(|_, layered| (layered.setting.key.is_for)(kind));
            for key in kind.required_keys().iter().filter(|key| !set.contains_key(**key)) {
                let message = format!("engine `{name}` of kind `{kind}` needs `{key}`");
                obstacles.push(format!("it needs `{key}`"));
                // An invalid value is already reported at its position.
                if !gathered.was_rejected(key) {
                    problems.push(Problem::error(first.location.clone(), message));
                }
            }
            obstacles.extend(gathered.0.iter().filter_map(|(entry, _)| {
                let again = entry.duplicate_at.as_ref()?;
                Some(format!(
                    "two engines are called `{name}`, at {} and at {again}; rename one",
                    entry.location
                ))
            }));
            for (place, variable) in unset_variables(&set, variables) {
                let needs = format!("needs the environment variable {variable}, which is not set");
                obstacles.push(format!("it {needs}"));
                problems.push(Problem::warning(place, format!("engine `{name}` {needs}")));
            }
            let values = values(kind, &set);
            parts = identity(kind, &values, variables);
            Some(EngineSettings::of(&values, variables))
        }
    };
    let settings = settings.filter(|_| obstacles.is_empty());
    let settings = settings.ok_or_else(|| EngineConfigError::Incomplete { reason: obstacles.join("; ") });
    Some(EngineDefinition { name: name.to_owned(), kind, settings, origin, identity: parts, values: rows })
}

impl<'a> EngineLayers<'a> {
    /// Returns the strongest value of each key.
    fn strongest(&self) -> SettingsByKey<'a> {
        let mut set = SettingsByKey::new();
        for (entry, layer) in &self.0 {
            for setting in &entry.settings {
                set.insert(setting.key.name, LayeredSetting { setting, layer: layer.kind });
            }
        }
        set
    }

    /// Returns whether a layer has an invalid value for the key.
    fn was_rejected(&self, key: &str) -> bool {
        self.0.iter().any(|(entry, _)| entry.rejected_keys.contains(&key))
    }
}

/// Reports keys that engines of this kind do not have.
fn unused_keys(kind: EngineKind, set: &SettingsByKey<'_>) -> Vec<Problem> {
    let strangers = set.values().filter(|layered| !(layered.setting.key.is_for)(kind));
    let problem = |layered: &LayeredSetting<'_>| {
        let key = layered.setting.key;
        let kinds = backquoted_list(key.kinds().map(EngineKind::name));
        let message = format!("`{}` does not apply to engines of kind `{kind}`, only to {kinds}", key.name);
        Problem::warning(layered.setting.location.clone(), message)
    };
    strangers.map(problem).collect()
}

/// Returns references to environment variables that are unset or blank.
fn unset_variables(set: &SettingsByKey<'_>, variables: &Environment) -> Vec<(SettingLocation, String)> {
    let mut unset: Vec<(SettingLocation, String)> = Vec::new();
    for layered in set.values() {
        for variable in layered.setting.value.variables() {
            let is_reported = unset.iter().any(|(_, name)| name == variable);
            if !is_reported && variables.get(variable).is_none() {
                unset.push((layered.setting.location.clone(), variable.to_owned()));
            }
        }
    }
    unset
}

/// Returns the settings merged over the defaults.
fn values(kind: EngineKind, set: &SettingsByKey<'_>) -> Values {
    let mut values: Values = defaults(&ENGINE).clone();
    values.extend(kind.default_url().map(|url| ("url", Value::Url(url.to_owned()))));
    values.extend(set.iter().map(|(key, layered)| (*key, layered.setting.value.clone())));
    values
}

fn rows(kind: Option<EngineKind>, set: &SettingsByKey<'_>) -> Vec<EffectiveValue> {
    let mut rows = Vec::new();
    for key in ENGINE.keys {
        let mut row = effective_value(key, set.get(key.name));
        if key.name == "url" && row.value.is_none() {
            row.value = kind.and_then(EngineKind::default_url).map(|url| format!("{url:?}"));
        }
        let is_set = row.origin.layer != LayerKind::Default;
        let means_something = kind.is_some_and(|kind| (key.is_for)(kind));
        if is_set || (means_something && row.value.is_some()) {
            rows.push(row);
        }
    }
    rows
}
