//! Checks raw entries against the table. Reports everything unknown, with the most similar known name.

use crate::choices::Privacy;
use crate::key::{KeySpec, Section};
use crate::problem::Problem;
use crate::raw_value::{RawEntry, RawNode, RawValue};
use crate::setting_location::{LayerKind, SettingLocation};
use crate::suggest::{suggest, suggestion};
use crate::table::{ENGINE, SECTIONS, all_sections};
use crate::value::Value;
use crate::value_type::ValidationContext;

/// Editor setting by which the user trusts the folder. It is not a key of the table, because a file must not declare itself
/// trusted.
pub(crate) const TRUSTED: &str = "trusted";

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeySetting {
    pub(crate) key: &'static KeySpec,
    pub(crate) value: Value,
    pub(crate) location: SettingLocation,
}

/// The settings of one engine in one layer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EngineLayerEntry {
    pub(crate) name: String,
    pub(crate) location: SettingLocation,
    pub(crate) settings: Vec<KeySetting>,
    /// Keys with invalid values.
    pub(crate) rejected_keys: Vec<&'static str>,
    /// Position of another engine of this name in the same layer.
    pub(crate) duplicate_at: Option<SettingLocation>,
}

/// The valid settings of a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ValidatedLayer {
    pub(crate) settings: Vec<KeySetting>,
    pub(crate) engines: Vec<EngineLayerEntry>,
    pub(crate) problems: Vec<Problem>,
}

/// Checks all entries of a layer.
pub(crate) fn validate(
    entries: Vec<RawEntry>,
    layer: LayerKind,
    around: ValidationContext<'_>,
) -> ValidatedLayer {
    let mut checked = ValidatedLayer::default();
    for entry in entries {
        let section = SECTIONS.iter().find(|section| section.name == entry.key);
        match entry.node.raw {
            RawValue::Null => {}
            raw if entry.key == ENGINE.name => checked.engines(raw, entry.location, around),
            RawValue::Table(entries) if section.is_some() => {
                let section = section.expect("the guard asks for it");
                let (settings, _) = checked.settings_of(section, entries, around);
                checked.settings.extend(settings);
            }
            raw => {
                let is_known = layer == LayerKind::Editor && entry.key == TRUSTED;
                if !(is_known && matches!(raw, RawValue::Boolean(_))) {
                    checked.problems.push(unknown_section_problem(
                        &entry.key,
                        &raw,
                        entry.location,
                        section.copied(),
                    ));
                }
            }
        }
    }
    checked
}

impl ValidatedLayer {
    /// Returns the settings of a section or an engine, and the keys with invalid values.
    fn settings_of(
        &mut self,
        section: &Section,
        entries: Vec<RawEntry>,
        around: ValidationContext<'_>,
    ) -> (Vec<KeySetting>, Vec<&'static str>) {
        let (mut settings, mut refused) = (Vec::new(), Vec::new());
        for RawEntry { key: name, location: place, node } in entries {
            match section.key(&name) {
                _ if node.raw == RawValue::Null => {}
                None => self.problems.push(unknown_key(&name, place, section)),
                Some(key) => match check_value(key, &node.raw, around) {
                    Ok((value, warning)) => {
                        settings.push(KeySetting { key, value, location: place });
                        self.problems.extend(warning.map(|warning| Problem::warning(node.location, warning)));
                    }
                    Err(reason) => {
                        refused.push(key.name);
                        self.problems.push(Problem::error(node.location, format!("`{name}` {reason}")));
                    }
                },
            }
        }
        (settings, refused)
    }

    fn engines(&mut self, raw: RawValue, place: SettingLocation, around: ValidationContext<'_>) {
        let RawValue::List(nodes) = raw else {
            let message =
                format!("`engine` must be a list, not {}: begin each engine with [[engine]]", raw.kind());
            return self.problems.push(Problem::error(place, message));
        };
        for RawNode { raw, location: place } in nodes {
            match raw {
                RawValue::Table(entries) => self.engine(entries, place, around),
                other => {
                    let message =
                        format!("an engine must be a table with a `name` and a `kind`, not {}", other.kind());
                    self.problems.push(Problem::error(place, message));
                }
            }
        }
    }

