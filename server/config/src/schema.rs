//! The JSON schema of a configuration file, with which editors check it and offer completions.

use serde_json::{Map, Value as Json, json};

use crate::engine_kind::EngineKind;
use crate::key::{KeySpec, Section};
use crate::table::{ENGINE, SECTIONS};

/// Returns the schema as JSON text, generated from the table.
pub fn schema() -> String {
    let mut sections: Map<String, Json> =
        SECTIONS.iter().map(|section| (section.name.to_owned(), of_section(section))).collect();
    let mut engine = of_section(&ENGINE);
    engine["required"] = json!(["name"]);
    engine["allOf"] = EngineKind::ALL.into_iter().map(of_kind).collect();
    sections
        .insert(ENGINE.name.to_owned(), json!({"type": "array", "description": ENGINE.doc, "items": engine}));
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Ghostbench's configuration",
        "type": "object",
        "properties": sections,
        "additionalProperties": false,
    });
    format!("{schema:#}\n")
}

fn of_section(section: &Section) -> Json {
    let properties: Map<String, Json> =
        section.keys.iter().map(|key| (key.name.to_owned(), of_key(key))).collect();
    json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn of_key(key: &KeySpec) -> Json {
    let mut schema = key.takes.schema();
    schema["description"] = key.doc.into();
    // Defaults are strings, numbers or booleans, which have the same syntax in JSON and TOML.
    if let Some(default) = key.default.and_then(|default| serde_json::from_str::<Json>(default).ok()) {
        schema["default"] = default;
    }
    schema
}

/// Returns the schema of an engine of this kind. Required keys may be set in another layer, so the schema requires none.
fn of_kind(kind: EngineKind) -> Json {
    let strangers = ENGINE.keys.iter().filter(|key| !(key.is_for)(kind));
    let refused: Map<String, Json> = strangers.map(|key| (key.name.to_owned(), Json::Bool(false))).collect();
    json!({
        "if": {"properties": {"kind": {"const": kind.name()}}, "required": ["kind"]},
        "then": {"properties": refused},
    })
}
