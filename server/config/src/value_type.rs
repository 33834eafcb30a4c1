//! The types of values: bounds, description and JSON schema of each.
//!
//! Messages do not quote an invalid value that may be a key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use url::Url;

use crate::date::is_date;
use crate::environment::{EnvTemplate, Environment, is_name_for_key};
use crate::raw_value::{RawEntry, RawValue, object};
use crate::secret_table::JsonTemplate;
use crate::suggest::{backquoted_list, suggest};
use crate::value::Value;

/// Maximum length of a name in bytes, so that it fits into tables and file names.
const MAX_NAME: usize = 100;

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// True or false.
    Boolean,
    /// A whole number.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// Unit of the number.
        unit: &'static str,
    },
    /// A number.
    Number {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
        /// Unit of the number; may be empty.
        unit: &'static str,
    },
    /// A duration in whole milliseconds.
    Milliseconds {
        /// The shortest.
        min: u64,
        /// The longest.
        max: u64,
    },
    /// Text that is not empty.
    Text,
    /// A name that fits into one line of a table.
    Name,
    /// A day or a month.
    Date,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A URL that begins with `http://` or `https://`.
    Url,
    /// The address of a proxy, or `none`; may refer to environment variables.
    Proxy,
    /// A file or folder, relative to the folder of the configuration file.
    Path,
    /// A program with its arguments.
    Command,
    /// The name of an environment variable that holds a key.
    KeyVariable,
    /// Header names with texts that may refer to environment variables.
    Headers,
    /// Names of environment variables with texts that may refer to others.
    Environment,
    /// Names with arbitrary values.
    Json,
    /// Names with arbitrary values whose strings may refer to environment variables.
    Options,
}

/// Context of a check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValidationContext<'a> {
    /// Folder of the file that contains the value.
    pub(crate) folder: Option<&'a Path>,
    /// Whether the file belongs to a workspace and must not contain keys.
    pub(crate) is_shared: bool,
    /// Environment, for the home folder.
    pub(crate) variables: &'a Environment,
}

impl ValueType {
    /// Returns the checked value, or the predicate of an error sentence whose subject is the key.
    pub(crate) fn validate(self, raw: &RawValue, around: ValidationContext<'_>) -> Result<Value, String> {
        let value = match (self, raw) {
            (ValueType::Boolean, RawValue::Boolean(value)) => Ok(Value::Boolean(*value)),
            (ValueType::Integer { min, max, .. }, raw) => match as_integer(raw) {
                Some(value) if (min..=max).contains(&value) => Ok(Value::Integer(value)),
                _ => Err(as_number(raw).map(|value| value.to_string())),
            },
            (ValueType::Milliseconds { min, max }, raw) => match as_integer(raw) {
                Some(value) if u64::try_from(value).is_ok_and(|value| (min..=max).contains(&value)) => {
                    Ok(Value::Milliseconds(value.unsigned_abs()))
                }
                _ => Err(as_number(raw).map(|value| value.to_string())),
            },
            (ValueType::Number { min, max, .. }, raw) => match as_number(raw) {
                Some(value) if (min..=max).contains(&value) => Ok(Value::Number(value)),
                other => Err(other.map(|value| value.to_string())),
            },
            (ValueType::Text, RawValue::Text(text)) if !text.trim().is_empty() => {
                Ok(Value::Text(text.clone()))
            }
            (ValueType::Name, RawValue::Text(text)) if is_name(text) => Ok(Value::Text(text.clone())),
            (ValueType::Date, RawValue::Text(text)) if is_date(text) => Ok(Value::Text(text.clone())),
            (ValueType::Choice(words), RawValue::Text(text)) => return choice(words, text),
            (ValueType::Url, RawValue::Text(text)) => return url(text, around),
            (ValueType::Proxy, RawValue::Text(text)) => return proxy(text, around),
            (ValueType::Path, RawValue::Text(text)) if !text.is_empty() => {
                return path(text, around).map(Value::Path);
            }
            (ValueType::Command, RawValue::List(nodes)) if !nodes.is_empty() => {
                let words = nodes.iter().map(|node| match &node.raw {
                    RawValue::Text(word) => Some(word.clone()),
                    _ => None,
                });
                return command(words.collect(), around);
            }
            (ValueType::KeyVariable, RawValue::Text(text)) => return key_variable(text),
            (ValueType::Headers, RawValue::Table(entries)) => return headers(entries, around),
            (ValueType::Environment, RawValue::Table(entries)) => return environment(entries, around),
            (ValueType::Json, RawValue::Table(entries)) => {
                return object(entries).map(Value::Json).map_err(|kind| format!("cannot hold {kind}"));
            }
            (ValueType::Options, RawValue::Table(entries)) => return options(entries, around),
            _ => Err(None),
        };
        value.map_err(|given| match (given, raw) {
            (Some(given), _) => format!("must be {}, not {given}", self.describe()),
            (None, RawValue::Text(text)) if text.trim().is_empty() => {
                format!("must be {}, not empty text", self.describe())
            }
            (None, RawValue::Text(_)) if matches!(self, ValueType::Name | ValueType::Date) => {
                format!("must be {}", self.describe())
            }
            (None, raw) => format!("must be {}, not {}", self.describe(), raw.kind()),
        })
    }

