//! Renders the history of a watched suite as one HTML file without scripts: a curve per engine over the nights, and the changes.
//!
//! All curves share both axes. A curve has a gap where an engine has no score, and ends at a change, because the nights before and
//! after it are not compared with each other.

use cases::{ChangeKind, WatchedEngine, WatchedNight};
use serde::Serialize;

use super::engine_views::{COLORS, SHAPES};
use super::page::{Head, render};
use super::plots::{Tick, unit};
use crate::format::{self, Alphabet};
use crate::watch::{change_texts, day, engine_names, failures_of_last_night, notes};

/// Drawing units, about one CSS pixel each.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 38.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;
/// Largest number of named nights on the axis.
const NIGHT_TICKS: usize = 7;
/// Distances of the lines on the axis of shares, of which the first is used that needs few lines.
const STEPS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];
/// Largest number of lines on the axis of shares.
const MAX_LINES: f64 = 6.0;

#[derive(Serialize)]
struct WatchPage {
    engines: Vec<EngineHistory>,
    axes: Axes,
    changes: Vec<String>,
    /// Failed requests of the last night by reason, below a title.
    failures: Option<(String, Vec<String>)>,
    notes: Vec<String>,
    version: &'static str,
}

/// Positions that all curves share.
#[derive(Serialize)]
struct Axes {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    base: f64,
    days: Vec<Tick>,
    /// Shares, with their vertical positions as `x`.
    shares: Vec<Tick>,
}

#[derive(Serialize)]
struct EngineHistory {
    name: String,
    class: String,
    shape: usize,
    about: String,
    /// Parts of the curve as SVG paths.
    curves: Vec<String>,
    nights: Vec<NightMark>,
    changes: Vec<ChangeMark>,
}

/// The score of one night.
#[derive(Serialize)]
struct NightMark {
    x: String,
    /// Absent without a score.
    y: Option<String>,
    has_failed: bool,
    title: String,
}

/// The first night with a changed engine.
#[derive(Serialize)]
struct ChangeMark {
    x: String,
    /// Whether the answers changed, rather than the settings or the workspace.
    is_answers: bool,
    label: &'static str,
}

/// Renders the page. `unfinished` are the runs without a row.
pub fn watch_html(nights: &[WatchedNight], unfinished: &[String]) -> String {
    let scale = Scale::new(nights);
    let metric = nights.last().map_or(String::new(), |night| night.metric.spec().label.to_owned());
    let engines = engine_names(nights).into_iter().enumerate();
    let head = Head {
        kind: "watch",
        title: "Watched engines".to_owned(),
        facts: vec![("history", format::count_of(nights.len(), "night")), ("score", format!("{metric}, %"))],
        script: None,
    };
    let page = WatchPage {
        engines: engines.map(|(number, name)| engine_history(nights, number, name, &scale)).collect(),
        axes: scale.axes(nights),
        changes: change_texts(nights),
        failures: failures_of_last_night(nights, Alphabet::Unicode),
        notes: notes(nights, unfinished).iter().map(|note| format::escape_invisible(note)).collect(),
        version: env!("CARGO_PKG_VERSION"),
    };
    render("watch.html", &head, &page)
}

/// Maps nights and shares to positions. The lowest and the highest share are whole steps.
struct Scale {
    nights: usize,
    lowest: f64,
    step: f64,
    steps: f64,
}

