//! Request bodies and parsed answers of each kind of server. The mock servers are strict.

use std::time::Duration;

use engines::{Answer, EngineKind, FimSetting, FinishReason, HttpSettings, Request, Sampling, Usage};
use expect_test::{Expect, expect};
use mock::{Dialect, MockModel, MockServer, TemplateMarks};

use crate::harness::{FIXTURE, KEY, TRUTH, ask_for, engine, request, settings, with_context};

fn model(marks: Option<TemplateMarks>) -> MockModel {
    let (before, after) = test_fixture::split_at_cursor(FIXTURE);
    MockModel::new("coder", marks).with_answer(before, TRUTH, after)
}

/// A request and its answer.
struct Exchange {
    answer: Answer,
    server: MockServer,
}

async fn exchange(settings: HttpSettings, server: MockServer, request: Request) -> Exchange {
    let (answer, heard) = ask_for(&engine(settings), request).await;
    let answer = answer.unwrap_or_else(|error| panic!("{error}; the server saw {:?}", server.log()));
    assert_eq!(heard.text, TRUTH);
    assert_eq!(answer.finish, FinishReason::Stop);
    assert!(!heard.prompts.is_empty());
    let log = server.log();
    assert_eq!(log.ignored_fields, [""; 0], "every field is one that the server knows");
    Exchange { answer, server }
}

impl Exchange {
    /// The last request: path and body.
    #[track_caller]
    fn check_sent(&self, expect: Expect) -> &Exchange {
        let log = self.server.log();
        let received = log.received.last().expect("there was a request");
        let body = serde_json::to_string_pretty(&received.json()).expect("JSON becomes text");
        expect.assert_eq(&format!("{} {}\n{body}\n", received.method, received.path));
        self
    }

    #[track_caller]
    fn check_usage(&self, input: u64, output: u64, cached: Option<u64>) {
        assert_eq!(self.answer.usage, Some(Usage { input, output, cached }));
    }
}

fn speaking(dialect: Dialect) -> MockServer {
    MockServer::with_dialect(dialect)
}