    /// Describes the accepted values in words.
    pub fn describe(self) -> String {
        let of = |unit: &str| if unit.is_empty() { String::new() } else { format!(" of {unit}") };
        match self {
            ValueType::Boolean => "true or false".to_owned(),
            ValueType::Integer { min, max, unit } => format!("a whole number{} from {min} to {max}", of(unit)),
            ValueType::Number { min, max, unit } => format!("a number{} from {min} to {max}", of(unit)),
            ValueType::Milliseconds { min, max } => {
                format!("a whole number of milliseconds from {min} to {max}")
            }
            ValueType::Text => "text".to_owned(),
            ValueType::Name => format!("a name of one line and at most {MAX_NAME} bytes, without blanks around it"),
            ValueType::Date => "a day or a month, like \"2025-06-30\" or \"2025-06\"".to_owned(),
            ValueType::Choice(words) => format!("one of {}", backquoted_list(words.iter().copied())),
            ValueType::Url => "an address like \"http://127.0.0.1:8080\"".to_owned(),
            ValueType::Proxy => {
                "an address like \"http://proxy:3128\", in which $NAME stands for an environment variable, or \"none\""
                    .to_owned()
            }
            ValueType::Path => "a path".to_owned(),
            ValueType::Command => "a list of a program and its arguments, like [\"program\", \"argument\"]".to_owned(),
            ValueType::KeyVariable => "the name of an environment variable, in capital letters".to_owned(),
            ValueType::Headers | ValueType::Environment => {
                "a table of texts, in which $NAME stands for an environment variable".to_owned()
            }
            ValueType::Json => "a table".to_owned(),
            ValueType::Options => "a table, in whose texts $NAME stands for an environment variable".to_owned(),
        }
    }

    /// Describes the accepted values as a JSON schema.
    pub(crate) fn schema(self) -> Json {
        match self {
            ValueType::Boolean => json!({"type": "boolean"}),
            ValueType::Integer { min, max, .. } => json!({"type": "integer", "minimum": min, "maximum": max}),
            ValueType::Number { min, max, .. } => json!({"type": "number", "minimum": min, "maximum": max}),
            ValueType::Milliseconds { min, max } => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            ValueType::Text | ValueType::Proxy | ValueType::Path => json!({"type": "string", "minLength": 1}),
            ValueType::Name => json!({"type": "string", "minLength": 1, "maxLength": MAX_NAME}),
            ValueType::Date => {
                json!({"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?$"})
            }
            ValueType::Choice(words) => json!({"enum": words}),
            ValueType::Url => json!({"type": "string", "pattern": "^https?://"}),
            ValueType::Command => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            ValueType::KeyVariable => json!({"type": "string", "pattern": "^[A-Z_][A-Z0-9_]*$"}),
            ValueType::Headers | ValueType::Environment => {
                json!({"type": "object", "additionalProperties": {"type": "string"}})
            }
            ValueType::Json | ValueType::Options => json!({"type": "object"}),
        }
    }

