//! RepoQA's published results: pass@1 at the threshold 0.8, comments compared, in a context of 16,384 tokens.
//!
//! Source: the data of the benchmark's own table, <https://evalplus.github.io/repoqa.html>, file `results/repoqa/COMBINED-RESULTS.json` of
//! <https://github.com/evalplus/evalplus.github.io> at commit 87418456. They are the 33 models of the paper (arXiv 2406.06025).

use std::collections::{BTreeMap, BTreeSet};

use cases::Case;

use super::{PublishedTables, rows_of};

/// Functions that are asked for in each repository.
const NEEDLES: usize = 10;

/// The languages of the public data set in the order of the columns, and their repositories.
pub(super) const REPOSITORIES: [(&str, [&str; 10]); 5] = [
    (
        "python",
        [
            "psf/black",
            "python-poetry/poetry",
            "locustio/locust",
            "pyg-team/pytorch_geometric",
            "openai/openai-python",
            "mlc-ai/mlc-llm",
            "reactive-python/reactpy",
            "marshmallow-code/marshmallow",
            "ethereum/web3.py",
            "Ciphey/Ciphey",
        ],
    ),
    (
        "cpp",
        [
            "apache/logging-log4cxx",
            "skypjack/uvw",
            "ClickHouse/clickhouse-cpp",
            "polybar/polybar",
            "drogonframework/drogon",
            "sass/node-sass",
            "ml-explore/mlx",
            "scylladb/seastar",
            "WasmEdge/WasmEdge",
            "oatpp/oatpp",
        ],
    ),
    (
        "java",
        [
            "google/gson",
            "square/retrofit",
            "karatelabs/karate",
            "Password4j/password4j",
            "GoogleContainerTools/jib",
            "microsoft/gctoolkit",
            "palantir/palantir-java-format",
            "microsoft/mssql-jdbc",
            "google/conscrypt",
            "apache/flink-ml",
        ],
    ),
    (
        "typescript",
        [
            "xenova/transformers.js",
            "expressjs/express",
            "axios/axios",
            "date-fns/date-fns",
            "langchain-ai/langchainjs",
            "cheeriojs/cheerio",
            "openai/openai-node",
            "umami-software/umami",
            "mrdoob/three.js",
            "firebase/firebase-admin-node",
        ],
    ),
    (
        "rust",
        [
            "rust-bakery/nom",
            "helix-editor/helix",
            "rust-lang/cargo",
            "cloudflare/pingora",
            "huggingface/candle",
            "seanmonstar/warp",
            "serde-rs/serde",
            "tokio-rs/tracing",
            "AFLplusplus/LibAFL",
            "alacritty/alacritty",
        ],
    ),
];

/// Models with their shares for each language, and for all.
pub(super) const ROWS: &str = "\
gpt-4o-2024-05-13 0.95 0.8 0.96 0.97 0.85 0.906
gemini-1.5-pro-latest 0.91 0.81 0.94 0.96 0.91 0.906
claude-3-opus-20240229 0.93 0.83 0.95 0.94 0.88 0.906
gemini-1.5-flash-latest 0.93 0.79 0.94 0.97 0.87 0.9
claude-3-sonnet-20240229 0.88 0.81 0.92 0.91 0.85 0.874
deepseek-ai/DeepSeek-V2-Chat 0.9 0.76 0.91 0.83 0.77 0.834
meta-llama/Meta-Llama-3-70B-Instruct 0.83 0.7 0.86 0.91 0.81 0.822
claude-3-haiku-20240307 0.8 0.75 0.9 0.9 0.74 0.818
CohereForAI/c4ai-command-r-plus 0.81 0.74 0.84 0.77 0.76 0.784
gpt-4-turbo-2024-04-09 0.84 0.79 0.89 0.55 0.75 0.764
mistralai/Mixtral-8x7B-Instruct-v0.1 0.66 0.65 0.71 0.74 0.64 0.68
mistralai/Mixtral-8x22B-Instruct-v0.1 0.6 0.67 0.83 0.55 0.74 0.678
Qwen/Qwen1.5-72B-Chat 0.62 0.6 0.75 0.7 0.68 0.67
microsoft/Phi-3-medium-128k-instruct 0.57 0.54 0.69 0.74 0.62 0.632
Qwen/CodeQwen1.5-7B-Chat 0.69 0.47 0.74 0.67 0.57 0.628
mistralai/Mistral-7B-Instruct-v0.3 0.61 0.57 0.61 0.8 0.51 0.62
gpt-3.5-turbo-0125 0.43 0.65 0.76 0.58 0.6 0.604
meta-llama/Meta-Llama-3-8B-Instruct 0.54 0.48 0.53 0.62 0.51 0.536
deepseek-ai/deepseek-coder-33b-instruct 0.59 0.44 0.53 0.63 0.23 0.484
mistralai/Mistral-7B-Instruct-v0.2 0.38 0.5 0.45 0.6 0.44 0.474
codellama/CodeLlama-13b-Instruct-hf 0.45 0.3 0.5 0.57 0.31 0.426
deepseek-ai/DeepSeek-V2-Lite-Chat 0.39 0.37 0.41 0.46 0.45 0.416
codellama/CodeLlama-34b-Instruct-hf 0.41 0.31 0.4 0.43 0.53 0.416
microsoft/Phi-3-small-128k-instruct 0.25 0.48 0.46 0.49 0.3 0.396
Qwen/Qwen1.5-32B-Chat 0.36 0.28 0.32 0.48 0.25 0.338
codellama/CodeLlama-7b-Instruct-hf 0.2 0.41 0.25 0.33 0.22 0.282
Qwen/Qwen1.5-14B-Chat 0.04 0.3 0.36 0.34 0.26 0.26
ise-uiuc/Magicoder-S-DS-6.7B 0.27 0.21 0.25 0.36 0.07 0.232
microsoft/Phi-3-mini-128k-instruct 0.19 0.25 0.21 0.22 0.25 0.224
mistralai/Mistral-7B-Instruct-v0.1 0.1 0.09 0.11 0.15 0.1 0.11
deepseek-ai/deepseek-coder-6.7b-instruct 0.11 0.21 0.03 0.16 0.02 0.106
Qwen/Qwen1.5-7B-Chat 0.01 0.06 0.02 0.03 0.02 0.028
google/codegemma-7b-it 0.03 0.02 0.01 0.04 0.01 0.022
";

/// Returns the published results in the languages of which the cases are the public ones.
pub(super) fn published(cases: &[&Case]) -> Option<PublishedTables> {
    let mut asked: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for case in cases {
        let question = case.find_function()?;
        let repository = case.origin.repository.as_deref()?;
        asked.entry((&case.language, repository)).or_default().insert(&question.name);
    }
    let is_public = |language: &str, repositories: &[&str]| {
        repositories.iter().all(|repository| {
            asked.get(&(language, *repository)).is_some_and(|functions| functions.len() == NEEDLES)
        })
    };
    let complete: Vec<&str> = REPOSITORIES
        .iter()
        .filter(|(language, repositories)| is_public(language, repositories))
        .map(|(language, _)| *language)
        .collect();
    let has_all = complete.len() == REPOSITORIES.len();
    let columns: Vec<(&str, bool)> = REPOSITORIES
        .iter()
        .map(|(language, _)| (*language, complete.contains(language)))
        .chain([("all", has_all)])
        .collect();
    PublishedTables::new(
        "the table of evalplus.github.io/repoqa.html, 16384 tokens",
        [("pass@1", "pass@1 at 0.8", columns, rows_of(ROWS))],
    )
}
