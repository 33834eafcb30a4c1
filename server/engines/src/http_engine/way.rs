//! Which question a model is asked. Pure.

use prompt::{Choice, Template};

use crate::formats::Takes;

/// What the configuration says about the template of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fim {
    /// Nothing: it is found out.
    #[default]
    Auto,
    /// That the server puts the prompt together.
    Server,
    /// A name, or a template written out.
    Template(String),
}

impl Fim {
    /// The word in a configuration that leaves the prompt to the server.
    pub const SERVER: &str = "server";

    /// What a configuration says.
    pub fn parse(said: Option<&str>) -> Fim {
        match said {
            None => Fim::Auto,
            Some(Fim::SERVER) => Fim::Server,
            Some(template) => Fim::Template(template.to_owned()),
        }
    }

    /// What it is called in the settings of an engine.
    pub(super) fn name(&self) -> &str {
        match self {
            Fim::Auto => "auto",
            Fim::Server => Fim::SERVER,
            Fim::Template(template) => template,
        }
    }
}

/// How a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// With a prompt in this template.
    Rendered(Choice),
    /// With the text around the hole; the server puts the prompt together.
    Hole,
    /// In a conversation.
    Chat,
}

impl Way {
    /// The way to ask a server that takes these questions; `None` if none is known.
    ///
    /// `choice` is what is known of the model's template, `refuses_hole` whether the server was found to refuse the hole.
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

/// The template of a conversation, or of the text around a hole where code from elsewhere goes into the text before it.
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