    /// Parses the text of an environment variable, for types that a text can represent.
    pub(crate) fn raw_of_env(self, text: &str) -> RawValue {
        let text = text.trim();
        let read = match self {
            ValueType::Boolean => text.parse().ok().map(RawValue::Boolean),
            ValueType::Integer { .. } | ValueType::Milliseconds { .. } => {
                text.parse().ok().map(RawValue::Integer)
            }
            ValueType::Number { .. } => text.parse().ok().map(RawValue::Number),
            _ => None,
        };
        read.unwrap_or_else(|| RawValue::Text(text.to_owned()))
    }
}

/// Editors sometimes write integers with a zero fraction.
fn as_integer(raw: &RawValue) -> Option<i64> {
    match raw {
        RawValue::Integer(value) => Some(*value),
        // Beyond 2^53 not every integer has a float, and no bound is that large.
        RawValue::Number(value) if value.fract() == 0.0 && value.abs() < 2f64.powi(53) => Some(*value as i64),
        _ => None,
    }
}

fn as_number(raw: &RawValue) -> Option<f64> {
    match raw {
        RawValue::Integer(value) => Some(*value as f64),
        RawValue::Number(value) => Some(*value),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    let is_line = !text.contains(char::is_control) && text.len() <= MAX_NAME;
    is_line && !text.is_empty() && text.trim() == text
}

fn choice(words: &'static [&'static str], text: &str) -> Result<Value, String> {
    if words.contains(&text) {
        return Ok(Value::Text(text.to_owned()));
    }
    // Messages do not repeat a text that resembles no word, because it may be private.
    match suggest(text, words.iter().copied()) {
        Some(meant) => Err(format!("cannot be `{text}`; did you mean `{meant}`?")),
        None => Err(format!("must be {}", ValueType::Choice(words).describe())),
    }
}

/// Parses a web address. An error describes the expected form.
fn parse_url(text: &str, around: ValidationContext<'_>) -> Result<Url, String> {
    let wanted = || format!("must be {}", ValueType::Url.describe());
    let url = Url::parse(text).map_err(|_| wanted())?;
    if !["http", "https"].contains(&url.scheme()) || !url.has_host() {
        return Err(wanted());
    }
    if around.is_shared && url.password().is_some() {
        return Err(
            "contains a password, which is not allowed in a workspace; use an environment variable in `headers`"
                .to_owned(),
        );
    }
    Ok(url)
}

fn url(text: &str, around: ValidationContext<'_>) -> Result<Value, String> {
    parse_url(text.trim(), around).map(|_| Value::Url(text.trim().to_owned()))
}

fn proxy(text: &str, around: ValidationContext<'_>) -> Result<Value, String> {
    let template = EnvTemplate::parse(text.trim()).map_err(unescaped_dollar_problem)?;
    if text.trim() != NO_PROXY && template.variables().is_empty() {
        let url = parse_url(text.trim(), ValidationContext { is_shared: false, ..around })
            .map_err(|_| format!("must be {}", ValueType::Proxy.describe()))?;
        if around.is_shared && url.password().is_some() {
            return Err("contains a password, which is not allowed in a workspace; write $NAME for an environment variable".to_owned());
        }
    }
    Ok(Value::Template(template))
}

/// Value that disables all proxies, including the system's.
pub const NO_PROXY: &str = "none";

/// Returns the path in a form that does not depend on the working directory.
fn path(text: &str, around: ValidationContext<'_>) -> Result<PathBuf, String> {
    if let Some(below_home) = text.strip_prefix("~/").or_else(|| text.strip_prefix("~\\")) {
        let home = around.variables.home().ok_or("begins with ~, and there is no home folder")?;
        return Ok(Path::new(home).join(below_home));
    }
    let path = Path::new(text);
    match around.folder {
        _ if path.is_absolute() => Ok(path.to_owned()),
        Some(folder) => Ok(folder.join(path.strip_prefix(".").unwrap_or(path))),
        None => Err("must be an absolute path here, or begin with ~/".to_owned()),
    }
}

