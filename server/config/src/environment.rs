//! The environment and texts that refer to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Secret;

/// Environment variables. Their values may be keys and are never displayed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Creates the environment. On Windows names are case-insensitive.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Environment {
        Environment(variables.into_iter().map(|(name, value)| (normalized_name(&name), value)).collect())
    }

    /// Returns the value of a variable, or `None` if it is unset or blank.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&normalized_name(name)).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Returns all names and values, sorted by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the user's home folder.
    pub(crate) fn home(&self) -> Option<&str> {
        self.get("HOME").or_else(|| self.get("USERPROFILE"))
    }
}

fn normalized_name(name: &str) -> String {
    if cfg!(windows) { name.to_uppercase() } else { name.to_owned() }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// Text in which `$NAME` or `${NAME}` is a reference to a variable and `$$` a dollar sign. It may hold a key, so only the names of
/// its variables are displayed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct EnvTemplate {
    parts: Vec<TemplatePart>,
    /// Whether blanks around the text belong to the value.
    keeps_blanks: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Variable(String),
}

impl EnvTemplate {
    /// Parses the references in the text. An error describes the problem without quoting the text.
    pub(crate) fn parse(text: &str) -> Result<EnvTemplate, &'static str> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            parts.push(TemplatePart::Text(before.to_owned()));
            rest = match after.strip_prefix('$') {
                Some(rest) => {
                    parts.push(TemplatePart::Text("$".to_owned()));
                    rest
                }
                None => {
                    let (name, rest) =
                        reference(after).ok_or("write $NAME for a variable and $$ for a dollar sign")?;
                    parts.push(TemplatePart::Variable(name.to_owned()));
                    rest
                }
            };
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        parts.retain(|part| *part != TemplatePart::Text(String::new()));
        Ok(EnvTemplate { parts, keeps_blanks: false })
    }

    /// Creates a template that consists of the variable `name`.
    pub(crate) fn variable(name: &str) -> EnvTemplate {
        EnvTemplate { parts: vec![TemplatePart::Variable(name.to_owned())], keeps_blanks: false }
    }

    /// Returns the template of a value to which the blanks around it belong.
    pub(crate) fn keeping_blanks(self) -> EnvTemplate {
        EnvTemplate { keeps_blanks: true, ..self }
    }

    /// Returns the names of the referenced variables.
    pub(crate) fn variables(&self) -> BTreeSet<&str> {
        self.parts
            .iter()
            .filter_map(|part| match part {
                TemplatePart::Variable(name) => Some(name.as_str()),
                TemplatePart::Text(_) => None,
            })
            .collect()
    }

    /// Substitutes the variables. Unset ones become empty.
    pub(crate) fn expand(&self, variables: &Environment) -> Secret {
        let text = self.expand_untrimmed(variables);
        if self.keeps_blanks { Secret::with_blanks(text) } else { Secret::new(&text) }
    }

    /// The same without trimming. The result may be a key.
    pub(crate) fn expand_untrimmed(&self, variables: &Environment) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                TemplatePart::Text(text) => text.clone(),
                TemplatePart::Variable(name) => variables.get(name).unwrap_or_default().trim().to_owned(),
            })
            .collect()
    }
}

/// Splits `text` into the name at its start, with or without braces, and the rest.
fn reference(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = match text.strip_prefix('{') {
        Some(braced) => braced.split_once('}')?,
        None => text.split_at(text.find(|c| !is_in_name(c)).unwrap_or(text.len())),
    };
    is_name(name).then_some((name, rest))
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether the text is a valid variable name.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty() && text.chars().all(is_in_name)
}

/// Returns whether the text looks like the name of a variable that holds a key. Lower-case letters are rejected: users tend to
/// write the key itself where its name is expected, messages must not repeat a key, and keys contain lower-case letters.
pub(crate) fn is_name_for_key(text: &str) -> bool {
    is_name(text) && !text.contains(|c: char| c.is_ascii_lowercase())
}

impl fmt::Display for EnvTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            TemplatePart::Text(_) => f.write_str("…"),
            TemplatePart::Variable(name) => write!(f, "${name}"),
        })
    }
}

impl fmt::Debug for EnvTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Environment {
        let pairs = [("KEY", " abc\n"), ("EMPTY", " "), ("A_1", "x")];
        Environment::new(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn variable_references_are_expanded() {
        for (text, expected, shown) in [
            ("Bearer $KEY", "Bearer abc", "…$KEY"),
            ("${KEY}$A_1-", "abcx-", "$KEY$A_1…"),
            ("a$$KEY", "a$KEY", "………"),
            ("$MISSING!", "!", "$MISSING…"),
            ("plain", "plain", "…"),
            ("", "", ""),
        ] {
            let template = EnvTemplate::parse(text).unwrap();
            assert_eq!(template.expand(&variables()).expose(), expected, "{text}");
            assert_eq!(template.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn blanks_around_a_text_are_dropped_unless_they_belong_to_it() {
        let expand = |template: EnvTemplate| template.expand(&variables()).expose().to_owned();
        let template = EnvTemplate::parse(" $KEY ").unwrap();
        assert_eq!(
            (expand(template.clone()), expand(template.keeping_blanks())),
            ("abc".to_owned(), " abc ".to_owned())
        );
    }

    #[test]
    fn dollar_sign_without_a_variable_is_refused() {
        for text in ["$", "costs $ 5", "${KEY", "${}", "$1", "${a-b}", "$é"] {
            assert!(EnvTemplate::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn blank_variables_are_unset_and_debug_hides_values() {
        assert_eq!(variables().get("EMPTY"), None);
        assert_eq!(format!("{:?}", variables()), r#"["A_1", "EMPTY", "KEY"]"#);
    }

    #[test]
    fn key_values_are_not_variable_names() {
        for name in ["OPENAI_API_KEY", "KEY2", "_"] {
            assert!(is_name_for_key(name), "{name}");
        }
        for text in ["sk-abc", "hf_abcDEF", "9A", "", "A KEY", "Bearer"] {
            assert!(!is_name_for_key(text), "{text}");
        }
    }
}
