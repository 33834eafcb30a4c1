//! Which lines of a file are imports.

use std::ops::Range;

use syntax::Outline;

/// Returns the line ranges of imports. An import with an open bracket extends to the closing one.
pub(crate) fn import_lines(outline: &Outline, lines: &[&str]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for import in &outline.imports {
        let start = import.line as usize;
        if ranges.last().is_some_and(|last| last.contains(&start)) {
            continue;
        }
        let mut open = 0_i32;
        let mut end = start;
        for line in lines.get(start..).unwrap_or_default() {
            end += 1;
            open += line.matches(['(', '{']).count() as i32 - line.matches([')', '}']).count() as i32;
            if open <= 0 {
                break;
            }
        }
        ranges.push(start..end);
    }
    ranges
}
