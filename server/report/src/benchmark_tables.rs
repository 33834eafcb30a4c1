//! The tables of public benchmarks in the originals' terms, as `benchmarks` computes them: for the terminal, Markdown and HTML.

use benchmarks::{BenchmarkTables, ScoreTable, ScoringRules, TablePicture};
use serde::Serialize;

use crate::format;
use crate::terminal::{Style, TextTable, dim_note, with_title};

/// Steps of shading in `report.css`.
const STEPS: f64 = 10.0;

/// Drawing units of a curve, about one CSS pixel each.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 140.0;
/// Room for the names of the axes.
const LEFT: f64 = 34.0;
const BASE: f64 = 116.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 8.0;

/// Colours of engines in `report.css`.
const COLORS: usize = 9;

/// Renders a table for the terminal.
pub fn score_table_text(table: &ScoreTable, style: Style) -> String {
    let header: Vec<&str> = std::iter::once("").chain(table.columns.iter().map(String::as_str)).collect();
    let none = style.alphabet().range_dash();
    let cell = |value: &Option<f64>| value.map_or_else(|| none.to_owned(), number);
    let row = |(name, values): &(String, Vec<Option<f64>>)| {
        std::iter::once(format::on_one_line(name)).chain(values.iter().map(cell)).collect()
    };
    let rows = table.rows.iter().map(row).collect();
    let sheet = TextTable { header: &header, words: 1, dispensable: &[], rows };
    with_title(&table.name, &sheet.draw(style), style)
}

/// Renders the tables of a run's benchmarks for the terminal.
pub(crate) fn benchmark_parts(benchmarks: &[BenchmarkTables], style: Style) -> Vec<String> {
    let mut parts = Vec::new();
    for benchmark in benchmarks {
        parts.push(style.title(&title(benchmark)));
        parts.extend(benchmark.tables.iter().map(|table| score_table_text(table, style)));
        parts.extend(remarks(benchmark).iter().map(|remark| dim_note(remark, style)));
    }
    parts
}

/// Renders the tables of a run's benchmarks as Markdown; empty without any.
pub fn benchmark_markdown(benchmarks: &[BenchmarkTables]) -> String {
    let mut parts = Vec::new();
    for benchmark in benchmarks {
        parts.push(format!("## {}", escaped(&title(benchmark))));
        for table in &benchmark.tables {
            parts.push(format!("**{}**", escaped(&table.name)));
            parts.push(markdown_table(table));
        }
        let remarks: Vec<String> =
            remarks(benchmark).iter().map(|remark| format!("- {}", escaped(remark))).collect();
        parts.extend((!remarks.is_empty()).then(|| remarks.join("\n")));
    }
    if parts.is_empty() { String::new() } else { parts.join("\n\n") + "\n" }
}

