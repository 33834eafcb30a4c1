//! Quality, latency and cost in one view: the table, the Pareto plots and the plot of right answers over time.
//!
//! The numbers come from `scoring`; positions in the plots are layout.

use scoring::Verdict;
use scoring::verdict::{Quality, RightOverTime, Standing};
use serde::Serialize;

use super::plots::{Tick, unit};
use super::ranking::basis;
use crate::format::{self, Alphabet};
use crate::verdict_text;

/// Drawing units, about one CSS pixel each.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = 40.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 36.0;
/// Distance of two letters at the ends of curves.
const LETTER_HEIGHT: f64 = 11.0;

#[derive(Serialize)]
pub(super) struct Tradeoffs {
    /// Cases of the qualities.
    basis: String,
    /// Titles of the columns of exact match within a time.
    within: Vec<String>,
    rows: Vec<TradeoffRow>,
    has_costs: bool,
    /// What the front weighs besides quality, in words.
    front: String,
    latency: Option<ScatterPlot>,
    cost: Option<ScatterPlot>,
    over_time: Option<CurvePlot>,
}

#[derive(Serialize)]
struct TradeoffRow {
    engine: usize,
    is_on_front: bool,
    quality: String,
    within: Vec<String>,
    p50: String,
    p95: String,
    cost: String,
    failed: String,
    /// Values to sort by, in the order of the columns after the engine.
    keys: Vec<Option<f64>>,
}

/// Engines as points: quality over another property, of which less is better.
#[derive(Serialize)]
struct ScatterPlot {
    axes: Axes,
    points: Vec<Point>,
    /// Line below which every point is dominated.
    front: String,
}

#[derive(Serialize)]
struct Point {
    engine: usize,
    x: String,
    y: String,
    is_on_front: bool,
    title: String,
}

/// A line per engine.
#[derive(Serialize)]
struct CurvePlot {
    axes: Axes,
    curves: Vec<Curve>,
    /// Deadlines of the table.
    deadlines: Vec<Tick>,
}

#[derive(Serialize)]
struct Curve {
    engine: usize,
    path: String,
    end_y: String,
    letter_y: String,
    title: String,
}

#[derive(Serialize)]
struct Axes {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
}

/// A logarithmic axis from one power of ten to another, and a linear one from 0.
struct Scales {
    first_decade: f64,
    decades: f64,
    highest: f64,
}

pub(super) fn tradeoffs(verdict: &Verdict, over_time: &[RightOverTime]) -> Option<Tradeoffs> {
    let first = verdict.standings.first()?;
    let within = |deadline: Option<f64>| {
        deadline.map_or_else(|| "any time".to_owned(), |ms| format!("within {}", format::duration(ms)))
    };
    let standings = &verdict.standings;
    let has_costs = standings.iter().any(|standing| standing.cost_per_thousand.is_some());
    let latency = |standing: &Standing| standing.latency.map(|latency| latency.p50);
    Some(Tradeoffs {
        basis: basis(verdict),
        within: first.exact_within.iter().map(|quality| within(quality.deadline)).collect(),
        rows: standings.iter().map(row).collect(),
        has_costs,
        front: front_words(verdict),
        latency: scatter(standings, latency, |ms| format!("median {}", format::duration(ms))),
        cost: scatter(
            standings,
            |standing| standing.cost_per_thousand,
            |cost| format!("{} per 1,000 answers", format::amount(cost)),
        ),
        over_time: curves(over_time, verdict),
    })
}

fn front_words(verdict: &Verdict) -> String {
    let properties =
        [(verdict.front.latency, "a shorter median latency"), (verdict.front.cost, "a lower cost")];
    let weighed: Vec<&str> =
        properties.into_iter().filter(|(is_known, _)| *is_known).map(|(_, name)| name).collect();
    let all = ["better quality"].into_iter().chain(weighed).collect::<Vec<_>>();
    match all.as_slice() {
        [first, second, third] => format!("{first}, {second} or {third}"),
        parts => parts.join(" or "),
    }
}

