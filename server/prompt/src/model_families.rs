//! The table of model families, one row per family: the prompt layout for a hole in a file.
//!
//! A row is only data; `template`, `choose_template`, `assemble` and `answer_parser` use it. Layouts contain the placeholders of
//! [`crate::CustomTemplate`]. None begins with the token that begins every text (`<s>`, `<|begin_of_text|>`): servers add it themselves,
//! and two of them degrade the model's answers.
//!
//! Comments on the rows name the source of each layout: a paper, a model card or a repository.

/// Everything about a model family that affects prompts and answers.
#[derive(Debug, PartialEq, Eq)]
pub struct ModelFamily {
    /// Name in the configuration.
    pub name: &'static str,
    /// Alternative names in the configuration.
    pub aliases: &'static [&'static str],
    /// Substrings of model names, reduced to lower-case letters and digits.
    pub models: &'static [&'static str],
    /// Layout of a prompt without code from other files.
    pub file_layout: &'static str,
    /// Layout with code from other files, if the models were trained on one; otherwise such code is sent as comments.
    pub repository_layout: Option<RepositoryLayout>,
    /// Tokens of its vocabulary that user code must not contain, besides [`SHARED_TOKENS`]. Each one ends an answer.
    pub tokens: &'static [&'static str],
    /// Stop strings for the server, the most important first, because some servers accept only a few.
    pub stop: &'static [&'static str],
    /// Substitute for an empty suffix.
    pub empty_suffix: &'static str,
    /// Strings that its models append to the insertion by mistake.
    pub trailing_noise: &'static [&'static str],
    /// Instructions before the prompt, for chat models.
    pub system: Option<&'static str>,
}

/// Layout of code from several files.
#[derive(Debug, PartialEq, Eq)]
pub struct RepositoryLayout {
    /// Layout of one snippet; `None` if snippets are sent as comments.
    pub item: Option<&'static str>,
    /// The whole prompt. Without `{context}` in it, the context goes directly before the prefix.
    pub layout: &'static str,
}

/// Tokens shared by many vocabularies: ends of texts and of chat turns. Chat-tuned models write them after an insertion and
/// continue with a chat; Granite 3.3 8B Instruct did so in 16 of 268 real answers.
pub const SHARED_TOKENS: &[&str] = &[
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|im_sep|>",
    "<|user|>",
    "<|assistant|>",
    "<|system|>",
];

/// A single line break does less harm than an empty suffix, which models trained on files read as "the file ends here". Tabby and
/// Continue send it too.
pub(crate) const EMPTY_SUFFIX: &str = "\n";

