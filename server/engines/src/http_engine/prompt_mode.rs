//! Chooses the prompt mode of a model. Pure.

use std::sync::LazyLock;

use prompt::{Template, TemplateChoice};

use crate::wire_formats::SupportedPrompts;

/// The `fim` setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FimSetting {
    /// Detected.
    #[default]
    Auto,
    /// Infill: the server builds the prompt.
    Server,
    /// A template's name or source.
    Template(String),
}

impl FimSetting {
    /// Value of the setting that selects infill.
    pub const SERVER: &str = "server";

    /// Parses the setting.
    pub fn parse(setting: Option<&str>) -> FimSetting {
        match setting {
            None => FimSetting::Auto,
            Some(FimSetting::SERVER) => FimSetting::Server,
            Some(template) => FimSetting::Template(template.to_owned()),
        }
    }

    /// Its name in an engine's settings.
    pub(super) fn name(&self) -> &str {
        match self {
            FimSetting::Auto => "auto",
            FimSetting::Server => FimSetting::SERVER,
            FimSetting::Template(template) => template,
        }
    }
}

/// Prompt mode of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptMode {
    /// A prompt rendered with this template.
    Rendered(TemplateChoice),
    /// Prefix and suffix; the server builds the prompt.
    Infill,
    /// Chat.
    Chat,
}

impl PromptMode {
    /// Returns the prompt mode for a server that accepts these inputs; `None` if no mode is known.
    ///
    /// `choice` is the known template of the model, `refuses_hole` whether the server rejected infill.
    pub(super) fn choose(
        takes: SupportedPrompts,
        fim: &FimSetting,
        choice: Option<&TemplateChoice>,
        refuses_hole: bool,
    ) -> Option<PromptMode> {
        let rendered = || choice.cloned().map(PromptMode::Rendered);
        let hole = (!refuses_hole).then_some(PromptMode::Infill);
        match (takes, fim) {
            (SupportedPrompts::Chat, _) => Some(PromptMode::Chat),
            (SupportedPrompts::Hole, _) => Some(PromptMode::Infill),
            (SupportedPrompts::Rendered, _) => rendered(),
            (
                SupportedPrompts::RenderedOrHole | SupportedPrompts::HoleOrRendered,
                FimSetting::Template(_),
            ) => rendered(),
            (SupportedPrompts::RenderedOrHole | SupportedPrompts::HoleOrRendered, FimSetting::Server) => hole,
            (SupportedPrompts::RenderedOrHole, FimSetting::Auto) => rendered().or(hole),
            (SupportedPrompts::HoleOrRendered, FimSetting::Auto) => hole.or_else(rendered),
        }
    }
}

/// The template for infill if context has to go into the prefix.
pub(super) static PLAIN_TEMPLATE: LazyLock<Template> =
    LazyLock::new(|| Template::parse("{context}{prefix}{suffix}").unwrap_or_else(|_| Template::chat()));

#[cfg(test)]
mod tests {
    use prompt::TemplateSource;

    use super::*;

    #[test]
    fn prompt_mode_follows_settings_template_and_server() {
        let template = Template::parse("starcoder").unwrap();
        let known = TemplateChoice { template, by: TemplateSource::Name };
        let named = FimSetting::Template("starcoder".to_owned());
        let rendered = || Some(PromptMode::Rendered(known.clone()));
        let (openai, llama) = (SupportedPrompts::RenderedOrHole, SupportedPrompts::HoleOrRendered);
        for (takes, fim, choice, refuses_hole, expected) in [
            (openai, &FimSetting::Auto, Some(&known), false, rendered()),
            (openai, &FimSetting::Auto, None, false, Some(PromptMode::Infill)),
            (openai, &FimSetting::Auto, None, true, None),
            (openai, &FimSetting::Server, Some(&known), false, Some(PromptMode::Infill)),
            (openai, &FimSetting::Server, Some(&known), true, None),
            (openai, &named, Some(&known), false, rendered()),
            (llama, &FimSetting::Auto, Some(&known), false, Some(PromptMode::Infill)),
            (llama, &FimSetting::Auto, Some(&known), true, rendered()),
            (llama, &FimSetting::Auto, None, true, None),
            (llama, &named, Some(&known), false, rendered()),
            (SupportedPrompts::Rendered, &FimSetting::Auto, None, false, None),
            (SupportedPrompts::Rendered, &FimSetting::Auto, Some(&known), false, rendered()),
            (SupportedPrompts::Hole, &FimSetting::Auto, Some(&known), true, Some(PromptMode::Infill)),
            (SupportedPrompts::Chat, &FimSetting::Auto, Some(&known), false, Some(PromptMode::Chat)),
        ] {
            assert_eq!(
                PromptMode::choose(takes, fim, choice, refuses_hole),
                expected,
                "{takes:?} {fim:?} {refuses_hole}"
            );
        }
    }
}
