//! What the user can set in the editor: initialization options, or the section `ghostbench` of the configuration.

use std::time::Duration;

use serde_json::Value;

/// What the user has set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// Whether ghost text is written at all; recording and replay do not depend on it.
    pub(crate) is_enabled: bool,
    /// Which engine writes it; the first one by default.
    pub(crate) engine: Option<String>,
    /// In place of the usual time for an answer.
    pub(crate) deadline: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options { is_enabled: true, engine: None, deadline: None }
    }
}

/// What can be set.
const KNOWN: &str = "enabled, engine, deadlineMs";

impl Options {
    /// These options with what `value` sets, and what of it means nothing. Nulls set nothing.
    pub(crate) fn with(self, value: &Value, engines: &[String]) -> (Options, Vec<String>) {
        let mut options = self;
        let mut problems = Vec::new();
        let fields = match value {
            Value::Null => return (options, problems),
            Value::Object(fields) => fields,
            _ => {
                return (
                    options,
                    vec![format!("the settings of ghostbench are no object; known are {KNOWN}")],
                );
            }
        };
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            problems.extend(options.set(name, value, engines).err());
        }
        (options, problems)
    }

    fn set(&mut self, name: &str, value: &Value, engines: &[String]) -> Result<(), String> {
        let wants = |what: &str| format!("the setting ghostbench.{name} wants {what}");
        match name {
            "enabled" => self.is_enabled = value.as_bool().ok_or_else(|| wants("true or false"))?,
            "engine" => {
                let is_known = |name: &&str| engines.iter().any(|engine| engine == name);
                let engine = value.as_str().filter(is_known);
                let engine = engine.ok_or_else(|| wants(&format!("one of {}", engines.join(", "))))?;
                self.engine = Some(engine.to_owned());
            }
            "deadlineMs" => {
                let milliseconds = value.as_u64().filter(|&milliseconds| milliseconds > 0);
                let milliseconds =
                    milliseconds.ok_or_else(|| wants("a whole number of milliseconds, from 1"))?;
                self.deadline = Some(Duration::from_millis(milliseconds));
            }
            _ => return Err(format!("there is no setting ghostbench.{name}; known are {KNOWN}")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(value: Value, expected: Expect) {
        let (options, problems) = Options::default().with(&value, &["builtin".to_owned()]);
        expected.assert_eq(&format!("{options:?}\n{}", problems.join("\n")));
    }

    #[test]
    fn what_is_known_is_taken_over_and_the_rest_is_said() {
        check(
            json!({"enabled": false, "engine": "builtin", "deadlineMs": 500}),
            expect![[r#"
            Options { is_enabled: false, engine: Some("builtin"), deadline: Some(500ms) }
        "#]],
        );
        check(
            json!({"enabled": "no", "engine": "gpt", "deadlineMs": 0, "colour": 1, "x": null}),
            expect![[r#"
            Options { is_enabled: true, engine: None, deadline: None }
            there is no setting ghostbench.colour; known are enabled, engine, deadlineMs
            the setting ghostbench.deadlineMs wants a whole number of milliseconds, from 1
            the setting ghostbench.enabled wants true or false
            the setting ghostbench.engine wants one of builtin"#]],
        );
        check(
            Value::Null,
            expect![[r#"
            Options { is_enabled: true, engine: None, deadline: None }
        "#]],
        );
        check(
            json!([]),
            expect![[r#"
            Options { is_enabled: true, engine: None, deadline: None }
            the settings of ghostbench are no object; known are enabled, engine, deadlineMs"#]],
        );
    }

    #[test]
    fn every_setting_is_documented() {
        let document = include_str!("../../../docs/protocol.md");
        let (_, table) = document.split_once("\n| setting | type | meaning |\n").unwrap();
        let rows = table.lines().skip(1).map_while(|row| row.strip_prefix("| `")?.split_once('`'));
        let documented: Vec<&str> = rows.map(|(name, _)| name).collect();
        assert_eq!(documented.join(", "), KNOWN);
        let (_, example) = document.split_once("\n```json ghostbench settings\n").unwrap();
        let example = example.split("```").next().unwrap_or_default();
        let (_, problems) =
            Options::default().with(&serde_json::from_str(example).unwrap(), &["builtin".to_owned()]);
        assert_eq!(problems, Vec::<String>::new());
    }
}
