//! What distinguishes engines on the page: each has its own letter, and its own combination of shape and colour.

use cases::EngineIdentity;
use serde::Serialize;

use crate::format;

/// Shapes in `marks.html`.
pub(super) const SHAPES: usize = 8;
/// Colours in `report.css`. It has no common divisor with the number of shapes, so that 72 combinations occur before one repeats.
pub(super) const COLORS: usize = 9;

/// An engine's name and marks, for the templates and the script.
#[derive(Serialize)]
pub(super) struct EngineView {
    /// `A` for the first engine, `AA` for the 27th.
    letter: String,
    name: String,
    /// Its kind and model.
    about: String,
    /// Class of its colour.
    class: String,
    /// Index of its shape.
    shape: usize,
    /// The same engine with all files, if near-copies of the case's file were hidden from this one.
    copy_of: Option<usize>,
}

/// Returns the marks of the engines; `copy_of` is the same engine with all files.
pub(super) fn engine_views(
    engines: &[EngineIdentity],
    copy_of: impl Fn(usize) -> Option<usize>,
) -> Vec<EngineView> {
    let view = |(index, engine): (usize, &EngineIdentity)| EngineView {
        letter: letter(index),
        name: format::on_one_line(&engine.name),
        about: format::on_one_line(&details(engine)),
        class: format!("e{}", index % COLORS),
        shape: index % SHAPES,
        copy_of: copy_of(index),
    };
    engines.iter().enumerate().map(view).collect()
}

fn details(engine: &EngineIdentity) -> String {
    if engine.model.is_empty() || engine.model == engine.kind {
        engine.kind.clone()
    } else {
        format!("{}, {}", engine.kind, engine.model)
    }
}

/// Returns the number in letters, as spreadsheets name columns.
fn letter(index: usize) -> String {
    let last = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    match index / 26 {
        0 => last.to_string(),
        rest => format!("{}{last}", letter(rest - 1)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn letters_and_marks_do_not_repeat() {
        let letters: HashSet<String> = (0..1000).map(letter).collect();
        assert_eq!(letters.len(), 1000);
        assert_eq!([0, 25, 26, 701, 702].map(letter), ["A", "Z", "AA", "ZZ", "AAA"]);
        let marks: HashSet<(usize, usize)> =
            (0..SHAPES * COLORS).map(|it| (it % SHAPES, it % COLORS)).collect();
        assert_eq!(marks.len(), SHAPES * COLORS);
    }
}
