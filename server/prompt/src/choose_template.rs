//! Chooses a model's template: from the configuration, else from the server's metadata, else from the model's name.
//!
//! Elsewhere, guessing by the name alone is the most frequent cause of wrong templates: models are renamed, and servers serve them
//! under any name. A server's own template contains the tokens, which is reliable. The choice is returned with its reason, for
//! display.

use std::cmp::Reverse;
use std::fmt;

use crate::model_families::{FAMILIES, ModelFamily};
use crate::template::{Template, TemplateError, layout_tokens, normalized_name};

/// Known facts about a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelHints<'a> {
    /// The configured template: a name or a layout.
    pub configured: Option<&'a str>,
    /// Texts from the server that may contain the model's tokens: Ollama's `template`, a chat template, a vocabulary.
    pub texts: &'a [&'a str],
    /// Names used by the server: the path of the model file, its base model, its architecture.
    pub names: &'a [&'a str],
    /// Name used by the user, which requests carry.
    pub model: &'a str,
}

/// A template and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateChoice {
    /// The template.
    pub template: Template,
    /// Reason for the choice.
    pub by: TemplateSource,
}

/// Reason for the choice of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateSource {
    /// It is configured.
    Configuration,
    /// It follows from the server's metadata.
    Metadata,
    /// It follows from the model's name.
    Name,
}

impl fmt::Display for TemplateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TemplateSource::Configuration => "configuration",
            TemplateSource::Metadata => "metadata",
            TemplateSource::Name => "name",
        })
    }
}

/// Returns the template for a model, `None` if no hint matches, and an error if the configured template does not exist.
pub fn choose_template(hints: &ModelHints<'_>) -> Result<Option<TemplateChoice>, TemplateError> {
    if let Some(setting) = hints.configured {
        return Ok(Some(TemplateChoice {
            template: Template::parse(setting)?,
            by: TemplateSource::Configuration,
        }));
    }
    let by_tokens = hints.texts.iter().find_map(|text| family_by_tokens(text, hints));
    let by_metadata = by_tokens.or_else(|| hints.names.iter().find_map(|name| family_by_name(name)));
    let found = by_metadata.map(|family| (family, TemplateSource::Metadata));
    let found = found.or_else(|| family_by_name(hints.model).map(|family| (family, TemplateSource::Name)));
    Ok(found.map(|(family, by)| TemplateChoice { template: Template::Family(family), by }))
}

/// Returns the family of a model by its name. All parts of a path count.
fn family_by_name(name: &str) -> Option<&'static ModelFamily> {
    let name = normalized_name(name);
    // The family with the longest match wins, independent of the order of rows: `codeqwen1.5` is not `qwen`.
    let longest = |family: &&'static ModelFamily| {
        family.models.iter().filter(|model| name.contains(**model)).map(|model| model.len()).max()
    };
    let found = FAMILIES.iter().filter_map(|family| Some((longest(&family)?, family)));
    found.min_by_key(|(length, _)| Reverse(*length)).map(|(_, family)| family)
}

/// Returns the family whose layout tokens all occur in a server's text. If several families share them, the criteria are, in this
/// order: the name, the order of the tokens, the number of the family's other tokens in the text, the smallest number of layout
/// tokens.
fn family_by_tokens(text: &str, hints: &ModelHints<'_>) -> Option<&'static ModelFamily> {
    let named: Vec<_> =
        hints.names.iter().chain([&hints.model]).filter_map(|name| family_by_name(name)).collect();
    let fits = FAMILIES.iter().filter(|family| {
        let tokens = hole_tokens(family);
        !tokens.is_empty() && tokens.iter().all(|token| text.contains(token))
    });
    fits.min_by_key(|family| {
        let is_named = named.iter().any(|named| named == family);
        let others = family.tokens.iter().filter(|token| text.contains(**token)).count();
        (!is_named, !occur_in_order(text, &hole_tokens(family)), Reverse(others), family.tokens.len())
    })
}

/// Returns the tokens around prefix and suffix. Tokens of chat turns are unrelated to holes.
fn hole_tokens(family: &ModelFamily) -> Vec<&'static str> {
    layout_tokens(family.file_layout)
        .into_iter()
        .filter(|token| family.tokens.contains(token))
        .filter(|token| !matches!(*token, "<filename>" | "<|file_sep|>"))
        .collect()
}

