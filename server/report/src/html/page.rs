//! Renders templates into pages: each page is one file that loads nothing, with its style, and a policy that allows only this style and its
//! own script.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

const TEMPLATES: [(&str, &str); 10] = [
    ("head.html", include_str!("../templates/head.html")),
    ("report.html", include_str!("../templates/report.html")),
    ("comparison.html", include_str!("../templates/comparison.html")),
    ("watch.html", include_str!("../templates/watch.html")),
    ("trial.html", include_str!("../templates/trial.html")),
    ("marks.html", include_str!("../templates/marks.html")),
    ("verdict.html", include_str!("../templates/verdict.html")),
    ("board.html", include_str!("../templates/board.html")),
    ("plots.html", include_str!("../templates/plots.html")),
    ("cases.html", include_str!("../templates/cases.html")),
];

const STYLE: &str = concat!(include_str!("../templates/report.css"), include_str!("../templates/trial.css"));

/// The fields of all pages, for `head.html`.
#[derive(Serialize)]
pub(crate) struct Head {
    /// What the page shows: `report`, `trial`.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    /// Names with values, below the title.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Source text of the page's script, if it has one.
    pub(crate) script: Option<&'static str>,
}

#[derive(Serialize)]
struct Page<'a, C> {
    #[serde(flatten)]
    head: &'a Head,
    #[serde(flatten)]
    content: &'a C,
    style: &'static str,
    /// Allows the page's own style and script in its policy. It is a hash of the content, so that no text in it can contain it.
    nonce: String,
}

/// Renders the template of this name.
pub(crate) fn render(template: &str, head: &Head, content: &impl Serialize) -> String {
    let page = Page { head, content, style: STYLE, nonce: nonce(&(head, content)) };
    let environment = environment();
    let template = environment.get_template(template).expect("callers name one of the templates");
    template.render(Serde(&page)).expect("the tests render every template with every field")
}

fn nonce(content: &impl Serialize) -> String {
    let mut hasher = blake3::Hasher::new();
    serde_json::to_writer(&mut hasher, content).expect("a page has string keys, and a hash takes every byte");
    hasher.finalize().to_hex()[..32].to_owned()
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).expect("the tests render every template");
    }
    environment
}
