//! Chooses the prompt mode of a model. Pure.

use prompt::{Choice, Template};

use crate::formats::Takes;

/// The `fim` setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fim {
    /// Detected.
    #[default]
    Auto,
    /// Infill: the server builds the prompt.
    Server,
    /// A template's name or source.
    Template(String),
}

impl Fim {
    /// Value of the setting that selects infill.
    pub const SERVER: &str = "server";

    /// Parses the setting.
    pub fn parse(said: Option<&str>) -> Fim {
        match said {
            None => Fim::Auto,
            Some(Fim::SERVER) => Fim::Server,
            Some(template) => Fim::Template(template.to_owned()),
        }
    }

    /// Its name in an engine's settings.
    pub(super) fn name(&self) -> &str {
        match self {
            Fim::Auto => "auto",
            Fim::Server => Fim::SERVER,
            Fim::Template(template) => template,
        }
    }
}

/// Prompt mode of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A prompt rendered with this template.
    Rendered(Choice),
    /// Prefix and suffix; the server builds the prompt.
    Hole,
    /// Chat.
    Chat,
}

impl Way {
    /// Returns the prompt mode for a server that accepts these inputs; `None` if no mode is known.
    ///
    /// `choice` is the known template of the model, `refuses_hole` whether the server rejected infill.
    pub(super) fn choose(
        takes: Takes,
        fim: &Fim,
        choice: Option<&Choice>,
        refuses_hole: bool,
    ) -> Option<Way> {
        let rendered = || choice.cloned().map(Way::Rendered);
        let hole = (!refuses_hole).then_some(Way::Hole);
        match (takes, fim) {
            (Takes::Chat, _) => Some(Way::Chat),
            (Takes::Hole, _) => Some(Way::Hole),
            (Takes::Rendered, _) => rendered(),
            (Takes::RenderedOrHole | Takes::HoleOrRendered, Fim::Template(_)) => rendered(),
            (Takes::RenderedOrHole | Takes::HoleOrRendered, Fim::Server) => hole,
            (Takes::RenderedOrHole, Fim::Auto) => rendered().or(hole),
            (Takes::HoleOrRendered, Fim::Auto) => hole.or_else(rendered),
        }
    }
}

/// The template for a chat, or for infill if context has to go into the prefix.
pub(super) fn plain() -> Option<Template> {
    Template::parse("{context}{prefix}{suffix}").ok()
}

#[cfg(test)]
mod tests {
    use prompt::ChosenBy;

    use super::*;

    #[test]
    fn the_configuration_decides_then_what_is_known_then_what_the_server_takes() {
        let template = Template::parse("starcoder").unwrap();
        let known = Choice { template, by: ChosenBy::Name };
        let named = Fim::Template("starcoder".to_owned());
        let rendered = || Some(Way::Rendered(known.clone()));
        let (openai, llama) = (Takes::RenderedOrHole, Takes::HoleOrRendered);
        for (takes, fim, choice, refuses_hole, expected) in [
            (openai, &Fim::Auto, Some(&known), false, rendered()),
            (openai, &Fim::Auto, None, false, Some(Way::Hole)),
            (openai, &Fim::Auto, None, true, None),
            (openai, &Fim::Server, Some(&known), false, Some(Way::Hole)),
            (openai, &Fim::Server, Some(&known), true, None),
            (openai, &named, Some(&known), false, rendered()),
            (llama, &Fim::Auto, Some(&known), false, Some(Way::Hole)),
            (llama, &Fim::Auto, Some(&known), true, rendered()),
            (llama, &Fim::Auto, None, true, None),
            (llama, &named, Some(&known), false, rendered()),
            (Takes::Rendered, &Fim::Auto, None, false, None),
            (Takes::Rendered, &Fim::Auto, Some(&known), false, rendered()),
            (Takes::Hole, &Fim::Auto, Some(&known), true, Some(Way::Hole)),
            (Takes::Chat, &Fim::Auto, Some(&known), false, Some(Way::Chat)),
        ] {
            assert_eq!(
                Way::choose(takes, fim, choice, refuses_hole),
                expected,
                "{takes:?} {fim:?} {refuses_hole}"
            );
        }
    }
}
