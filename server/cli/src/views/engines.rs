//! Renders checks of engines, and one engine's answer at a cursor, for the terminal.

use super::explanation::{self, ExplanationView};
use report::format;
use report::terminal::{Style, TextTable, dim_note, wrapped};

/// Result of an engine check, as texts for its columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineCheckRow {
    /// Name in the settings.
    pub(crate) name: String,
    /// Whether the server is reachable.
    pub(crate) reached: &'static str,
    /// Model name reported by the server.
    pub(crate) model: String,
    /// The prompt template, and how it was chosen.
    pub(crate) prompt_format: String,
    /// Number of filled holes, and its meaning.
    pub(crate) holes: String,
    /// Whether the engine streams its answers.
    pub(crate) streams: String,
    /// Whether cancelling a request frees the engine.
    pub(crate) cancels: String,
    /// Milliseconds until the first text.
    pub(crate) first: Option<f64>,
    /// Milliseconds until the end.
    pub(crate) total: Option<f64>,
    /// Tokens generated per second.
    pub(crate) speed: String,
    /// Context window, tokens.
    pub(crate) window: Option<u64>,
}

const CHECKED: [&str; 11] = [
    "engine", "there", "model", "asked as", "holes", "streams", "cancel", "first ms", "total ms", "tokens/s",
    "window",
];
/// Columns that are dropped first if there is no room.
const DISPENSABLE: [usize; 4] = [10, 9, 2, 6];
/// Longer names are cut, characters.
const NAME_WIDTH: usize = 18;
const TEMPLATE_WIDTH: usize = 30;

/// Renders a row per engine, remarks, and the meaning of the columns.
pub(crate) fn engine_check_table(engines: &[EngineCheckRow], remarks: &[String], style: Style) -> String {
    let rows = engines.iter().map(|engine| checked_row(engine, style)).collect();
    let sheet = TextTable { header: &CHECKED, words: 7, dispensable: &DISPENSABLE, rows };
    let mut parts = vec![sheet.draw(style)];
    let remarks = remarks.iter().map(|remark| wrapped(&format::escape_invisible(remark), style.width, "  "));
    parts.extend(Some(remarks.collect::<Vec<_>>().join("\n")).filter(|remarks| !remarks.is_empty()));
    parts.push(dim_note(CHECKED_MEANS, style));
    parts.join("\n\n") + "\n"
}

const CHECKED_MEANS: &str = "holes: number filled, of six whose text is nearly forced. cancel: yes, if the server reports that it is free again; \
    likely, if the next request was answered as fast as usual. ms: medians of warm answers of a few words. ~: estimated.";

fn checked_row(engine: &EngineCheckRow, style: Style) -> Vec<String> {
    let none = || style.alphabet().range_dash().to_owned();
    let clipped = |text: &str, width| format::clipped(&format::on_one_line(text), width, style.alphabet());
    let or_none = |text: String| if text.is_empty() { none() } else { text };
    let ms = |ms: Option<f64>| ms.map_or_else(none, format::milliseconds);
    vec![
        clipped(&engine.name, NAME_WIDTH),
        or_none(engine.reached.to_owned()),
        or_none(clipped(&engine.model, NAME_WIDTH)),
        or_none(clipped(&engine.prompt_format, TEMPLATE_WIDTH)),
        or_none(engine.holes.clone()),
        or_none(engine.streams.clone()),
        or_none(engine.cancels.clone()),
        ms(engine.first),
        ms(engine.total),
        or_none(engine.speed.clone()),
        engine.window.map_or_else(none, |window| window.to_string()),
    ]
}

/// One engine's answer at a cursor.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionView {
    /// Engine, kind, model, template, as separate texts.
    pub(crate) engine: Vec<String>,
    /// Status of the answer, and its reason.
    pub(crate) status: String,
    /// Times and tokens, as separate texts.
    pub(crate) facts: Vec<String>,
    /// The first line shown, from 1.
    pub(crate) first_line: usize,
    /// Code before the suggestion, from the beginning of a line.
    pub(crate) before: String,
    /// The suggestion.
    pub(crate) text: String,
    /// Code after the suggestion, to the end of a line.
    pub(crate) after: String,
    /// Origin of the suggestion, if requested.
    pub(crate) explanation: Option<ExplanationView>,
    /// Alternative texts, each with its origin if requested.
    pub(crate) alternatives: Vec<(String, Option<String>)>,
    /// Changes by cleaning, one per line.
    pub(crate) cuts: Vec<String>,
    /// The prompt, if requested.
    pub(crate) prompt: Option<String>,
}

/// Renders the suggestion in its context, marked as `git diff --word-diff` marks additions, and details of its request.
pub(crate) fn completion_text(completed: &CompletionView, style: Style) -> String {
    let dot = format!(" {} ", style.alphabet().dot());
    let join =
        |words: &[String]| words.iter().map(|word| format::on_one_line(word)).collect::<Vec<_>>().join(&dot);
    let mut text = format!("{}\n", style.title(&join(&completed.engine)));
    let status = std::iter::once(&completed.status).chain(&completed.facts).cloned().collect::<Vec<_>>();
    text += &format!("{}\n\n", join(&status));
    text += &in_place(completed, style);
    if let Some(explained) = &completed.explanation {
        text += &explanation::explanation_table(&completed.text, explained, style);
    }
    if !completed.alternatives.is_empty() {
        text += &explanation::alternatives(&completed.alternatives, style);
    }
    for cut in &completed.cuts {
        text += &format!("{}\n", dim_note(&format::on_one_line(cut), style));
    }
    if let Some(prompt) = &completed.prompt {
        let lines = prompt.lines().map(|line| format!("    {}\n", format::escape_invisible(line)));
        text += &format!("\n{}\n{}", style.title("prompt"), lines.collect::<String>());
    }
    text
}

/// Renders the numbered lines around the cursor with the suggestion.
fn in_place(completed: &CompletionView, style: Style) -> String {
    const NEW: &str = "32";
    let mut code = format::escape_invisible(&completed.before);
    let new = match &completed.explanation {
        Some(explained) => explanation::numbered(&completed.text, explained, style),
        None => completed.text.clone(),
    };
    let new: Vec<String> = new
        .split('\n')
        .map(|line| match (line.is_empty(), style.color) {
            (true, _) => String::new(),
            (false, true) => style.colored(&format::escape_invisible(line), NEW),
            (false, false) => format!("{{+{}+}}", format::escape_invisible(line)),
        })
        .collect();
    code += &new.join("\n");
    code += &format::escape_invisible(&completed.after);
    let lines = code.trim_end_matches('\n').split('\n').enumerate();
    let numbered = lines.map(|(place, line)| {
        let number = style.dim(&format!("{:>6}", completed.first_line + place));
        format!("{number}  {line}").trim_end().to_owned() + "\n"
    });
    numbered.collect::<String>() + "\n"
}

#[cfg(test)]
mod tests;
