//! The handshake: our `initialize` parameters and the server's capabilities.

use serde_json::{Map, Value, json};
use text::PositionEncoding;

use super::insertion::{COMPLETION, INLINE_COMPLETION};

/// Returns the `initialize` parameters. The workspace folder may be empty: see [`super`].
pub(super) fn initialize_params(folder: &str, options: Map<String, Value>) -> Value {
    let mut introduction = json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "Ghostbench", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": folder,
        "workspaceFolders": [{"uri": folder, "name": "workspace"}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "textDocument": {
                "synchronization": {},
                "inlineCompletion": {"dynamicRegistration": true},
                "completion": {"dynamicRegistration": true, "completionList": {"itemDefaults": ["editRange", "insertTextFormat"]}},
            },
            "workspace": {
                "configuration": true,
                "didChangeConfiguration": {"dynamicRegistration": true},
                "workspaceFolders": true,
            },
            "window": {"workDoneProgress": true, "showMessage": {}},
        },
    });
    if !options.is_empty() {
        introduction["initializationOptions"] = options.into();
    }
    introduction
}

/// Returns the server's position encoding and whether it supports this method; an encoding that we didn't offer is an error.
pub(super) fn server_capabilities(
    introduction: &Value,
    method: &str,
) -> Result<(PositionEncoding, bool), String> {
    let capabilities = introduction.get("capabilities").unwrap_or(&Value::Null);
    let encoding = match capabilities.get("positionEncoding").and_then(Value::as_str) {
        None | Some("utf-16") => PositionEncoding::Utf16,
        Some("utf-8") => PositionEncoding::Utf8,
        Some(other) => return Err(format!("it counts characters as `{other}`")),
    };
    let provider = match method {
        INLINE_COMPLETION => Some("inlineCompletionProvider"),
        COMPLETION => Some("completionProvider"),
        // The protocol has no capability for custom methods.
        _ => None,
    };
    let is_offered = provider.is_none_or(|provider| {
        !matches!(capabilities.get(provider), None | Some(Value::Null | Value::Bool(false)))
    });
    Ok((encoding, is_offered))
}

/// Returns the server's name and version, verbatim.
pub(super) fn server_name(introduction: &Value) -> Option<String> {
    let info = introduction.get("serverInfo")?;
    let word = |field: &str| Some(info.get(field)?.as_str()?.to_owned());
    let words = [word("name")?].into_iter().chain(word("version"));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Returns the remedy for a server that doesn't support this method.
pub(super) fn remedy(introduction: &Value, method: &str) -> &'static str {
    let offers = |method| matches!(server_capabilities(introduction, method), Ok((_, true)));
    if method != COMPLETION && offers(COMPLETION) {
        "; it offers completion lists, so if its items are whole answers, set `request = \"textDocument/completion\"`"
    } else if method != INLINE_COMPLETION && offers(INLINE_COMPLETION) {
        "; it offers inline completion, so leave out `request`"
    } else {
        "; a program that offers it is needed in `command`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_capabilities_are_read_in_every_form() {
        for (capabilities, expected) in [
            (json!({"inlineCompletionProvider": true}), Ok((PositionEncoding::Utf16, true))),
            (
                json!({"inlineCompletionProvider": {}, "positionEncoding": "utf-8"}),
                Ok((PositionEncoding::Utf8, true)),
            ),
            (json!({"inlineCompletionProvider": false}), Ok((PositionEncoding::Utf16, false))),
            (
                json!({"inlineCompletionProvider": null, "completionProvider": {}}),
                Ok((PositionEncoding::Utf16, false)),
            ),
            (json!({"positionEncoding": "utf-7"}), Err("it counts characters as `utf-7`".to_owned())),
        ] {
            let introduction = json!({"capabilities": capabilities});
            assert_eq!(server_capabilities(&introduction, INLINE_COMPLETION), expected, "{introduction}");
        }
        assert_eq!(
            server_capabilities(&Value::Null, INLINE_COMPLETION),
            Ok((PositionEncoding::Utf16, false))
        );
        assert_eq!(server_capabilities(&Value::Null, "vendor/complete"), Ok((PositionEncoding::Utf16, true)));
    }

    #[test]
    fn server_name_is_read_from_server_info() {
        let reported = |info: Value| server_name(&json!({"serverInfo": info}));
        assert_eq!(reported(json!({"name": "vendor", "version": "1.2"})).as_deref(), Some("vendor 1.2"));
        assert_eq!(reported(json!({"name": "vendor"})).as_deref(), Some("vendor"));
        assert_eq!(reported(Value::Null), None);
    }

    #[test]
    fn empty_initialization_options_are_omitted() {
        let options = |options: Value| match options {
            Value::Object(options) => {
                initialize_params("file:///w", options).get("initializationOptions").cloned()
            }
            _ => unreachable!(),
        };
        assert_eq!(options(json!({})), None);
        assert_eq!(options(json!({"a": 1})), Some(json!({"a": 1})));
    }

    #[test]
    fn remedy_distinguishes_completion_list_servers() {
        let lists = json!({"capabilities": {"completionProvider": {}}});
        assert!(remedy(&lists, INLINE_COMPLETION).contains("textDocument/completion"));
        assert!(remedy(&Value::Null, INLINE_COMPLETION).contains("`command`"));
    }
}