fn row(standing: &Standing) -> TradeoffRow {
    let latency = standing.latency;
    let time = |ms: Option<f64>| ms.map_or_else(|| "–".to_owned(), format::milliseconds);
    let [p50, p95] = [latency.map(|it| it.p50), latency.map(|it| it.p95)];
    let cost = standing.cost_per_thousand;
    let quality = |quality: &Quality| verdict_text::quality(quality, Alphabet::Unicode);
    let mut keys = vec![standing.quality.value];
    keys.extend(standing.exact_within.iter().map(|quality| quality.value));
    keys.extend([p50, p95, cost, Some(standing.failed as f64)]);
    TradeoffRow {
        engine: standing.engine,
        is_on_front: standing.is_on_front,
        quality: quality(&standing.quality),
        within: standing.exact_within.iter().map(quality).collect(),
        p50: time(p50),
        p95: time(p95),
        cost: cost.map_or_else(|| "–".to_owned(), format::amount),
        failed: format!("{} of {}", standing.failed, standing.answers),
        keys: keys.into_iter().map(|key| key.filter(|key| key.is_finite())).collect(),
    }
}

/// Plots quality over a property; `None` with fewer than two engines that have both.
fn scatter(
    standings: &[Standing],
    property: impl Fn(&Standing) -> Option<f64>,
    name: impl Fn(f64) -> String,
) -> Option<ScatterPlot> {
    let places: Vec<(usize, f64, f64)> = standings
        .iter()
        .filter_map(|standing| {
            let x = property(standing).filter(|x| x.is_finite())?;
            Some((standing.engine, x, standing.quality.value?))
        })
        .collect();
    let positive = places.iter().map(|(_, x, _)| *x).filter(|x| *x > 0.0);
    let scales = Scales::new(positive, places.iter().map(|(_, _, y)| *y))?;
    let dominates = |one: &(usize, f64, f64), other: &(usize, f64, f64)| {
        one.1 <= other.1 && one.2 >= other.2 && (one.1, one.2) != (other.1, other.2)
    };
    let is_on_front = |it: &(usize, f64, f64)| !places.iter().any(|other| dominates(other, it));
    let point = |it: &(usize, f64, f64)| Point {
        engine: it.0,
        x: unit(scales.x(it.1)),
        y: unit(scales.y(it.2)),
        is_on_front: is_on_front(it),
        title: format!("{} %, {}", format::percent(it.2), name(it.1)),
    };
    let mut front: Vec<(f64, f64)> =
        places.iter().filter(|it| is_on_front(it)).map(|it| (it.1, it.2)).collect();
    front.sort_by(|left, right| left.0.total_cmp(&right.0));
    (places.len() > 1).then(|| ScatterPlot {
        points: places.iter().map(point).collect(),
        front: staircase(front.into_iter(), &scales),
        axes: scales.axes(),
    })
}

/// Plots the share of right answers over time, from the first one to the end of the slowest curve.
fn curves(over_time: &[RightOverTime], verdict: &Verdict) -> Option<CurvePlot> {
    let points = || over_time.iter().flat_map(|curve| &curve.points).filter(|point| point.1 > 0.0);
    let scales = Scales::new(points().map(|point| point.0), points().map(|point| point.1))?;
    let ends: Vec<f64> =
        over_time.iter().map(|curve| curve.points.last().map_or(0.0, |point| scales.y(point.1))).collect();
    let letters = apart(&ends);
    let curve = |((curve, end), letter): ((&RightOverTime, &f64), f64)| Curve {
        engine: curve.engine,
        path: staircase(curve.points.iter().copied(), &scales),
        end_y: unit(*end),
        letter_y: unit(letter + 3.5),
        title: curve
            .points
            .last()
            .map_or_else(String::new, |point| format!("{} % in all", format::percent(point.1))),
    };
    let deadlines = verdict.standings.first().into_iter().flat_map(|standing| &standing.exact_within);
    let deadlines = deadlines.filter_map(|quality| quality.deadline).filter(|ms| scales.contains(*ms));
    Some(CurvePlot {
        curves: over_time.iter().zip(&ends).zip(letters).map(curve).collect(),
        deadlines: deadlines.map(|ms| Tick { x: unit(scales.x(ms)), label: format::duration(ms) }).collect(),
        axes: scales.axes(),
    })
}

