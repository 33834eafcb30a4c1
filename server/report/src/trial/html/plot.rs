//! Layout of a difference over time: its value, the interval that holds at any time, and the line of no difference.

use std::fmt::Write as _;

use scoring::trial_scoreboard::{Checkpoint, TrialMetric, TrialPair};
use serde::Serialize;

use crate::trial::sentences::difference;

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 30.0;
/// Labelled values on the vertical axis besides 0.
const TICKS: [f64; 2] = [0.9, -0.9];

/// A drawing of a difference over time.
#[derive(Serialize)]
pub(super) struct OverTime {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    zero: String,
    line: String,
    band: String,
    ticks: Vec<(String, String)>,
    first: usize,
    last: usize,
    bottom: f64,
}

/// Returns the drawing; `None` with fewer than two points.
pub(super) fn over_time(pair: &TrialPair, metric: TrialMetric) -> Option<OverTime> {
    let points: Vec<&Checkpoint> = pair.over_time.iter().filter(|point| point.value.is_finite()).collect();
    let (first, last) = (points.first()?.cases, points.last()?.cases);
    if first == last {
        return None;
    }
    // Early intervals are so wide that they would hide the rest.
    let ends = |point: &Checkpoint| point.sequence.map_or(0.0, |it| it.low.abs().max(it.high.abs()));
    let latest = points.iter().skip(points.len() / 3).map(|point| ends(point)).fold(0.0, f64::max);
    let limit = points.iter().map(|point| point.value.abs()).fold(latest, f64::max).max(1e-6) * 1.1;
    let x = |cases: usize| LEFT + (cases - first) as f64 / (last - first) as f64 * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| TOP + (limit - value.clamp(-limit, limit)) / (2.0 * limit) * (HEIGHT - TOP - BOTTOM);
    let mut line = String::new();
    for (number, point) in points.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{}{:.1} {:.1}",
            if number == 0 { "M" } else { "L" },
            x(point.cases),
            y(point.value)
        );
    }
    let with_interval: Vec<(usize, f64, f64)> =
        points.iter().filter_map(|point| point.sequence.map(|it| (point.cases, it.low, it.high))).collect();
    let upper = with_interval.iter().map(|&(cases, _, high)| (cases, high));
    let lower = with_interval.iter().rev().map(|&(cases, low, _)| (cases, low));
    let mut band = String::new();
    for (number, (cases, value)) in upper.chain(lower).enumerate() {
        let _ = write!(band, "{}{:.1} {:.1}", if number == 0 { "M" } else { "L" }, x(cases), y(value));
    }
    let ticks = TICKS.iter().map(|share| share * limit / 1.1).chain([0.0]);
    Some(OverTime {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: WIDTH - RIGHT,
        zero: format!("{:.1}", y(0.0)),
        line,
        band,
        ticks: ticks.map(|value| (format!("{:.1}", y(value)), difference(metric, value))).collect(),
        first,
        last,
        bottom: HEIGHT - BOTTOM,
    })
}