/// A program given by a path is resolved relative to the file's folder, any other by the system.
fn command(words: Option<Vec<String>>, around: ValidationContext<'_>) -> Result<Value, String> {
    let wanted = || format!("must be {}", ValueType::Command.describe());
    let mut words = words.ok_or_else(wanted)?;
    let program = words.first_mut().filter(|program| !program.trim().is_empty()).ok_or_else(wanted)?;
    if program.contains(std::path::is_separator) {
        *program = path(program, around)?.to_string_lossy().into_owned();
    }
    Ok(Value::List(words))
}

fn key_variable(text: &str) -> Result<Value, String> {
    if is_name_for_key(text) {
        return Ok(Value::Template(EnvTemplate::variable(text)));
    }
    Err(format!(
        "must be {}; if that is the key itself, remove it here and put it into the environment",
        ValueType::KeyVariable.describe()
    ))
}

/// Headers whose values are keys.
const KEY_HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"];

fn headers(entries: &[RawEntry], around: ValidationContext<'_>) -> Result<Value, String> {
    let mut templates = BTreeMap::new();
    for RawEntry { key, node, .. } in entries {
        if key.is_empty() || !key.bytes().all(is_in_header_name) {
            return Err("has a header whose name has characters that no header has".to_owned());
        }
        let RawValue::Text(text) = &node.raw else {
            return Err(format!("must have text for `{key}`, not {}", node.raw.kind()));
        };
        if text.contains(char::is_control) {
            return Err(format!("has a value for `{key}` that is more than one line"));
        }
        let template = EnvTemplate::parse(text).map_err(unescaped_dollar_problem)?;
        let is_key = KEY_HEADERS.contains(&key.to_ascii_lowercase().as_str());
        if around.is_shared && is_key && template.variables().is_empty() {
            return Err(literal_key_problem(key));
        }
        templates.insert(key.clone(), template);
    }
    Ok(Value::Templates(templates))
}

/// Variables of a program.
fn environment(entries: &[RawEntry], around: ValidationContext<'_>) -> Result<Value, String> {
    let mut templates = BTreeMap::new();
    for RawEntry { key, node, .. } in entries {
        if key.is_empty() || key.contains(['=', '\0']) {
            return Err("has a variable whose name has characters that no variable has".to_owned());
        }
        let RawValue::Text(text) = &node.raw else {
            return Err(format!("must have text for `{key}`, not {}", node.raw.kind()));
        };
        if text.contains('\0') {
            return Err(format!("has a value for `{key}` that no variable can have"));
        }
        let template = EnvTemplate::parse(text).map_err(unescaped_dollar_problem)?;
        if around.is_shared && is_key_name(key) && template.variables().is_empty() {
            return Err(literal_key_problem(key));
        }
        templates.insert(key.clone(), template.keeping_blanks());
    }
    Ok(Value::Templates(templates))
}

/// Options of a language server.
fn options(entries: &[RawEntry], around: ValidationContext<'_>) -> Result<Value, String> {
    let written = object(entries).map_err(|kind| format!("cannot hold {kind}"))?;
    let pattern = JsonTemplate::parse(written.into(), "").map_err(|(name, remedy)| {
        format!("has a dollar sign in `{name}` that names no variable: {remedy}")
    })?;
    match pattern.literal_key(&is_key_name).filter(|_| around.is_shared) {
        Some(name) => Err(literal_key_problem(name)),
        None => Ok(Value::Options(pattern)),
    }
}

/// Suffixes of the names of variables that hold keys.
const KEY_WORDS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

fn is_key_name(name: &str) -> bool {
    KEY_WORDS.iter().any(|word| name.to_ascii_uppercase().ends_with(word))
}

fn literal_key_problem(key: &str) -> String {
    format!(
        "has a value for `{key}`, but keys are not allowed in a workspace; write $NAME for an environment variable"
    )
}

fn unescaped_dollar_problem(remedy: &str) -> String {
    format!("has a dollar sign that names no variable: {remedy}")
}

/// Token characters of RFC 9110.
fn is_in_header_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