impl Scale {
    fn new(nights: &[WatchedNight]) -> Scale {
        let values = nights.iter().flat_map(|night| &night.engines).filter_map(|engine| engine.value);
        let (low, high) = values
            .filter(|value| (0.0..=1.0).contains(value))
            .fold((1.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let is_enough = |step: &f64| (high / step).floor() - (low / step).floor() < MAX_LINES;
        let step = STEPS.into_iter().find(is_enough).unwrap_or(0.2);
        let lowest = (low / step).floor();
        let steps = ((high / step).floor() + 1.0 - lowest).min((1.0 / step).round() - lowest).max(1.0);
        Scale { nights: nights.len(), lowest: lowest * step, step, steps }
    }

    fn x(&self, night: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (night as f64 + 0.5) / self.nights.max(1) as f64
    }

    fn y(&self, share: f64) -> f64 {
        let height = HEIGHT - TOP - BOTTOM;
        HEIGHT - BOTTOM - height * (share - self.lowest) / (self.step * self.steps)
    }

    fn axes(&self, nights: &[WatchedNight]) -> Axes {
        let step = nights.len().div_ceil(NIGHT_TICKS).max(1);
        let days = nights.iter().enumerate().step_by(step);
        let shares = (0..=self.steps as usize).map(|line| self.lowest + self.step * line as f64);
        Axes {
            width: WIDTH,
            height: HEIGHT,
            left: LEFT,
            right: WIDTH - RIGHT,
            top: TOP,
            base: HEIGHT - BOTTOM,
            days: days
                .map(|(number, night)| Tick {
                    x: unit(self.x(number)),
                    label: format::escape_invisible(day(&night.time)),
                })
                .collect(),
            shares: shares
                .map(|share| Tick { x: unit(self.y(share)), label: format::percent(share) })
                .collect(),
        }
    }
}

fn engine_history(nights: &[WatchedNight], number: usize, name: &str, scale: &Scale) -> EngineHistory {
    let own: Vec<(usize, &WatchedEngine)> = nights
        .iter()
        .enumerate()
        .filter_map(|(night, row)| Some((night, row.engines.iter().find(|engine| engine.name == name)?)))
        .collect();
    let changes: Vec<(usize, ChangeKind)> = own
        .iter()
        .filter_map(|(_, engine)| engine.change.as_ref())
        .map(|change| (change.first, change.kind))
        .collect();
    let last = own.last().and_then(|(_, engine)| engine.value).map_or(String::new(), format::percent);
    EngineHistory {
        name: format::on_one_line(name),
        class: format!("e{}", number % COLORS),
        shape: number % SHAPES,
        about: format!("{}, last score {last}", format::count_of(own.len(), "night")),
        curves: curves(&own, &changes, scale),
        nights: own.iter().filter_map(|&(night, engine)| night_mark(nights, night, engine, scale)).collect(),
        changes: changes.iter().map(|&(first, kind)| change_mark(first, kind, scale)).collect(),
    }
}

/// Returns the parts of the curve between gaps and changes.
fn curves(own: &[(usize, &WatchedEngine)], changes: &[(usize, ChangeKind)], scale: &Scale) -> Vec<String> {
    let mut curves = Vec::new();
    let mut curve = String::new();
    let mut previous = None;
    for &(night, engine) in own {
        let is_gap = previous.is_none_or(|previous| previous + 1 != night);
        let is_changed = changes.iter().any(|&(first, _)| first == night);
        if is_gap || is_changed {
            curves.push(std::mem::take(&mut curve));
        }
        if let Some(value) = engine.value {
            let command = if curve.is_empty() { 'M' } else { 'L' };
            curve += &format!("{command}{} {}", unit(scale.x(night)), unit(scale.y(value)));
            previous = Some(night);
        }
    }
    curves.push(curve);
    curves.retain(|curve| curve.contains('L'));
    curves
}

fn night_mark(
    nights: &[WatchedNight],
    night: usize,
    engine: &WatchedEngine,
    scale: &Scale,
) -> Option<NightMark> {
    let score = engine.value.map_or("no score".to_owned(), |value| format!("{} %", format::percent(value)));
    let failed = match engine.failed {
        0 => String::new(),
        failed => format!(", {} failed", format::count_of(failed, "request")),
    };
    if engine.value.is_none() && failed.is_empty() {
        return None;
    }
    let date = format::escape_invisible(day(&nights[night].time));
    Some(NightMark {
        x: unit(scale.x(night)),
        y: engine.value.map(|value| unit(scale.y(value))),
        has_failed: engine.failed > 0,
        title: format!("{date}: {score} of {}{failed}", format::count_of(engine.answers, "answer")),
    })
}

fn change_mark(first: usize, kind: ChangeKind, scale: &Scale) -> ChangeMark {
    ChangeMark {
        // Between the last night before the change and the first one after it.
        x: unit((scale.x(first) + scale.x(first.saturating_sub(1))) / 2.0),
        is_answers: kind == ChangeKind::Answers,
        label: match kind {
            ChangeKind::Answers => "answers changed",
            ChangeKind::Settings => "settings changed",
            ChangeKind::Workspace => "workspace changed",
        },
    }
}