fn markdown_table(table: &ScoreTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let header = std::iter::once(String::new()).chain(table.columns.iter().map(|name| escaped(name)));
    let mut lines = vec![line(header.collect()), format!("|---|{}", "---:|".repeat(table.columns.len()))];
    for (name, values) in &table.rows {
        let cells = values.iter().map(|value| value.map_or_else(|| "–".to_owned(), number));
        lines.push(line(std::iter::once(escaped(name)).chain(cells).collect()));
    }
    lines.join("\n")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in format::on_one_line(text).chars() {
        if "\\`*_{}[]<>|#".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn title(benchmark: &BenchmarkTables) -> String {
    let rules = match benchmark.rules {
        ScoringRules::Paper => "in the original's terms",
        ScoringRules::Faithful => "as the original's program computes",
    };
    format!("{}, {rules}", benchmark.benchmark)
}

/// Returns the notes, and where the original's program differs from its description.
fn remarks(benchmark: &BenchmarkTables) -> Vec<String> {
    let difference = |(engine, difference): &(String, benchmarks::RuleDifference)| {
        let benchmarks::RuleDifference { topic, paper, faithful, affected } = difference;
        let (used, other, source) = match benchmark.rules {
            ScoringRules::Paper => (paper, faithful, "the original's program"),
            ScoringRules::Faithful => (faithful, paper, "its description"),
        };
        format!("{engine}, {topic}: {used}; {source}: {other} ({affected} affected)")
    };
    benchmark.notes.iter().cloned().chain(benchmark.differences.iter().map(difference)).collect()
}

/// Formats a number with at most four decimals; the JSON has all.
fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    short.to_owned()
}

/// The tables of a benchmark on a page.
#[derive(Serialize)]
pub(crate) struct BenchmarkView {
    title: String,
    tables: Vec<ScoreTableView>,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct ScoreTableView {
    name: String,
    columns: Vec<String>,
    rows: Vec<ScoreRowView>,
    /// Absent for tables that are no curves.
    curves: Option<CurvesView>,
}

#[derive(Serialize)]
struct ScoreRowView {
    name: String,
    /// Class with the row's colour.
    class: String,
    cells: Vec<ScoreCellView>,
}

#[derive(Serialize)]
struct ScoreCellView {
    text: String,
    /// Step of shading of a heat map.
    heat: Option<usize>,
}

/// Curves over the columns of a table.
#[derive(Serialize)]
struct CurvesView {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    base: f64,
    curves: Vec<CurveView>,
    /// Position and name of the shares.
    shares: Vec<(String, String)>,
    /// Position and name of the thresholds.
    thresholds: Vec<(String, String)>,
}

#[derive(Serialize)]
struct CurveView {
    name: String,
    class: String,
    points: String,
}

/// Lays out the tables of a run's benchmarks.
pub(crate) fn benchmark_views(benchmarks: &[BenchmarkTables]) -> Vec<BenchmarkView> {
    let view = |benchmark: &BenchmarkTables| BenchmarkView {
        title: title(benchmark),
        tables: benchmark.tables.iter().map(table_view).collect(),
        remarks: remarks(benchmark).iter().map(|remark| format::escape_invisible(remark)).collect(),
    };
    benchmarks.iter().map(view).collect()
}

fn table_view(table: &ScoreTable) -> ScoreTableView {
    let is_heat_map = table.picture == TablePicture::HeatMap;
    let cell = |value: &Option<f64>| ScoreCellView {
        text: value.map_or_else(|| "–".to_owned(), number),
        heat: value.filter(|_| is_heat_map).map(|share| (share * STEPS).clamp(0.0, STEPS - 1.0) as usize),
    };
    let row = |(index, (name, values)): (usize, &(String, Vec<Option<f64>>))| ScoreRowView {
        name: format::on_one_line(name),
        class: color(index),
        cells: values.iter().map(cell).collect(),
    };
    ScoreTableView {
        name: table.name.clone(),
        columns: table.columns.clone(),
        rows: table.rows.iter().enumerate().map(row).collect(),
        curves: (table.picture == TablePicture::Curves).then(|| curves_view(table)),
    }
}

fn color(row: usize) -> String {
    format!("e{}", row % COLORS)
}

fn curves_view(table: &ScoreTable) -> CurvesView {
    // The last column counts the answers.
    let thresholds = table.columns.len().saturating_sub(1);
    let step = (WIDTH - LEFT - RIGHT) / thresholds.saturating_sub(1).max(1) as f64;
    let x = |column: usize| format!("{:.1}", LEFT + step * column as f64);
    let y = |share: f64| format!("{:.1}", BASE - (BASE - TOP) * share.clamp(0.0, 1.0));
    let curve = |(index, (name, values)): (usize, &(String, Vec<Option<f64>>))| {
        let known = values.iter().take(thresholds).enumerate();
        let points: Vec<String> =
            known.filter_map(|(column, value)| Some(format!("{},{}", x(column), y((*value)?)))).collect();
        CurveView { name: format::on_one_line(name), class: color(index), points: points.join(" ") }
    };
    let named = |column: usize| (x(column), table.columns[column].clone());
    CurvesView {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: WIDTH - RIGHT,
        base: BASE,
        curves: table.rows.iter().enumerate().map(curve).collect(),
        shares: [0.0, 0.5, 1.0].map(|share| (y(share), number(share))).to_vec(),
        thresholds: (0..thresholds).step_by(2).map(named).collect(),
    }
}

#[cfg(test)]
mod tests {
    use benchmarks::RuleDifference;

    use super::*;

    fn tables() -> Vec<BenchmarkTables> {
        let row = |name: &str, values: &[f64]| (name.to_owned(), values.iter().copied().map(Some).collect());
        let table = |name: &str, picture, rows| ScoreTable {
            name: name.to_owned(),
            columns: ["0.0", "0.8", "total"].map(str::to_owned).to_vec(),
            rows,
            picture,
        };
        let curves = table("pass@1", TablePicture::Curves, vec![row("a|b: all", &[1.0, 0.25, 4.0])]);
        let heat = table(
            "depth",
            TablePicture::HeatMap,
            vec![("a: 1".to_owned(), vec![Some(1.0), Some(0.0), None])],
        );
        vec![BenchmarkTables {
            benchmark: "repoqa",
            rules: ScoringRules::Paper,
            cases: 4,
            tables: vec![curves, heat],
            differences: Vec::new(),
            notes: vec!["A note.".to_owned()],
        }]
    }

    #[test]
    fn markdown_escapes_names_and_shows_every_number() {
        let text = benchmark_markdown(&tables());
        assert!(text.contains("| a\\|b: all | 1 | 0.25 | 4 |"), "{text}");
        assert!(text.contains("| a: 1 | 1 | 0 | – |") && text.contains("- A note."), "{text}");
        assert_eq!(benchmark_markdown(&[]), "");
    }

    #[test]
    fn rules_are_named_with_the_other_ones() {
        let mut tables = tables();
        let difference =
            RuleDifference { topic: "outputs", paper: "zero", faithful: "left out", affected: 3 };
        tables[0].differences = vec![("e".to_owned(), difference)];
        let paper = benchmark_markdown(&tables);
        assert!(paper.contains("## repoqa, in the original's terms"), "{paper}");
        assert!(
            paper.contains("- e, outputs: zero; the original's program: left out (3 affected)"),
            "{paper}"
        );
        tables[0].rules = ScoringRules::Faithful;
        let faithful = benchmark_markdown(&tables);
        assert!(faithful.contains("## repoqa, as the original's program computes"), "{faithful}");
        assert!(
            faithful.contains("- e, outputs: left out; its description: zero (3 affected)"),
            "{faithful}"
        );
    }

    #[test]
    fn curves_and_heat_maps_are_laid_out() {
        let views = benchmark_views(&tables());
        let curves = views[0].tables[0].curves.as_ref().expect("curves");
        assert_eq!(curves.curves[0].points, "34.0,8.0 312.0,89.0");
        let heat: Vec<_> = views[0].tables[1].rows[0].cells.iter().map(|cell| cell.heat).collect();
        assert_eq!(heat, [Some(9), Some(0), None]);
    }
}
