//! Finds the place in a file to which the text around a cursor belongs: a pure function.
//!
//! ```text
//! prefix | suffix ─┬─► the file contains both, one after the other, once ──► the cursor, in the text of the file
//!                  └─► unsaved edits: lines above and below that the file has once ──► what is between them is the plugin's text
//! ```
//!
//! Plugins send a part of the file, maybe with comments before it, and the developer may not have saved. So the lines around the cursor
//! that are unique in the file are the anchors; between the outermost ones the plugin's text replaces the file's. A place that is not certain is
//! none: the recorded truth of a wrong place would be worse than none.

use std::collections::HashMap;

/// Largest distance in lines from the cursor to an anchor. Further edits are in another place.
const MAX_LINES: usize = 200;
/// Largest distance in lines between two anchors: an edited function.
const MAX_GAP: usize = 60;
/// Fewest letters and digits of a line that identifies a place.
const MIN_LETTERS: usize = 4;
/// Fewest characters other than blanks of a text that identifies a place by itself.
const MIN_EVIDENCE: usize = 16;
/// Lines before the first anchor: a cursor at the beginning of the file.
const MAX_FIRST_LINES: usize = 10;

/// The text around a cursor, with LF line ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    /// Before the cursor.
    pub(crate) prefix: &'a str,
    /// After the cursor.
    pub(crate) suffix: &'a str,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundCursor {
    /// The whole text of the file at the request, with the unsaved edits around the cursor; LF line ends.
    pub(crate) text: String,
    /// The cursor in it, in bytes.
    pub(crate) offset: usize,
    /// How certain the place is.
    pub(crate) certainty: Certainty,
}

/// How much of the surroundings is in the file; larger is more certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Certainty {
    /// Whether the file contains all of it in one piece.
    is_exact: bool,
    /// Lines of the surroundings that the file has, per thousand.
    per_mille: usize,
    /// Number of these lines.
    lines: usize,
}

/// Returns the lines that tell files apart, nearest to the cursor first.
pub(crate) fn search_lines<'a>(around: Surroundings<'a>, count: usize) -> Vec<&'a str> {
    let (above, _, below) = lines_around(around);
    let nearest = |lines: &mut dyn Iterator<Item = &'a str>| -> Vec<&'a str> {
        lines.take(MAX_LINES).filter(|line| is_distinctive(line)).take(count).collect()
    };
    let mut found = nearest(&mut above.iter().rev().copied());
    found.extend(nearest(&mut below.iter().copied()));
    found
}

/// Returns the place in the file with this text, which has LF line ends; `None` if it is not certain.
pub(crate) fn find_in_file(around: Surroundings<'_>, text: &str) -> Option<FoundCursor> {
    in_one_piece(around, text).or_else(|| between_anchors(around, text))
}

/// Returns the most certain of several places; `None` if two are equally certain, because then it may be any of them.
pub(crate) fn most_certain<T>(found: Vec<(T, FoundCursor)>) -> Option<(T, FoundCursor)> {
    let best = found.iter().map(|(_, found)| found.certainty).max()?;
    let mut certain = found.into_iter().filter(|(_, found)| found.certainty == best);
    let first = certain.next()?;
    certain.next().is_none().then_some(first)
}

fn in_one_piece(around: Surroundings<'_>, text: &str) -> Option<FoundCursor> {
    let Surroundings { prefix, suffix } = around;
    let whole = [prefix, suffix].concat();
    // Some plugins end every line with a line end, also the last one of a file without.
    let without_end =
        whole.strip_suffix('\n').filter(|rest| text.ends_with(rest) && rest.len() >= prefix.len());
    let whole = match text.ends_with(&whole) {
        false => without_end.unwrap_or(&whole),
        true => &whole,
    };
    let is_evidence = whole.chars().filter(|c| !c.is_whitespace()).nth(MIN_EVIDENCE - 1).is_some();
    if !is_evidence && whole != text {
        return None;
    }
    let mut places = memchr::memmem::find_iter(text.as_bytes(), whole.as_bytes());
    let start = places.next().filter(|_| places.next().is_none())?;
    let lines = whole.lines().filter(|line| !line.trim().is_empty()).count();
    Some(FoundCursor {
        text: text.to_owned(),
        offset: start + prefix.len(),
        certainty: Certainty { is_exact: true, per_mille: 1_000, lines },
    })
}

/// The lines of a file, with their starts.
struct FileLines<'a> {
    lines: Vec<&'a str>,
    /// Start of each line, and the end of the text.
    starts: Vec<usize>,
    /// Index of the line with a text, and how often there is one.
    by_text: HashMap<&'a str, (usize, usize)>,
}

impl<'a> FileLines<'a> {
    fn new(text: &'a str) -> FileLines<'a> {
        let mut starts = vec![0];
        let mut lines = Vec::new();
        let mut by_text: HashMap<&str, (usize, usize)> = HashMap::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            starts.push(starts[index] + line.len());
            let line = line.strip_suffix('\n').unwrap_or(line);
            by_text.entry(line).or_insert((index, 0)).1 += 1;
            lines.push(line);
        }
        FileLines { lines, starts, by_text }
    }

    /// Index of a line that identifies a place.
    fn anchor(&self, line: &str) -> Option<usize> {
        self.by_text
            .get(line)
            .filter(|(_, count)| *count == 1 && is_distinctive(line))
            .map(|(index, _)| *index)
    }
}

/// The anchors on one side of the cursor.
#[derive(Clone, Copy)]
struct Anchors {
    /// Line in the file of the nearest one.
    nearest: usize,
    /// Line in the file of the last one.
    last: usize,
    /// Lines between the cursor's line and the last one.
    distance: usize,
}