    fn engine(&mut self, entries: Vec<RawEntry>, place: SettingLocation, around: ValidationContext<'_>) {
        let has_name = entries.iter().any(|entry| entry.key == "name");
        let (settings, refused) = self.settings_of(&ENGINE, entries, around);
        let named = settings.iter().find(|setting| setting.key.name == "name");
        let Some(Value::Text(name)) = named.map(|setting| setting.value.clone()) else {
            // A name that is present but invalid is already reported.
            if !has_name {
                self.problems.push(Problem::error(place, "this engine has no `name`; give it one"));
            }
            return;
        };
        if let Some(other) = self.engines.iter_mut().find(|other| other.name == name) {
            let message =
                format!("an engine `{name}` already exists at {}; rename one of them", other.location);
            other.duplicate_at.get_or_insert(place.clone());
            return self.problems.push(Problem::error(place, message));
        }
        self.engines.push(EngineLayerEntry {
            name,
            location: place,
            settings,
            rejected_keys: refused,
            duplicate_at: None,
        });
    }
}

/// Returns the checked value of a key, with a warning if another value than the written one applies; or the predicate of an error
/// sentence whose subject is the key.
pub(crate) fn check_value(
    key: &KeySpec,
    raw: &RawValue,
    around: ValidationContext<'_>,
) -> Result<(Value, Option<String>), String> {
    match key.takes.validate(raw, around) {
        Ok(value) => Ok((value, None)),
        // Without a value the default would apply, which may record more than the user wants.
        Err(reason) if key.name == "privacy" => {
            let off = Privacy::Off.name();
            let warning = format!(
                "`privacy` {reason}; until it is corrected, `{off}` applies, and nothing is recorded"
            );
            Ok((Value::Text(off.to_owned()), Some(warning)))
        }
        Err(reason) => Err(reason),
    }
}

/// Describes an unknown entry at the top level.
fn unknown_section_problem(
    name: &str,
    raw: &RawValue,
    place: SettingLocation,
    section: Option<&Section>,
) -> Problem {
    if section.is_some() {
        return Problem::error(
            place,
            format!("`{name}` must be a table, not {}: write [{name}]", raw.kind()),
        );
    }
    let home = all_sections().find(|section| section.key(name).is_some());
    let is_section = matches!(raw, RawValue::Table(_) | RawValue::List(_));
    let message = match home {
        Some(home) if !is_section && home.name == ENGINE.name => {
            format!("`{name}` belongs to an engine; move it below the engine's [[engine]]")
        }
        Some(home) if !is_section => format!("`{name}` belongs in [{}]; move it there", home.name),
        _ if name == TRUSTED => {
            "only an editor, `ghostbench trust` and --config can trust a file; remove `trusted`".to_owned()
        }
        _ => {
            let known = all_sections().map(|section| section.name);
            format!("unknown section `{}`; {}", truncate_name(name), suggestion(name, known))
        }
    };
    Problem::warning(place, message)
}

/// Names under which users try to write down keys.
const KEY_WORDS: [&str; 5] = ["api_key", "apikey", "key", "token", "api_token"];

fn unknown_key(name: &str, place: SettingLocation, section: &Section) -> Problem {
    let is_engine = section.name == ENGINE.name;
    if is_engine && KEY_WORDS.contains(&name) {
        let message = "keys are not allowed here; put the key into an environment variable and name it in `api_key_env`";
        return Problem::warning(place, message);
    }
    let homes = all_sections().filter(|other| other.name != section.name && other.key(name).is_some());
    let meant = suggest(name, section.names());
    let message = match (meant, homes.map(|home| home.name).next()) {
        (None, Some(home)) => {
            let brackets = if home == ENGINE.name { "[[engine]]".to_owned() } else { format!("[{home}]") };
            format!("`{name}` belongs in {brackets}; move it there")
        }
        _ => format!("unknown key `{}`; {}", truncate_name(name), suggestion(name, section.names())),
    };
    Problem::warning(place, message)
}

/// Shortens a name for messages: one line, no longer than a line.
pub(crate) fn truncate_name(name: &str) -> String {
    const LONGEST: usize = 40;
    let shown: String = name.escape_debug().take(LONGEST + 1).collect();
    if shown.chars().count() > LONGEST { shown.chars().take(LONGEST).chain(['…']).collect() } else { shown }
}