fn occur_in_order(text: &str, tokens: &[&str]) -> bool {
    let behind = tokens.iter().try_fold(text, |rest, token| Some(rest.split_once(token)?.1));
    behind.is_some()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(hints: ModelHints<'_>, expect: Expect) {
        expect.assert_eq(&match choose_template(&hints) {
            Ok(Some(choice)) => format!("{} by {}", choice.template.name(), choice.by),
            Ok(None) => "nothing".to_owned(),
            Err(error) => format!("error: {error}"),
        });
    }

    #[track_caller]
    fn check_model(model: &str, expect: Expect) {
        check(ModelHints { model, ..ModelHints::default() }, expect);
    }

    #[test]
    fn model_names_select_their_templates() {
        check_model("Qwen/Qwen2.5-Coder-14B-Instruct", expect!["qwen2.5-coder by name"]);
        check_model("qwen2.5-coder:1.5b-base-q8_0", expect!["qwen2.5-coder by name"]);
        check_model("Qwen3-Coder-30B-A3B-Instruct", expect!["qwen2.5-coder by name"]);
        check_model("Qwen/CodeQwen1.5-7B", expect!["stable-code by name"]);
        check_model("stabilityai/stable-code-3b", expect!["stable-code by name"]);
        check_model("bigcode/starcoder2-15b", expect!["starcoder2 by name"]);
        check_model("bigcode/starcoderbase-1b", expect!["starcoder by name"]);
        check_model("bigcode/santacoder", expect!["santacoder by name"]);
        check_model("codellama/CodeLlama-7b-hf", expect!["codellama by name"]);
        check_model("codellama:7b-code", expect!["codellama by name"]);
        check_model("deepseek-ai/deepseek-coder-6.7b-base", expect!["deepseek-coder by name"]);
        check_model("deepseek-v4-flash", expect!["deepseek-coder by name"]);
        check_model("codestral-latest", expect!["codestral by name"]);
        check_model("google/codegemma-2b", expect!["codegemma by name"]);
        check_model("ibm-granite/granite-3.3-8b-base", expect!["granite-3 by name"]);
        check_model("granite-code:3b", expect!["granite-3 by name"]);
        check_model("ibm/granite4:tiny-h", expect!["granite-4 by name"]);
        check_model("ibm-granite/granite-4.0-h-tiny", expect!["granite-4 by name"]);
        check_model("ByteDance-Seed/Seed-Coder-8B-Base", expect!["seed-coder by name"]);
        check_model("JetBrains/Mellum-4b-sft-python", expect!["mellum by name"]);
        check_model("THUDM/codegeex4-all-9b", expect!["codegeex4 by name"]);
        check_model("zai-org/GLM-4.5-Air", expect!["glm-4.5 by name"]);
        check_model("tiiuae/Falcon-H1-Tiny-Coder-90M", expect!["falcon-h1-tiny-coder by name"]);
        check_model("mercury-coder", expect!["mercury by name"]);
    }

    #[test]
    fn other_model_names_select_no_template() {
        check_model("gpt-5", expect!["nothing"]);
        check_model("deepseek-r1-distill-qwen-7b", expect!["nothing"]);
        check_model("llama3.1:8b", expect!["nothing"]);
        check_model("glm-4-9b-chat", expect!["nothing"]);
        check_model("", expect!["nothing"]);
    }

    #[test]
    fn configured_template_wins() {
        let model = "codestral";
        check(
            ModelHints { configured: Some("Qwen2.5-Coder"), model, ..ModelHints::default() },
            expect!["qwen2.5-coder by configuration"],
        );
        check(
            ModelHints {
                configured: Some("<PRE> {prefix} <SUF>{suffix} <MID>"),
                model,
                ..ModelHints::default()
            },
            expect!["<PRE> {prefix} <SUF>{suffix} <MID> by configuration"],
        );
        check(
            ModelHints { configured: Some("qwen2"), model, ..ModelHints::default() },
            expect![[
                r#"error: unknown template `qwen2`; known are qwen2.5-coder, starcoder2, starcoder, santacoder, stable-code, codellama, codellama-spm, deepseek-coder, codestral, codegemma, granite-4, granite-3, seed-coder, mellum, codegeex4, glm-4.5, falcon-h1-tiny-coder, mercury, or write one out with {prefix} and {suffix}"#
            ]],
        );
    }

    #[test]
    fn server_template_precedes_the_model_name() {
        let ollama =
            "{{- if .Suffix }}<fim_prefix>{{ .Prompt }}<fim_suffix>{{ .Suffix }}<fim_middle>{{ end }}";
        check(
            ModelHints { texts: &[ollama], model: "my-model", ..ModelHints::default() },
            expect!["starcoder2 by metadata"],
        );
        check(
            ModelHints { texts: &[ollama], model: "codestral", ..ModelHints::default() },
            expect!["starcoder2 by metadata"],
        );
        check(
            ModelHints { texts: &[ollama], model: "starcoder2:3b", ..ModelHints::default() },
            expect!["starcoder2 by metadata"],
        );
    }

    #[test]
    fn token_order_distinguishes_families() {
        let suffix_first = "<fim_suffix>{{ .Suffix }}<fim_prefix>{{ .Prompt }}<fim_middle>";
        check(
            ModelHints { texts: &[suffix_first], model: "code", ..ModelHints::default() },
            expect!["mellum by metadata"],
        );
        let codellama = "<PRE> {{ .Prompt }} <SUF>{{ .Suffix }} <MID>";
        check(ModelHints { texts: &[codellama], ..ModelHints::default() }, expect!["codellama by metadata"]);
    }

    #[test]
    fn additional_tokens_distinguish_families() {
        let vocabulary = "<|endoftext|> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|>";
        check(
            ModelHints { texts: &[vocabulary], ..ModelHints::default() },
            expect!["qwen2.5-coder by metadata"],
        );
        let unknown = "<|fim_prefix|>{{ .Prompt }}<|fim_suffix|>{{ .Suffix }}<|fim_middle|>";
        check(ModelHints { texts: &[unknown], ..ModelHints::default() }, expect!["mercury by metadata"]);
        check(
            ModelHints {
                texts: &["{{ .Prompt }}"],
                names: &["/models/qwen2.5-coder-7b-q8_0.gguf"],
                model: "local",
                ..ModelHints::default()
            },
            expect!["qwen2.5-coder by metadata"],
        );
        check(
            ModelHints { texts: &["<|user|>{{ .Prompt }}"], model: "x", ..ModelHints::default() },
            expect!["nothing"],
        );
    }
}
