//! Renders templates into pages: each page is one file that loads nothing, with its style, and a policy that allows only this style and its
//! own script.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

const TEMPLATES: [(&str, &str); 16] = [
    ("page.html", include_str!("../templates/page.html")),
    ("masthead.html", include_str!("../templates/masthead.html")),
    ("report.html", include_str!("../templates/report.html")),
    ("comparison.html", include_str!("../templates/comparison.html")),
    ("watch.html", include_str!("../templates/watch.html")),
    ("trial.html", include_str!("../templates/trial.html")),
    ("plain_tables.html", include_str!("../templates/plain_tables.html")),
    ("collection.html", include_str!("../templates/collection.html")),
    ("marks.html", include_str!("../templates/marks.html")),
    ("arms.html", include_str!("../templates/arms.html")),
    ("verdict.html", include_str!("../templates/verdict.html")),
    ("board.html", include_str!("../templates/board.html")),
    ("failures.html", include_str!("../templates/failures.html")),
    ("plots.html", include_str!("../templates/plots.html")),
    ("cases.html", include_str!("../templates/cases.html")),
    ("case_data.html", include_str!("../templates/case_data.html")),
];

const STYLE: &str = concat!(
    include_str!("../templates/report.css"),
    include_str!("../templates/trial.css"),
    include_str!("../templates/editor.css")
);

/// The fields of all pages.
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

/// The page's body, without its script.
#[derive(Serialize)]
struct Body<'a, C> {
    #[serde(flatten)]
    head: &'a Head,
    #[serde(flatten)]
    content: &'a C,
}

#[derive(Serialize)]
struct Page<'a> {
    head: &'a Head,
    body: &'a str,
    style: &'static str,
    /// Allows the page's own style and script in its policy. It is a hash of the body, so that no text in it can contain it.
    nonce: &'a str,
}

/// Renders the template of this name as the body of a page.
pub(crate) fn render(template: &str, head: &Head, content: &impl Serialize) -> String {
    let environment = environment();
    let body = fill(&environment, template, &Body { head, content });
    let hash = blake3::hash(body.as_bytes()).to_hex();
    fill(&environment, "page.html", &Page { head, body: &body, style: STYLE, nonce: &hash[..32] })
}

fn fill(environment: &Environment<'_>, template: &str, context: &impl Serialize) -> String {
    let template = environment.get_template(template).expect("callers name one of the templates");
    template.render(Serde(context)).expect("the tests render every template with every field")
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).expect("the tests render every template");
    }
    environment
}
