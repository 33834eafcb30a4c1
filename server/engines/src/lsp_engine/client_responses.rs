//! Responses to a server's requests: its settings; everything else is rejected, because there is no editor.

use serde_json::{Map, Value, json};

use super::message::{METHOD_NOT_FOUND, ResponseError};

/// Returns the response to a server's request.
pub(super) fn response_to(
    method: &str,
    params: &Value,
    settings: &Map<String, Value>,
) -> Result<Value, ResponseError> {
    match method {
        "workspace/configuration" => {
            let items = params.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let section =
                |item: &Value| configuration_section(settings, item.get("section").and_then(Value::as_str));
            Ok(items.iter().map(section).collect())
        }
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/showMessageRequest"
        | "window/workDoneProgress/create"
        | "workspace/workspaceFolders" => Ok(Value::Null),
        "window/showDocument" => Ok(json!({"success": false})),
        "workspace/applyEdit" => Ok(json!({"applied": false, "failureReason": "edits are not supported"})),
        _ if method.starts_with("workspace/") && method.ends_with("/refresh") => Ok(Value::Null),
        _ => Err(ResponseError {
            code: METHOD_NOT_FOUND,
            message: "Ghostbench does not know this method".to_owned(),
        }),
    }
}

/// Returns the settings of a section such as `vendor.completion`, which may be one key or nested keys.
fn configuration_section(settings: &Map<String, Value>, section: Option<&str>) -> Value {
    let Some(section) = section.filter(|section| !section.is_empty()) else {
        return settings.clone().into();
    };
    if let Some(value) = settings.get(section) {
        return value.clone();
    }
    let mut names = section.split('.');
    let outermost = names.next().and_then(|name| settings.get(name));
    names.try_fold(outermost, |value, name| Some(value?.get(name))).flatten().cloned().unwrap_or_default()
}

/// Returns the methods that a message registers.
pub(super) fn registered_methods<'a>(method: &str, params: &'a Value) -> impl Iterator<Item = &'a str> {
    let registrations =
        (method == "client/registerCapability").then(|| params.get("registrations")).flatten();
    let registrations = registrations.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    registrations.iter().filter_map(|registration| registration.get("method")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_by_section() {
        let Value::Object(settings) = json!({"vendor": {"ai": {"on": true}}, "http.proxy": "p"}) else {
            unreachable!()
        };
        let ask = |items: Value| response_to("workspace/configuration", &json!({"items": items}), &settings);
        let items = json!([{"section": "vendor"}, {"section": "vendor.ai.on", "scopeUri": "file:///a"},
            {"section": "http.proxy"}, {"section": "vendor.no.such"}, {"section": "no"}]);
        assert_eq!(ask(items), Ok(json!([{"ai": {"on": true}}, true, "p", null, null])));
        assert_eq!(ask(json!([{}])), Ok(json!([settings])), "no section means all");
        assert_eq!(ask(Value::Null), Ok(json!([])));
    }

    #[test]
    fn known_server_requests_are_answered_and_others_refused() {
        let ask =
            |method: &str| response_to(method, &Value::Null, &Map::new()).map_err(|refusal| refusal.code);
        assert_eq!(ask("workspace/inlayHint/refresh"), Ok(Value::Null));
        assert_eq!(ask("window/showDocument"), Ok(json!({"success": false})));
        assert_eq!(ask("vendor/question"), Err(METHOD_NOT_FOUND));
    }

    #[test]
    fn registered_methods_are_extracted() {
        let params = json!({"registrations": [{"id": "1", "method": "textDocument/inlineCompletion"}, {}]});
        let found: Vec<_> = registered_methods("client/registerCapability", &params).collect();
        assert_eq!(found, ["textDocument/inlineCompletion"]);
        assert_eq!(registered_methods("workspace/configuration", &params).count(), 0);
    }
}