/// Returns positions in the order of `wanted`, none nearer to another than the height of a letter.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&left, &right| wanted[right].total_cmp(&wanted[left]));
    let mut places = wanted.to_vec();
    let mut free = HEIGHT - BOTTOM;
    for index in order {
        places[index] = wanted[index].min(free);
        free = places[index] - LETTER_HEIGHT;
    }
    places
}

/// Returns a path of horizontal and vertical lines through points from left to right, to the right edge.
fn staircase(points: impl Iterator<Item = (f64, f64)>, scales: &Scales) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let (x, y) = (unit(scales.x(x)), unit(scales.y(y)));
        path.push_str(&if path.is_empty() { format!("M{x} {y}") } else { format!("H{x}V{y}") });
    }
    if !path.is_empty() {
        path.push_str(&format!("H{}", unit(WIDTH - RIGHT)));
    }
    path
}

impl Scales {
    /// Returns scales that show all values; `None` without a positive one on the logarithmic axis.
    fn new(along: impl Iterator<Item = f64>, up: impl Iterator<Item = f64>) -> Option<Scales> {
        let (low, high) = along.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        if !low.is_finite() || low <= 0.0 {
            return None;
        }
        let first_decade = low.log10().floor();
        let highest = up.fold(0.05_f64, f64::max);
        Some(Scales { first_decade, decades: (high.log10().ceil() - first_decade).max(1.0), highest })
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.share(value).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    /// Whether the value is on the horizontal axis, before its end.
    fn contains(&self, value: f64) -> bool {
        (0.0..1.0).contains(&self.share(value))
    }

    /// Returns the position on the horizontal axis, 0 at its start and 1 at its end.
    fn share(&self, value: f64) -> f64 {
        (value.max(f64::MIN_POSITIVE).log10() - self.first_decade) / self.decades
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (value / self.top()).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    /// Returns the step of the vertical axis: one that gives two to five ticks.
    fn step(&self) -> f64 {
        let steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
        let fits = steps.into_iter().find(|step| self.highest / step <= 5.0);
        fits.unwrap_or_else(|| 10_f64.powf(self.highest.log10().ceil()) / 5.0)
    }

    /// Returns the end of the vertical axis.
    fn top(&self) -> f64 {
        (self.highest / self.step()).ceil() * self.step()
    }

    fn axes(&self) -> Axes {
        let decade = |number: usize| {
            let value = 10_f64.powf(self.first_decade + number as f64);
            Tick { x: unit(self.x(value)), label: format::significant(value) }
        };
        let steps = (self.top() / self.step()).round() as usize;
        let level = |number: usize| {
            let value = self.step() * number as f64;
            Tick { x: unit(self.y(value)), label: format!("{:.0}", value * 100.0) }
        };
        Axes {
            width: WIDTH,
            height: HEIGHT,
            left: LEFT,
            right: WIDTH - RIGHT,
            top: TOP,
            bottom: HEIGHT - BOTTOM,
            x_ticks: (0..=self.decades as usize).map(decade).collect(),
            y_ticks: (0..=steps).map(level).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_at_equal_ends_do_not_cover_each_other() {
        let mut places = apart(&[100.0; 12]);
        places.sort_by(f64::total_cmp);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LETTER_HEIGHT), "{places:?}");
    }

    #[test]
    fn every_value_is_inside_of_the_axes() {
        for (low, high) in [(0.001, 0.002), (1.0, 1.0), (3.0, 120_000.0)] {
            let scales =
                Scales::new([low, high].into_iter(), [0.0, 0.37].into_iter()).expect("positive values");
            for value in [low, high] {
                assert!((LEFT..=WIDTH - RIGHT).contains(&scales.x(value)));
            }
            assert!((TOP..=HEIGHT - BOTTOM).contains(&scales.y(0.37)));
        }
        assert!(Scales::new([0.0].into_iter(), [0.5].into_iter()).is_none());
    }

    #[test]
    fn deadlines_after_the_slowest_answer_are_not_on_the_axis() {
        let scales = Scales::new([3.0, 90.0].into_iter(), [0.5].into_iter()).expect("positive values");
        assert_eq!([0.5, 50.0, 100.0, 300.0].map(|ms| scales.contains(ms)), [false, true, false, false]);
    }
}
