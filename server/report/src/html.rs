//! Renders one self-contained HTML file: scoreboard and plots without scripts, and a browser of all cases with scripts.
//!
//! The page loads nothing: its policy forbids every source and allows only its own style and script. Code from cases gets into
//! the page in two forms, as escaped text and as compressed JSON in base64, which cannot end its element.

mod embedded_cases;
mod matrix;
mod plots;
mod scoreboard;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use scoring::metric_table::MIN_CASES;
use scoring::run_summary::distributions::SectionAnswers;
use serde::Serialize;

use crate::format::{self, Alphabet};
use crate::notes::note_texts;
use crate::stopping::{self, COUNTS};
use scoring::run_summary::ReportSection;
use scoring::{RunRows, RunSummary};

const TEMPLATES: [(&str, &str); 5] = [
    ("report.html", include_str!("templates/report.html")),
    ("marks.html", include_str!("templates/marks.html")),
    ("board.html", include_str!("templates/board.html")),
    ("plots.html", include_str!("templates/plots.html")),
    ("cases.html", include_str!("templates/cases.html")),
];

const STYLE: &str = include_str!("templates/report.css");

/// All parts share one scope, in this order.
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("templates/text.js"),
    include_str!("templates/list.js"),
    include_str!("templates/origins.js"),
    include_str!("templates/detail.js"),
    include_str!("templates/data.js"),
    include_str!("templates/app.js"),
);

#[derive(Serialize)]
struct Page {
    title: String,
    facts: Vec<(&'static str, String)>,
    engines: Vec<EngineView>,
    sections: Vec<SectionView>,
    costs: Vec<CostView>,
    cost_titles: [&'static str; 5],
    costs_caption: Option<String>,
    notes: Vec<String>,
    min_cases: usize,
    tool: String,
    style: &'static str,
    script: &'static str,
    data: String,
    /// Allows the page's own style and script in its policy. It is a hash of the data, so that no text in the data can contain
    /// it.
    nonce: String,
}

#[derive(Serialize)]
struct EngineView {
    letter: String,
    name: String,
    about: String,
    class: String,
    /// Index of the shape in `marks.html`: engines differ by shape, not by colour alone.
    shape: usize,
}

#[derive(Serialize)]
struct CostView {
    engine: usize,
    cells: [String; 5],
}

#[derive(Serialize)]
struct SectionView {
    title: String,
    size: String,
    /// Cases of the totals.
    totals: String,
    /// Cases of the matrix.
    scenarios: String,
    /// Cases of the effects of context.
    contexts_caption: String,
    /// Cases of the differences.
    differences_caption: String,
    /// Whether rows show the number of late answers.
    is_late: bool,
    /// Titles of the metrics of a row.
    metrics: Vec<&'static str>,
    stopping: Vec<scoreboard::StoppingView>,
    stopping_titles: [&'static str; 7],
    stopping_caption: &'static str,
    overall: Vec<scoreboard::BoardRow>,
    differences: Vec<scoreboard::DifferenceRow>,
    languages: Vec<scoreboard::NamedRows>,
    contexts: Vec<scoreboard::ContextRow>,
    /// Absent if there are too few cases for meaningful shapes.
    details: Option<Details>,
}

#[derive(Serialize)]
struct Details {
    similarity: plots::Plot,
    latency: plots::Plot,
    matrix: matrix::Matrix,
}

/// Shapes in `marks.html`, and engine colours in `report.css`.
const SHAPES: usize = 4;
const COLORS: usize = 6;

/// Renders the page of a run; `summary` is the run's own.
pub fn html(report: &RunRows<'_>, summary: &RunSummary) -> String {
    let data = embedded_cases::packed(report, &summary.engines);
    let page = Page {
        title: format::escape_invisible(&summary.run.name),
        facts: facts(report, summary),
        engines: engines(summary),
        sections: summary.sections.iter().map(|section| section_view(report, summary, section)).collect(),
        costs: summary
            .costs
            .iter()
            .map(|cost| CostView { engine: cost.engine, cells: format::cost(cost, Alphabet::Unicode) })
            .collect(),
        cost_titles: format::COST,
        costs_caption: format::costs_caption(summary, Alphabet::Unicode),
        notes: note_texts(summary).iter().map(|note| format::escape_invisible(note)).collect(),
        min_cases: MIN_CASES,
        tool: format::escape_invisible(&summary.run.tool),
        style: STYLE,
        script: SCRIPT,
        nonce: blake3::hash(data.as_bytes()).to_hex()[..32].to_owned(),
        data,
    };
    render(&page)
}

fn render(page: &Page) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).expect("the tests render every template");
    }
    let template = environment.get_template("report.html").expect("added above");
    template.render(Serde(page)).expect("the tests render every template with every field")
}

