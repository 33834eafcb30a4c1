//! The settings of the VS Code extension: generated into its manifest from the schema of the server's settings, which a test compares with
//! the table in `server/config`.
//!
//! The first group of settings in the manifest is the client's own and stays as it is. The rest, and the list of settings that an untrusted
//! workspace cannot change, are written here. The text of the manifest keeps its order: only these lists are replaced.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

/// The manifest, relative to the repository.
pub const MANIFEST: &str = "vscode-extension/package.json";
/// The schema, relative to the repository.
pub const SCHEMA: &str = "docs/ghostbench.schema.json";

/// The client's own settings that an untrusted workspace cannot change: they start a program.
const OWN_RESTRICTED: [&str; 2] = ["ghostbench.server.arguments", "ghostbench.server.path"];

/// Returns the manifest with the settings of the schema.
///
/// # Errors
/// The manifest lacks a list, or the schema its sections.
pub fn with_settings(manifest: &str, schema: &str) -> Result<String> {
    let schema: Value = serde_json::from_str(schema)?;
    let sections = schema["properties"].as_object().context("the schema has no sections")?;
    let groups: Vec<Value> = sections.iter().map(|(name, section)| group(name, section)).collect();
    let mut restricted: Vec<&str> = OWN_RESTRICTED.to_vec();
    restricted.extend(
        groups
            .iter()
            .filter_map(|group| group["properties"].as_object())
            .flat_map(Map::keys)
            .map(String::as_str),
    );
    restricted.sort_unstable();
    let text = replace_list(manifest, "      \"restrictedConfigurations\": [", 0, &json!(restricted))?;
    replace_list(&text, "    \"configuration\": [", 1, &Value::from(groups))
}

/// Replaces the entries of a list after the first `kept` ones. The list begins at the line `head`.
fn replace_list(text: &str, head: &str, kept: usize, entries: &Value) -> Result<String> {
    let indentation = head.len() - head.trim_start().len();
    let start =
        text.find(&format!("{head}\n")).with_context(|| format!("{MANIFEST} has no line `{head}`"))?;
    let start = start + head.len() + 1;
    let end = text[start..].find(&format!("\n{}]", " ".repeat(indentation)));
    let end = start + end.with_context(|| format!("{MANIFEST}: `{head}` does not end"))?;
    let close = format!("\n{}}}", " ".repeat(indentation + 2));
    let own: Vec<(usize, &str)> = text[start..end].match_indices(&close).take(kept).collect();
    let kept_end = own.last().map_or(start, |(at, close)| start + at + close.len());
    let generated = serde_json::to_string_pretty(entries)?;
    let lines = generated.lines().skip(1).filter(|line| *line != "]");
    let lines: Vec<String> = lines.map(|line| format!("{}{line}", " ".repeat(indentation))).collect();
    let comma = if kept > 0 { ",\n" } else { "" };
    Ok(format!("{}{comma}{}{}", &text[..kept_end], lines.join("\n"), &text[end..]))
}

/// A group of settings, as VS Code shows them: a section, or the list of engines.
fn group(section: &str, schema: &Value) -> Value {
    let mut settings = Map::new();
    match schema["properties"].as_object() {
        Some(keys) => settings.extend(
            keys.iter()
                .map(|(key, value)| (format!("ghostbench.{section}.{}", camel_case(key)), setting(value))),
        ),
        None => {
            settings.insert(format!("ghostbench.{section}"), setting(schema));
        }
    }
    json!({ "title": capitalized(section), "properties": settings })
}

/// A setting: without a value, that of the settings files counts, so that the default of each is `null`.
fn setting(schema: &Value) -> Value {
    let mut setting = accepted(schema);
    let about = schema["description"].as_str().unwrap_or_default();
    let (about, otherwise) = match (about.split_once(" Default: "), &schema["default"]) {
        (Some((about, default)), _) => (about, format!("; without one, {default}")),
        (None, Value::Null) => (about, ".".to_owned()),
        (None, default) => (about, format!(", otherwise `{default}`.")),
    };
    let about = format!("{about} Default: the value of the settings files{otherwise}");
    setting.insert("markdownDescription".to_owned(), about.into());
    setting.insert("default".to_owned(), Value::Null);
    if let Some(Value::Array(words)) = setting.get_mut("enum") {
        words.push(Value::Null);
        setting.insert("type".to_owned(), json!(["string", "null"]));
    } else if let Some(Value::String(kind)) = setting.remove("type") {
        setting.insert("type".to_owned(), json!([kind, "null"]));
    }
    setting.into()
}

/// The part of a schema that restricts values. The keys of tables are spelled as in VS Code.
fn accepted(schema: &Value) -> Map<String, Value> {
    let mut accepted = Map::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        let value = match name.as_str() {
            // The server checks which keys belong to a kind of engine, and says so.
            "default" | "description" | "additionalProperties" | "allOf" => continue,
            "items" => accepted_value(value),
            "properties" => {
                let keys = value.as_object().into_iter().flatten();
                keys.map(|(key, value)| (camel_case(key), described(value))).collect::<Map<_, _>>().into()
            }
            _ => value.clone(),
        };
        accepted.insert(name.clone(), value);
    }
    accepted
}

fn accepted_value(schema: &Value) -> Value {
    accepted(schema).into()
}

fn described(schema: &Value) -> Value {
    let mut accepted = accepted(schema);
    if let Some(about) = schema["description"].as_str() {
        accepted.insert("markdownDescription".to_owned(), about.into());
    }
    accepted.into()
}

fn camel_case(key: &str) -> String {
    let mut parts = key.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + &capitalized(part))
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "{\n  \"capabilities\": {\n    \"untrustedWorkspaces\": {\n      \"restrictedConfigurations\": [\n        \"old\"\n      ]\n    }\n  },\n  \"contributes\": {\n    \"configuration\": [\n      {\n        \"title\": \"Server\",\n        \"properties\": {}\n      }\n    ]\n  }\n}\n";

    #[test]
    fn settings_replace_all_but_the_own_ones() {
        let schema = json!({"properties": {
            "completion": {"properties": {"deadline_ms": {"type": "integer", "default": 5000, "description": "Time."}}},
            "engine": {"type": "array", "items": {"properties": {"api_key_env": {"type": "string"}}}, "description": "An engine."},
        }});
        let once = with_settings(MANIFEST, &schema.to_string()).expect("both are complete");
        let manifest: Value = serde_json::from_str(&once).expect(&once);
        let groups = &manifest["contributes"]["configuration"];
        assert_eq!((&groups[0]["title"], &groups[1]["title"]), (&json!("Server"), &json!("Completion")));
        let deadline = &groups[1]["properties"]["ghostbench.completion.deadlineMs"];
        assert_eq!((&deadline["type"], &deadline["default"]), (&json!(["integer", "null"]), &Value::Null));
        assert_eq!(
            deadline["markdownDescription"],
            "Time. Default: the value of the settings files, otherwise `5000`."
        );
        let key = &groups[2]["properties"]["ghostbench.engine"]["items"]["properties"]["apiKeyEnv"];
        assert_eq!(key["type"], "string");
        let restricted =
            manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"].to_string();
        assert!(restricted.contains("ghostbench.completion.deadlineMs") && !restricted.contains("old"));
        assert_eq!(
            with_settings(&once, &schema.to_string()).expect("it is complete"),
            once,
            "writing again changes nothing"
        );
        assert!(with_settings("{}", &schema.to_string()).is_err());
    }
}
