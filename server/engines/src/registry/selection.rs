//! Selects engines by a list of names, or the default ones.

use config::Config;
use thiserror::Error;

use super::{RegisteredEngine, Registry};

/// Selected engines.
pub struct EngineSelection {
    /// The engines, all of which are usable.
    pub engines: Vec<RegisteredEngine>,
    /// Why other engines are not used, one sentence each.
    pub notes: Vec<String>,
}

/// Error of a selection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// No engine has this name.
    #[error("there is no engine `{name}`; known are {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The known names, those of the settings first.
        known: Vec<String>,
    },
    /// The engine exists but is not usable.
    #[error("engine `{name}` cannot be asked: {obstacle}")]
    Unavailable {
        /// Its name.
        name: String,
        /// Why.
        obstacle: String,
    },
    /// The list has the name twice.
    #[error(
        "engine `{name}` is named twice, by the {} and the {} --engine; name it once",
        ordinal(*.first),
        ordinal(*.second)
    )]
    NamedTwice {
        /// The name.
        name: String,
        /// Its first position in the list, from 1.
        first: usize,
        /// Its second position.
        second: usize,
    },
}

impl Registry {
    /// Returns the engine called `name`: one of the settings, which take precedence, or one that needs no settings.
    pub fn named(&self, config: &Config, name: &str) -> Result<RegisteredEngine, SelectionError> {
        let configured = config.engines.iter().find(|engine| engine.name == name);
        let engine = match configured {
            Some(engine) => self.register(engine),
            None => RegisteredEngine::all_without_settings()
                .find(|engine| engine.name == name)
                .ok_or_else(|| unknown(config, name))?,
        };
        match engine.obstacle() {
            Some(obstacle) => {
                Err(SelectionError::Unavailable { name: name.to_owned(), obstacle: obstacle.to_owned() })
            }
            None => Ok(engine),
        }
    }

    /// Returns the engines called `names`, in their order. Without names, returns all usable engines of the settings, or the
    /// built-in one if there are none, with a note on each of the others.
    pub fn select(&self, config: &Config, names: &[String]) -> Result<EngineSelection, SelectionError> {
        if names.is_empty() {
            return Ok(self.select_all(config));
        }
        check_named_once(names)?;
        let engines = names.iter().map(|name| self.named(config, name)).collect::<Result<_, _>>()?;
        Ok(EngineSelection { engines, notes: Vec::new() })
    }

    fn select_all(&self, config: &Config) -> EngineSelection {
        let (mut engines, mut notes) = (Vec::new(), Vec::new());
        for engine in self.configured_engines(config) {
            match engine.obstacle() {
                Some(obstacle) => notes.push(format!("engine `{}` is not asked: {obstacle}", engine.name)),
                None => engines.push(engine),
            }
        }
        if engines.is_empty() {
            engines.push(RegisteredEngine::default_engine());
        }
        EngineSelection { engines, notes }
    }
}

fn unknown(config: &Config, name: &str) -> SelectionError {
    let configured = config.engines.iter().map(|engine| engine.name.clone());
    let others = RegisteredEngine::all_without_settings().map(|engine| engine.name);
    SelectionError::Unknown { name: name.to_owned(), known: configured.chain(others).collect() }
}

/// Rejects a list with a duplicate name.
pub fn check_named_once(names: &[String]) -> Result<(), SelectionError> {
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = names[..second].iter().position(|other| other == name) {
            return Err(SelectionError::NamedTwice {
                name: name.clone(),
                first: first + 1,
                second: second + 1,
            });
        }
    }
    Ok(())
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, hundredths) if hundredths != 11 => "st",
        (2, hundredths) if hundredths != 12 => "nd",
        (3, hundredths) if hundredths != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}
