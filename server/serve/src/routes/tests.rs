use serde_json::json;

use super::*;
use crate::dialect::Route;

#[track_caller]
fn check(dialect: Dialect, body: Value, prefix: &str, suffix: &str, path: Option<&str>) {
    let parsed = parse(dialect, body.to_string().as_bytes()).expect("an object");
    let expected =
        FillRequest { prefix: prefix.to_owned(), suffix: suffix.to_owned(), path: path.map(str::to_owned) };
    assert_eq!(parsed.fill, Some(expected), "{body}");
}

fn fill(dialect: Dialect, body: &Value) -> Option<FillRequest> {
    parse(dialect, body.to_string().as_bytes())?.fill
}

#[test]
fn llama_vim_and_llama_vscode_send_the_head_of_the_line_as_prompt() {
    let body = json!({
        "id_slot": 0, "input_prefix": "def f():\n", "prompt": "    ret", "input_suffix": "\n\nf()\n",
        "input_extra": [{"filename": "o.py", "text": "other"}], "n_predict": 128, "stream": false,
        "response_fields": ["content", "timings/prompt_n"]
    });
    check(Dialect::LlamaInfill, body.clone(), "def f():\n    ret", "\n\nf()\n", None);
    let options = parse(Dialect::LlamaInfill, body.to_string().as_bytes()).expect("an object").options;
    assert_eq!(options.fields, ["content", "timings/prompt_n"]);
    let warming = json!({"input_prefix": "a", "prompt": "b", "input_suffix": "c", "n_predict": 0});
    assert_eq!(fill(Dialect::LlamaInfill, &warming), None);
    let empty = json!({"input_prefix": "", "prompt": "", "input_suffix": "", "n_predict": 1});
    assert_eq!(fill(Dialect::LlamaInfill, &empty), None);
}

#[test]
fn prompts_have_a_suffix_or_tokens() {
    for dialect in [Dialect::Completions, Dialect::MistralFim, Dialect::DeepSeekFim, Dialect::OllamaGenerate]
    {
        check(dialect, json!({"model": "m", "prompt": "a = ", "suffix": "\n"}), "a = ", "\n", None);
    }
    let tokens = json!({"prompt": "<|fim_prefix|>a = <|fim_suffix|>\n<|fim_middle|>", "suffix": ""});
    for dialect in [Dialect::Completions, Dialect::LlamaCompletion, Dialect::OllamaGenerate] {
        check(dialect, tokens.clone(), "a = ", "\n", None);
    }
    check(Dialect::Completions, json!({"prompt": ["a = "]}), "a = ", "", None);
    assert_eq!(fill(Dialect::Completions, &json!({"prompt": ["a", "b"]})), None);
    assert_eq!(fill(Dialect::Completions, &json!({"prompt": [1, 2]})), None);
}

#[test]
fn tabby_names_the_file() {
    let body =
        json!({"language": "python", "segments": {"prefix": "a = ", "suffix": "\n", "filepath": "src/a.py"}});
    check(Dialect::Tabby, body.clone(), "a = ", "\n", Some("src/a.py"));
    let completions = Route::Completion(Dialect::Completions);
    let routed = |body: &Value| completions.of_body(body.to_string().as_bytes());
    assert_eq!(routed(&body), Route::Completion(Dialect::Tabby));
    for other in [json!({"prompt": "{\"segments\": 1}"}), json!({"prompt": "", "metadata": {"segments": 1}})]
    {
        assert_eq!(routed(&other), completions, "{other}");
    }
}

#[test]
fn chats_with_a_marked_cursor_are_holes() {
    let chat = |content: Value| json!({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": content}]});
    let parts =
        "<contextBeforeCursor>\n# language: python\na = <cursorPosition>\n<contextAfterCursor>\n\nb = 2";
    check(Dialect::Chat, chat(parts.into()), "# language: python\na = ", "\nb = 2", None);
    let reversed = "<contextAfterCursor>\n\nb = 2\n<contextBeforeCursor>\na = <cursorPosition>";
    check(Dialect::Chat, chat(reversed.into()), "a = ", "\nb = 2", None);
    let marked = "Fill it.\n<QUERY>\na = {{FILL_HERE}}\nb = 2\n</QUERY>\nTASK";
    check(Dialect::Chat, chat(json!([{"type": "text", "text": marked}])), "a = ", "\nb = 2", None);
    assert_eq!(fill(Dialect::Chat, &chat("How are you?".into())), None);
    assert_eq!(fill(Dialect::Chat, &json!({"messages": []})), None);
}

#[test]
fn other_bodies_are_no_opportunity() {
    for body in ["", "[]", "7", "{", "\"text\"", "\u{0}"] {
        assert_eq!(parse(Dialect::Completions, body.as_bytes()), None, "{body}");
    }
    assert_eq!(fill(Dialect::LlamaInfill, &json!({"input_prefix": 7, "input_suffix": []})), None);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(parse(Dialect::Chat, format!("{{\"messages\":{deep}}}").as_bytes()), None);
}