/// Follows the anchors from the cursor outwards, as long as they are in the order of the file and not far from each other: beyond may be
/// code of other files.
fn anchors<'a>(
    file: &FileLines<'_>,
    lines: impl Iterator<Item = &'a &'a str>,
    file_distance: impl Fn(usize, usize) -> Option<usize>,
) -> Option<Anchors> {
    let mut found: Option<Anchors> = None;
    for (distance, line) in lines.take(MAX_LINES).enumerate() {
        let Some(at) = file.anchor(line) else { continue };
        if let Some(known) = found {
            let is_next = file_distance(known.last, at).is_some_and(|gap| (1..=MAX_GAP).contains(&gap));
            if !is_next || distance - known.distance > MAX_GAP {
                break;
            }
        }
        let nearest = found.map_or(at, |known| known.nearest);
        found = Some(Anchors { nearest, last: at, distance });
    }
    found
}

fn between_anchors(around: Surroundings<'_>, text: &str) -> Option<FoundCursor> {
    let file = FileLines::new(text);
    let (above, current, below) = lines_around(around);
    let up = anchors(&file, above.iter().rev(), |near: usize, far| near.checked_sub(far));
    let down = anchors(&file, below.iter(), |near, far: usize| far.checked_sub(near));
    // Lines of the file that are kept: all until `first`, and all from `last` on.
    let (first, last) = match (up, down) {
        (Some(up), Some(down)) if up.nearest < down.nearest => (up.last + 1, down.last),
        (Some(up), None) => (up.last + 1, end_without_anchor(&file, up.nearest + 1, &below)?),
        (None, Some(down)) => (start_without_anchor(down.nearest, &above)?, down.last),
        _ => return None,
    };
    if last < first || last - first > 2 * MAX_LINES {
        return None;
    }
    let kept_above = up.map_or(0, |up| above.len() - up.distance);
    let kept_below = down.map_or_else(|| below.len() - (file.lines.len() - last), |down| down.distance);
    let from = kept_above.saturating_sub(1);
    let until = (kept_below + 1).min(below.len());
    let certainty = certainty(&file, &above[from..], &below[..until])?;
    let mut rebuilt = text[..file.starts[first]].to_owned();
    for line in &above[kept_above..] {
        rebuilt.push_str(line);
        rebuilt.push('\n');
    }
    rebuilt.push_str(current.0);
    let offset = rebuilt.len();
    rebuilt.push_str(current.1);
    let rest = &text[file.starts[last]..];
    if current.2 && (!rest.is_empty() || kept_below > 0 || text.ends_with('\n')) {
        rebuilt.push('\n');
    }
    for line in &below[..kept_below] {
        rebuilt.push_str(line);
        rebuilt.push('\n');
    }
    rebuilt.push_str(rest);
    Some(FoundCursor { text: rebuilt, offset, certainty })
}

/// The cursor is below the last anchor: returns the first line at the end of the file that the suffix has, too. A suffix without code
/// after which the file has some may be cut off, so that nothing is certain.
fn end_without_anchor(file: &FileLines<'_>, first: usize, below: &[&str]) -> Option<usize> {
    let rest = &file.lines[first..];
    let is_blank = |lines: &[&str]| lines.iter().all(|line| line.trim().is_empty());
    let same = common_end(rest, below);
    if is_blank(&below[..below.len() - same]) && is_blank(below) && !is_blank(rest) {
        return None;
    }
    (rest.len() - same <= MAX_LINES).then(|| file.lines.len() - same)
}

/// The cursor is above the first anchor: returns the first line that the text of the plugin replaces.
fn start_without_anchor(last: usize, above: &[&str]) -> Option<usize> {
    let is_near = last <= MAX_FIRST_LINES && above.len() <= MAX_FIRST_LINES;
    is_near.then_some(0)
}

/// Number of lines at the end of both that are the same.
fn common_end(file: &[&str], below: &[&str]) -> usize {
    file.iter().rev().zip(below.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Returns how much of the surroundings is in a file; `None` if it is too little.
fn certainty(file: &FileLines<'_>, above: &[&str], below: &[&str]) -> Option<Certainty> {
    let all = || above.iter().chain(below).filter(|line| !line.trim().is_empty());
    let (mut total, mut lines, mut anchors) = (0, 0, 0);
    for line in all() {
        total += 1;
        lines += usize::from(file.by_text.contains_key(*line));
        anchors += usize::from(file.anchor(line).is_some());
    }
    let code_lines = file.lines.iter().filter(|line| !line.trim().is_empty()).count();
    let needed = if code_lines < 5 { 1 } else { 2 };
    let is_certain = anchors >= needed && lines * 2 >= total;
    is_certain.then(|| Certainty { is_exact: false, per_mille: lines * 1_000 / total.max(1), lines })
}

/// The whole lines before the cursor's line; its text before and after the cursor, and whether it ends; the whole lines after it.
type LinesAround<'a> = (Vec<&'a str>, (&'a str, &'a str, bool), Vec<&'a str>);

fn lines_around(around: Surroundings<'_>) -> LinesAround<'_> {
    let (above, head) = around.prefix.rsplit_once('\n').map_or(("", around.prefix), |parts| parts);
    let above = if around.prefix.contains('\n') { above.split('\n').collect() } else { Vec::new() };
    let (tail, below) = match around.suffix.split_once('\n') {
        Some((tail, below)) => (tail, Some(below)),
        None => (around.suffix, None),
    };
    // The last line may be cut.
    let whole = below.and_then(|below| Some(below.rsplit_once('\n')?.0));
    let below_lines = whole.map(|below| below.split('\n').collect()).unwrap_or_default();
    (above, (head, tail, below.is_some()), below_lines)
}

fn is_distinctive(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).nth(MIN_LETTERS - 1).is_some()
}

#[cfg(test)]
mod tests;