fn facts(report: &RunRows<'_>, summary: &RunSummary) -> Vec<(&'static str, String)> {
    let run = &summary.run;
    let mut facts = vec![
        ("cases", report.cases.len().to_string()),
        ("suite", format::clipped(&run.suite, 12, Alphabet::Unicode)),
        ("seed", run.seed.to_string()),
    ];
    if run.repeat > 1 {
        facts.push(("repetitions", run.repeat.to_string()));
    }
    if let Some(workspace) = &run.workspace {
        let commit = workspace.commit.as_deref().map(|commit| format::clipped(commit, 12, Alphabet::Unicode));
        let dirty = if workspace.dirty == Some(true) { " with local changes" } else { "" };
        facts.extend(commit.map(|commit| ("commit", commit + dirty)));
        facts.push(("tree", format::clipped(&workspace.tree_hash, 12, Alphabet::Unicode)));
        facts.push(("files", workspace.files.to_string()));
        facts.push(("lines", workspace.lines.to_string()));
    }
    let cores = usize::try_from(run.machine.cores).unwrap_or(usize::MAX);
    facts.push((
        "machine",
        format!("{}, {}, {}", run.machine.os, run.machine.cpu, format::count_of(cores, "core")),
    ));
    facts.into_iter().map(|(name, value)| (name, format::escape_invisible(&value))).collect()
}

fn engines(summary: &RunSummary) -> Vec<EngineView> {
    let view = |(index, engine): (usize, &cases::EngineIdentity)| EngineView {
        letter: letter(index),
        name: format::escape_invisible(&engine.name),
        about: format::escape_invisible(&engine_details(engine)),
        class: format!("e{}", index % COLORS),
        shape: index % SHAPES,
    };
    summary.engines.iter().enumerate().map(view).collect()
}

fn engine_details(engine: &cases::EngineIdentity) -> String {
    if engine.model.is_empty() || engine.model == engine.kind {
        engine.kind.clone()
    } else {
        format!("{}, {}", engine.kind, engine.model)
    }
}

/// Returns `A` for the first engine, in the script's numbering.
fn letter(index: usize) -> String {
    let letter = u8::try_from(index).ok().filter(|index| *index < 26).map(|index| char::from(b'A' + index));
    letter.map_or_else(|| (index + 1).to_string(), String::from)
}

fn section_view(report: &RunRows<'_>, summary: &RunSummary, section: &ReportSection) -> SectionView {
    let (cases, _) = section.size();
    let details = || {
        let answers = SectionAnswers::of_section(report, summary, section);
        Details {
            similarity: plots::similarity(&answers.similarities(), summary, section),
            latency: plots::latency(&answers.latencies(), summary, section),
            matrix: matrix::matrix(section),
        }
    };
    let columns = section.headline_metrics();
    SectionView {
        title: format::section_title(section),
        size: format::section_size(section),
        totals: format::totals_caption(section, Alphabet::Unicode),
        scenarios: format::scenarios_caption(section, Alphabet::Unicode),
        contexts_caption: format::contexts_caption(section, Alphabet::Unicode),
        differences_caption: format::differences_caption(section, Alphabet::Unicode),
        is_late: section.has_late_answers(),
        metrics: columns.iter().map(|metric| metric.spec().label).collect(),
        stopping: scoreboard::stopping(section),
        stopping_titles: COUNTS,
        stopping_caption: stopping::CAPTION,
        overall: scoreboard::rows(&section.overall, &columns),
        differences: scoreboard::differences(&section.differences, &columns),
        contexts: scoreboard::contexts(&section.contexts),
        languages: section.languages.iter().map(|group| scoreboard::named_rows(group, &columns)).collect(),
        details: (cases >= MIN_CASES).then(details),
    }
}