#[tokio::test]
async fn openai_with_a_rendered_prompt() {
    let server = speaking(Dialect::open_ai(model(Some(TemplateMarks::QWEN)), KEY));
    let settings = HttpSettings {
        fim: FimSetting::Template("qwen2.5-coder".to_owned()),
        ..settings(EngineKind::OpenAi, &server.url())
    };
    let exchange = exchange(settings, server, with_context(request(FIXTURE))).await;
    exchange.check_sent(expect![[r#"
        POST /v1/completions
        {
          "max_tokens": 64,
          "model": "coder",
          "prompt": "<|file_sep|>src/near.py\ndef near():\n    pass\n<|file_sep|>src/far.py\ndef far():\n    pass\n<|file_sep|>src/area.py\n<|fim_prefix|>def area(width, height):\n    return <|fim_suffix|>\n\nprint(area(2, 3))\n<|fim_middle|>",
          "stop": [
            "<|file_sep|>",
            "<|endoftext|>",
            "<|im_end|>",
            "<|fim_pad|>"
          ],
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "temperature": 0.0
        }
    "#]]);
    assert_eq!(exchange.answer.usage.map(|usage| usage.cached), Some(Some(1)));
}

#[tokio::test]
async fn openai_with_a_suffix() {
    let server = speaking(Dialect::open_ai(model(None), KEY));
    let exchange =
        exchange(settings(EngineKind::OpenAi, &server.url()), server, with_context(request(FIXTURE))).await;
    exchange.check_sent(expect![[r##"
        POST /v1/completions
        {
          "max_tokens": 64,
          "model": "coder",
          "prompt": "# Path: src/near.py\n# def near():\n#     pass\n# Path: src/far.py\n# def far():\n#     pass\n# src/area.py\ndef area(width, height):\n    return ",
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "suffix": "\n\nprint(area(2, 3))\n",
          "temperature": 0.0
        }
    "##]]);
}

#[tokio::test]
async fn openai_chat() {
    let server = speaking(Dialect::open_ai(model(None), KEY));
    let exchange = exchange(settings(EngineKind::OpenAiChat, &server.url()), server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /v1/chat/completions
        {
          "max_tokens": 64,
          "messages": [
            {
              "content": "You fill holes in source code. You are shown a file in which <HOLE/> marks the one place where text is missing, and perhaps code from other files of the same project. Answer with the missing text between <FILL> and </FILL> and with nothing else: no explanation, no Markdown.\n\nThe file with your text in the place of <HOLE/> must read as its author would have written it: the same style and indentation, names that exist, no text twice. Your text begins exactly where the mark stands, in the middle of a line if the mark does, and must not repeat what stands before or after it. Complete what was begun there, a line, a statement or a block, and stop. If nothing is missing, answer <FILL></FILL>.\n\nExample 1. The file:\ndef area(width, height):\n    return <HOLE/>\n\nprint(area(2, 3))\nThe answer:\n<FILL>width * height</FILL>\n\nExample 2. The file:\ndef mean(values):<HOLE/>\n\nprint(mean([1, 2, 3]))\nThe answer:\n<FILL>\n    return sum(values) / len(values)</FILL>",
              "role": "system"
            },
            {
              "content": "<FILE path=\"src/area.py\" language=\"Python\">\ndef area(width, height):\n    return <HOLE/>\n\nprint(area(2, 3))\n\n</FILE>\n\nWhat belongs in the place of <HOLE/>? Answer with <FILL>, the text, </FILL>.",
              "role": "user"
            }
          ],
          "model": "coder",
          "stop": [
            "</FILL>"
          ],
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "temperature": 0.0
        }
    "#]]);
}

#[tokio::test]
async fn anthropic() {
    let server = speaking(Dialect::anthropic(model(None), KEY));
    let exchange = exchange(settings(EngineKind::Anthropic, &server.url()), server, request(FIXTURE)).await;
    let log = exchange.server.log();
    let received = log.received.last().unwrap();
    assert_eq!(received.header("x-api-key"), Some(KEY));
    assert_eq!(received.header("authorization"), None);
    let usage = exchange.answer.usage.unwrap();
    assert_eq!(usage.cached, Some(usage.input / 2), "cached tokens count as input");
    let body = received.json();
    let names: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["max_tokens", "messages", "model", "stop_sequences", "stream", "system", "temperature"]
    );
}

#[tokio::test]
async fn llama_cpp_with_infill() {
    let server = speaking(Dialect::llama_cpp(model(Some(TemplateMarks::QWEN))).with_key(KEY));
    let exchange =
        exchange(settings(EngineKind::LlamaCpp, &server.url()), server, with_context(request(FIXTURE))).await;
    exchange.check_sent(expect![[r#"
        POST /infill
        {
          "cache_prompt": true,
          "input_extra": [
            {
              "filename": "src/far.py",
              "text": "def far():\n    pass\n"
            },
            {
              "filename": "src/near.py",
              "text": "def near():\n    pass\n"
            }
          ],
          "input_prefix": "def area(width, height):\n    return ",
          "input_suffix": "\n\nprint(area(2, 3))\n",
          "model": "coder",
          "n_predict": 64,
          "prompt": "",
          "return_progress": true,
          "stream": true,
          "temperature": 0.0
        }
    "#]]);
    let timings = exchange.answer.timings.unwrap();
    assert_eq!(
        (timings.prompt, timings.generation),
        (Some(Duration::from_micros(2500)), Some(Duration::from_micros(1500)))
    );
    assert_eq!(exchange.answer.usage.map(|usage| usage.cached), Some(Some(1)));
}

#[tokio::test]
async fn llama_cpp_with_a_rendered_prompt() {
    let server = speaking(Dialect::llama_cpp(model(Some(TemplateMarks::STARCODER))));
    let settings = HttpSettings {
        fim: FimSetting::Template("starcoder2".to_owned()),
        ..settings(EngineKind::LlamaCpp, &server.url())
    };
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /completion
        {
          "cache_prompt": true,
          "model": "coder",
          "n_predict": 64,
          "prompt": "<fim_prefix>def area(width, height):\n    return <fim_suffix>\n\nprint(area(2, 3))\n<fim_middle>",
          "return_progress": true,
          "stop": [
            "<file_sep>",
            "<|endoftext|>",
            "<fim_prefix>",
            "<fim_suffix>",
            "<fim_middle>"
          ],
          "stream": true,
          "temperature": 0.0
        }
    "#]]);
}

#[tokio::test]
async fn ollama_with_a_suffix() {
    let server = speaking(Dialect::ollama(model(Some(TemplateMarks::QWEN))));
    let sampling =
        Sampling { temperature: Some(0.2), top_p: Some(0.9), seed: Some(7), ..Sampling::greedy(64) };
    let settings = HttpSettings { sampling, ..settings(EngineKind::Ollama, &server.url()) };
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /api/generate
        {
          "model": "coder",
          "options": {
            "num_predict": 64,
            "seed": 7,
            "temperature": 0.2,
            "top_p": 0.9
          },
          "prompt": "def area(width, height):\n    return ",
          "stream": true,
          "suffix": "\n\nprint(area(2, 3))\n",
          "think": false
        }
    "#]]);
    let timings = exchange.answer.timings.unwrap();
    let millisecond = |count| Some(Duration::from_millis(count));
    assert_eq!(
        (timings.load, timings.prompt, timings.generation),
        (millisecond(2), millisecond(3), millisecond(4))
    );
    exchange.check_usage(9, 4, None);
}

#[tokio::test]
async fn ollama_with_a_rendered_prompt() {
    let server = speaking(Dialect::ollama(model(Some(TemplateMarks::DEEPSEEK))));
    let settings = HttpSettings {
        fim: FimSetting::Template("deepseek-coder".to_owned()),
        ..settings(EngineKind::Ollama, &server.url())
    };
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /api/generate
        {
          "model": "coder",
          "options": {
            "num_predict": 64,
            "stop": [
              "<｜end▁of▁sentence｜>",
              "<|EOT|>",
              "<|eos_token|>",
              "<｜fim▁begin｜>",
              "<｜fim▁hole｜>",
              "<｜fim▁end｜>"
            ],
            "temperature": 0.0
          },
          "prompt": "<｜fim▁begin｜>def area(width, height):\n    return <｜fim▁hole｜>\n\nprint(area(2, 3))\n<｜fim▁end｜>",
          "raw": true,
          "stream": true,
          "think": false
        }
    "#]]);
}

#[tokio::test]
async fn mistral_fim() {
    let server = speaking(Dialect::mistral(model(Some(TemplateMarks::CODESTRAL)), KEY));
    let sampling = Sampling { seed: Some(7), ..Sampling::greedy(64) };
    let settings = HttpSettings { sampling, ..settings(EngineKind::MistralFim, &server.url()) };
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /v1/fim/completions
        {
          "max_tokens": 64,
          "model": "coder",
          "prompt": "def area(width, height):\n    return ",
          "random_seed": 7,
          "stream": true,
          "suffix": "\n\nprint(area(2, 3))\n",
          "temperature": 0.0
        }
    "#]]);
    assert!(exchange.answer.usage.is_some());
}

#[tokio::test]
async fn deepseek_fim() {
    let server = speaking(Dialect::deepseek(model(Some(TemplateMarks::DEEPSEEK)), KEY));
    let exchange = exchange(settings(EngineKind::DeepSeekFim, &server.url()), server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /beta/completions
        {
          "max_tokens": 64,
          "model": "coder",
          "prompt": "def area(width, height):\n    return ",
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "suffix": "\n\nprint(area(2, 3))\n",
          "temperature": 0.0
        }
    "#]]);
    let usage = exchange.answer.usage.unwrap();
    assert_eq!(usage.cached, Some(usage.input / 2));
}

#[tokio::test]
async fn tgi() {
    let server = speaking(Dialect::tgi(model(Some(TemplateMarks::STARCODER))));
    let settings = HttpSettings {
        fim: FimSetting::Template("starcoder".to_owned()),
        ..settings(EngineKind::Tgi, &server.url())
    };
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /generate_stream
        {
          "inputs": "<fim_prefix>def area(width, height):\n    return <fim_suffix>\n\nprint(area(2, 3))\n<fim_middle>",
          "parameters": {
            "details": true,
            "do_sample": false,
            "max_new_tokens": 64,
            "return_full_text": false,
            "stop": [
              "<|endoftext|>",
              "<fim_prefix>",
              "<fim_suffix>",
              "<fim_middle>"
            ]
          }
        }
    "#]]);
    assert!(exchange.answer.usage.is_some());
}

#[tokio::test]
async fn vllm() {
    let server = speaking(Dialect::vllm(model(Some(TemplateMarks::QWEN))));
    let settings = HttpSettings {
        fim: FimSetting::Template("qwen2.5-coder".to_owned()),
        ..settings(EngineKind::Vllm, &server.url())
    };
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    exchange.check_sent(expect![[r#"
        POST /v1/completions
        {
          "include_stop_str_in_output": false,
          "max_tokens": 64,
          "model": "coder",
          "prompt": "<|fim_prefix|>def area(width, height):\n    return <|fim_suffix|>\n\nprint(area(2, 3))\n<|fim_middle|>",
          "skip_special_tokens": false,
          "stop": [
            "<|file_sep|>",
            "<|endoftext|>",
            "<|im_end|>",
            "<|fim_pad|>",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
            "<|repo_name|>",
            "<|im_start|>"
          ],
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "temperature": 0.0
        }
    "#]]);
}

#[tokio::test]
async fn tabby() {
    let server = speaking(Dialect::tabby(model(Some(TemplateMarks::STARCODER)), KEY));
    let exchange =
        exchange(settings(EngineKind::Tabby, &server.url()), server, with_context(request(FIXTURE))).await;
    exchange.check_sent(expect![[r#"
        POST /v1/completions
        {
          "language": "python",
          "segments": {
            "filepath": "src/area.py",
            "prefix": "def area(width, height):\n    return ",
            "relevant_snippets_from_changed_files": [
              {
                "body": "def near():\n    pass\n",
                "filepath": "src/near.py",
                "score": 1.0
              },
              {
                "body": "def far():\n    pass\n",
                "filepath": "src/far.py",
                "score": 0.5
              }
            ],
            "suffix": "\n\nprint(area(2, 3))\n"
          }
        }
    "#]]);
}

#[tokio::test]
async fn extra_fields_and_headers_are_sent() {
    let server = speaking(Dialect::ollama(model(Some(TemplateMarks::QWEN))));
    let extra = serde_json::json!({"keep_alive": "1h", "options": {"num_ctx": 8192, "temperature": 0.5}});
    let mut settings = settings(EngineKind::Ollama, &server.url());
    settings.extra = extra.as_object().unwrap().clone();
    settings.server.headers = vec![("X-Route".to_owned(), config::Secret::new("here"))];
    let exchange = exchange(settings, server, request(FIXTURE)).await;
    let log = exchange.server.log();
    let received = log.received.last().unwrap();
    assert_eq!(received.header("x-route"), Some("here"));
    let body = received.json();
    assert_eq!(body["keep_alive"], "1h");
    assert_eq!(body["options"], serde_json::json!({"num_ctx": 8192, "num_predict": 64, "temperature": 0.5}));
}

#[tokio::test]
async fn answer_at_the_token_limit_finishes_with_length() {
    let server = speaking(Dialect::llama_cpp(model(Some(TemplateMarks::QWEN))));
    let settings =
        HttpSettings { sampling: Sampling::greedy(2), ..settings(EngineKind::LlamaCpp, &server.url()) };
    let (answer, heard) = ask_for(&engine(settings), request(FIXTURE)).await;
    assert_eq!((answer.unwrap().finish, &*heard.text), (FinishReason::Length, "width * "));
}

#[tokio::test]
async fn wrong_template_gets_a_noise_answer() {
    let server = speaking(Dialect::llama_cpp(model(Some(TemplateMarks::STARCODER))));
    let settings = HttpSettings {
        fim: FimSetting::Template("codellama".to_owned()),
        ..settings(EngineKind::LlamaCpp, &server.url())
    };
    let (answer, heard) = ask_for(&engine(settings), request(FIXTURE)).await;
    assert!(answer.is_ok());
    assert_eq!(heard.text, "lorem ipsum dolor sit amet");
}