/// The families. If two rows match a model, the more specific one comes first.
pub static FAMILIES: &[ModelFamily] = &[
    // QwenLM/Qwen2.5-Coder: README, examples/Qwen2.5-Coder-fim.py and -repolevel-fim.py, whose end tokens are the stop strings.
    ModelFamily {
        name: "qwen2.5-coder",
        aliases: &["qwen3-coder", "qwen-coder"],
        models: &["qwen25coder", "qwen2coder", "qwen3coder", "qwencoder"],
        file_layout: "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        repository_layout: Some(RepositoryLayout {
            item: Some("<|file_sep|>{path}\n{text}\n"),
            layout: "{context}<|file_sep|>{path}\n<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        }),
        tokens: &[
            "<|fim_prefix|>",
            "<|fim_middle|>",
            "<|fim_suffix|>",
            "<|fim_pad|>",
            "<|repo_name|>",
            "<|file_sep|>",
        ],
        stop: &[
            "<|file_sep|>",
            "<|endoftext|>",
            "<|im_end|>",
            "<|fim_pad|>",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
            "<|repo_name|>",
            "<|im_start|>",
        ],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // arXiv 2402.19173, section 5.1: with several files the path follows `<fim_prefix>`. Continue saw the stray `t`.
    ModelFamily {
        name: "starcoder2",
        aliases: &[],
        models: &["starcoder2"],
        file_layout: "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        repository_layout: Some(RepositoryLayout {
            item: Some("<file_sep>{path}\n{text}\n"),
            layout: "{context}<file_sep><fim_prefix>{path}\n{prefix}<fim_suffix>{suffix}<fim_middle>",
        }),
        tokens: &[
            "<fim_prefix>",
            "<fim_middle>",
            "<fim_suffix>",
            "<fim_pad>",
            "<repo_name>",
            "<file_sep>",
            "<issue_start>",
            "<jupyter_start>",
            "<pr>",
        ],
        stop: &["<file_sep>", "<|endoftext|>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &["\nt", "\nt."],
        system: None,
    },
    // bigcode/starcoder's model card; the file name before the prefix as in Cody. The training data never had two files at once.
    ModelFamily {
        name: "starcoder",
        aliases: &["starcoder1"],
        models: &["starcoder", "starchat", "octocoder"],
        file_layout: "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        repository_layout: Some(RepositoryLayout {
            item: None,
            layout: "<filename>{path}\n<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        }),
        tokens: &[
            "<fim_prefix>",
            "<fim_middle>",
            "<fim_suffix>",
            "<fim_pad>",
            "<filename>",
            "<reponame>",
            "<gh_stars>",
            "<issue_start>",
            "<jupyter_start>",
            "<commit_before>",
        ],
        stop: &["<|endoftext|>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<file_sep>", "<filename>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // bigcode/santacoder's model card: hyphens where StarCoder has underscores.
    ModelFamily {
        name: "santacoder",
        aliases: &[],
        models: &["santacoder"],
        file_layout: "<fim-prefix>{prefix}<fim-suffix>{suffix}<fim-middle>",
        repository_layout: None,
        tokens: &["<fim-prefix>", "<fim-middle>", "<fim-suffix>", "<fim-pad>"],
        stop: &["<|endoftext|>", "<fim-prefix>", "<fim-suffix>", "<fim-middle>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // stabilityai/stable-code-3b and Qwen/CodeQwen1.5: StarCoder's tokens. Continue saw `</code>` and `</fim_middle>` behind answers.
    ModelFamily {
        name: "stable-code",
        aliases: &["codeqwen"],
        models: &["stablecode", "codeqwen"],
        file_layout: "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        repository_layout: None,
        tokens: &[
            "<fim_prefix>",
            "<fim_middle>",
            "<fim_suffix>",
            "</fim_middle>",
            "<fim_pad>",
            "<file_sep>",
            "<repo_name>",
            "<filename>",
            "<reponame>",
        ],
        stop: &[
            "<|endoftext|>",
            "<fim_prefix>",
            "<fim_suffix>",
            "<fim_middle>",
            "<file_sep>",
            "</fim_middle>",
        ],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &["</code>"],
        system: None,
    },
    // meta-llama/codellama, llama/generation.py: the blanks belong to the tokens, whose pieces are `▁<PRE>`, `▁<SUF>` and `▁<MID>`.
    ModelFamily {
        name: "codellama",
        aliases: &[],
        models: &["codellama"],
        file_layout: "<PRE> {prefix} <SUF>{suffix} <MID>",
        repository_layout: None,
        tokens: CODELLAMA_TOKENS,
        stop: CODELLAMA_STOP,
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // The same with the suffix first, which its authors also offer. Only by name: no model's metadata asks for it.
    ModelFamily {
        name: "codellama-spm",
        aliases: &[],
        models: &[],
        file_layout: "<PRE> <SUF>{suffix} <MID> {prefix}",
        repository_layout: None,
        tokens: CODELLAMA_TOKENS,
        stop: CODELLAMA_STOP,
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // deepseek-ai/DeepSeek-Coder, README and paper (arXiv 2401.14196): `#path` heads each file, and holes were cut in texts of several
    // files, so the other files belong to the prefix. `<|EOT|>` ends answers of chat-tuned models.
    ModelFamily {
        name: "deepseek-coder",
        aliases: &["deepseek", "deepseek-v4"],
        models: &["deepseekcoder", "deepseekv2", "deepseekv3", "deepseekv4"],
        file_layout: "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
        repository_layout: Some(RepositoryLayout {
            item: Some("#{path}\n{text}\n"),
            layout: "<｜fim▁begin｜>{context}#{path}\n{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
        }),
        tokens: &[
            "<｜fim▁begin｜>",
            "<｜fim▁hole｜>",
            "<｜fim▁end｜>",
            "<｜begin▁of▁sentence｜>",
            "<｜end▁of▁sentence｜>",
            "<｜User｜>",
            "<｜Assistant｜>",
            "<|EOT|>",
            "<|eos_token|>",
        ],
        stop: &[
            "<｜end▁of▁sentence｜>",
            "<|EOT|>",
            "<|eos_token|>",
            "<｜fim▁begin｜>",
            "<｜fim▁hole｜>",
            "<｜fim▁end｜>",
        ],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // mistralai/mistral-common, `encode_fim`: the suffix first, then the middle without a token. `+++++ path` as in Continue.
    ModelFamily {
        name: "codestral",
        aliases: &["mistral"],
        models: &["codestral"],
        file_layout: "[SUFFIX]{suffix}[PREFIX]{prefix}",
        repository_layout: Some(RepositoryLayout {
            item: Some("+++++ {path}\n{text}\n\n"),
            layout: "[SUFFIX]{suffix}[PREFIX]{context}+++++ {path}\n{prefix}",
        }),
        tokens: &["[PREFIX]", "[SUFFIX]", "[MIDDLE]", "[INST]", "[/INST]", "<s>", "</s>"],
        stop: &["</s>", "[PREFIX]", "[SUFFIX]", "\n+++++ "],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // ai.google.dev/gemma/docs/codegemma/prompt-structure; the path before the prefix, as in Cody.
    ModelFamily {
        name: "codegemma",
        aliases: &[],
        models: &["codegemma"],
        file_layout: "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        repository_layout: Some(RepositoryLayout {
            item: Some("{path}\n{text}\n<|file_separator|>"),
            layout: "{context}{path}\n<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        }),
        tokens: &[
            "<|fim_prefix|>",
            "<|fim_middle|>",
            "<|fim_suffix|>",
            "<|file_separator|>",
            "<start_of_turn>",
            "<end_of_turn>",
            "<bos>",
            "<eos>",
        ],
        stop: &[
            "<|file_separator|>",
            "<end_of_turn>",
            "<eos>",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
        ],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // ibm.com/granite/docs/models/granite#fim, via Continue.
    ModelFamily {
        name: "granite-4",
        aliases: &[],
        models: &["granite4"],
        file_layout: "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        repository_layout: None,
        tokens: &["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|start_of_role|>"],
        stop: &["<|end_of_text|>", "<|fim_pad|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // Granite-Code/granite-completebench, template "outside", used with the 3.3 models; Granite's code models have the same tokens.
    ModelFamily {
        name: "granite-3",
        aliases: &["granite", "granite-code"],
        models: &["granite"],
        file_layout: "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        repository_layout: Some(RepositoryLayout {
            item: Some("<filename>{path}\n{text}\n"),
            layout: "{context}<filename>{path}\n<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        }),
        tokens: &[
            "<fim_prefix>",
            "<fim_middle>",
            "<fim_suffix>",
            "<fim_pad>",
            "<filename>",
            "<reponame>",
            "<noinput>",
            "<|start_of_role|>",
            "<|end_of_role|>",
        ],
        stop: &[
            "<filename>",
            "<|end_of_text|>",
            "<|endoftext|>",
            "<fim_pad>",
            "<fim_prefix>",
            "<fim_suffix>",
            "<fim_middle>",
            "<|im_start|>",
        ],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // ByteDance-Seed/Seed-Coder-8B-Base: the suffix first. No layout for several files was published.
    ModelFamily {
        name: "seed-coder",
        aliases: &[],
        models: &["seedcoder"],
        file_layout: "<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>",
        repository_layout: None,
        tokens: &[
            "<[fim-prefix]>",
            "<[fim-middle]>",
            "<[fim-suffix]>",
            "<[begin▁of▁sentence]>",
            "<[end▁of▁sentence]>",
            "<[SEP▁TOKEN]>",
            "<[PAD▁TOKEN]>",
        ],
        stop: &[
            "<[end▁of▁sentence]>",
            "<[SEP▁TOKEN]>",
            "<[PAD▁TOKEN]>",
            "<[fim-prefix]>",
            "<[fim-suffix]>",
            "<[fim-middle]>",
        ],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // JetBrains/Mellum-4b-base's model card: the suffix first, the file's name before it.
    ModelFamily {
        name: "mellum",
        aliases: &[],
        models: &["mellum"],
        file_layout: "<filename>{path}\n<fim_suffix>{suffix}<fim_prefix>{prefix}<fim_middle>",
        repository_layout: Some(RepositoryLayout {
            item: Some("<filename>{path}\n{text}\n"),
            layout: "{context}<filename>{path}\n<fim_suffix>{suffix}<fim_prefix>{prefix}<fim_middle>",
        }),
        tokens: &[
            "<fim_prefix>",
            "<fim_middle>",
            "<fim_suffix>",
            "<fim_pad>",
            "<filename>",
            "<reponame>",
            "<gh_stars>",
        ],
        stop: &["<|endoftext|>", "<filename>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // THUDM/CodeGeeX4, guides/Infilling_guideline.md: a chat turn with marks for path, language and mode; an empty suffix stays
    // empty.
    ModelFamily {
        name: "codegeex4",
        aliases: &["codegeex"],
        models: &["codegeex"],
        file_layout: "<|user|>\n###PATH:{path}\n###LANGUAGE:{language}\n###MODE:BLOCK\n\
               <|code_suffix|>{suffix}<|code_prefix|>{prefix}<|code_middle|><|assistant|>\n",
        repository_layout: Some(RepositoryLayout {
            item: Some("###REFERENCE:\n###PATH:{path}\n{text}\n"),
            layout: "<|user|>\n{context}###PATH:{path}\n###LANGUAGE:{language}\n###MODE:BLOCK\n\
                     <|code_suffix|>{suffix}<|code_prefix|>{prefix}<|code_middle|><|assistant|>\n",
        }),
        tokens: CODEGEEX_TOKENS,
        stop: CODEGEEX_STOP,
        empty_suffix: "",
        trailing_noise: &[],
        system: None,
    },
    // The tokens that llama.cpp detects in GLM-4.5, in the order of the family's earlier model.
    ModelFamily {
        name: "glm-4.5",
        aliases: &["glm"],
        models: &["glm45", "glm46", "glm47"],
        file_layout: "<|code_suffix|>{suffix}<|code_prefix|>{prefix}<|code_middle|>",
        repository_layout: None,
        tokens: CODEGEEX_TOKENS,
        stop: CODEGEEX_STOP,
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // llama.cpp, src/llama-vocab.cpp.
    ModelFamily {
        name: "falcon-h1-tiny-coder",
        aliases: &["falcon"],
        models: &["falconh1tinycoder"],
        file_layout: "<|prefix|>{prefix}<|suffix|>{suffix}<|middle|>",
        repository_layout: None,
        tokens: &["<|prefix|>", "<|middle|>", "<|suffix|>"],
        stop: &["<|end_of_text|>", "<|prefix|>", "<|suffix|>", "<|middle|>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
    // Continue: the path is also sent with a single file.
    ModelFamily {
        name: "mercury",
        aliases: &["mercury-coder"],
        models: &["mercury"],
        file_layout: "<|file_sep|>{path}\n<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        repository_layout: Some(RepositoryLayout {
            item: Some("<|file_sep|>{path}\n{text}\n"),
            layout: "{context}<|file_sep|>{path}\n<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        }),
        tokens: &["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|file_sep|>"],
        stop: &["<|file_sep|>", "<|endoftext|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"],
        empty_suffix: EMPTY_SUFFIX,
        trailing_noise: &[],
        system: None,
    },
];

const CODELLAMA_TOKENS: &[&str] = &["<PRE>", "<MID>", "<SUF>", "<EOT>", "<s>", "</s>"];

/// The blank before the end token belongs to it.
const CODELLAMA_STOP: &[&str] = &[" <EOT>", "<EOT>", "<PRE>", "<SUF>", "<MID>"];

const CODEGEEX_TOKENS: &[&str] =
    &["<|code_prefix|>", "<|code_middle|>", "<|code_suffix|>", "<|observation|>", "[gMASK]"];

const CODEGEEX_STOP: &[&str] =
    &["<|endoftext|>", "<|user|>", "<|assistant|>", "<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"];
