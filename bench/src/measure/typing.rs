//! The built-in engine while typing: keystrokes saved, and wrong suggestions shown.
//!
//! A simulated typist writes parts of real files again, key by key, in the middle of the file and at its end. After each key the engine is
//! asked as an editor asks it, through `completion::complete` and the cache of answers, so that ghost text stays while it is typed. The
//! typist accepts a suggestion as soon as all of it is right.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, Result};
use completion::WorkspaceIndex;
use rayon::prelude::*;
use syntax::{Language, SourceFile};
use text::SplitMix64;

use self::typist::{Passage, TypingCounts, type_passage};
use super::builtin::load;
use super::repositories::Repo;

mod typist;

/// Measured languages.
const LANGUAGES: [Language; 3] = [Language::Python, Language::TypeScript, Language::Java];
/// Files per language.
const FILES: usize = 10;
/// Size in bytes of the files.
const FILE_BYTES: Range<usize> = 4_000..60_000;
/// Bytes typed at each place, up to the end of a line.
const TYPED_BYTES: usize = 1_500;
/// Seed of the choice of files.
const SEED: u64 = 21;

/// Measures the engine in these sets of repositories, each with the text that describes it, and returns the Markdown of the section.
pub(crate) fn measure(sets: &[(&str, Vec<Repo>)]) -> Result<String> {
    let mut out = format!(
        "{} files: {FILES} of each of {} languages, chosen by chance. In each, {TYPED_BYTES} characters are typed again in the middle, with the rest \
         of the file below, and at the end. Comments, texts of several lines and indentation cost no key. A suggestion is new if it is not what was left of the one before; it \
         is wrong if anything of it is. Flicker is ghost text that changes or disappears although the key fitted it.\n",
        FILES * LANGUAGES.len(),
        LANGUAGES.len(),
    );
    for (description, repos) in sets {
        let counts = type_in(repos)?;
        write!(out, "\n{description}\n\n{}", table(&counts))?;
    }
    Ok(out)
}

/// Place of the typed passage in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassagePlace {
    Middle,
    End,
}

impl PassagePlace {
    fn name(self) -> &'static str {
        match self {
            PassagePlace::Middle => "middle",
            PassagePlace::End => "end",
        }
    }
}

/// What typing at a place of one file gives.
struct TypingResult {
    language: Language,
    place: PassagePlace,
    counts: TypingCounts,
}

fn type_in(repos: &[Repo]) -> Result<Vec<TypingResult>> {
    let mut typed = Vec::new();
    for language in LANGUAGES {
        let mut workspaces = Vec::new();
        for repo in repos.iter().filter(|repo| repo.pinned.measures(language)) {
            let snapshot =
                load(&repo.root).with_context(|| format!("failed to read {}", repo.pinned.name))?;
            workspaces.push(WorkspaceIndex::new(snapshot.files().iter().cloned().collect()));
        }
        let chosen = choose_files(&workspaces, language);
        let places = chosen.iter().flat_map(|file| [(file, PassagePlace::Middle), (file, PassagePlace::End)]);
        let places: Vec<_> = places.collect();
        typed.par_extend(places.into_par_iter().map(|((workspace, file), place)| TypingResult {
            language,
            place,
            counts: type_passage(workspace, &passage(file, place)),
        }));
        eprintln!("{}: typed", language.name());
    }
    Ok(typed)
}

/// Returns files of a language, one of each workspace in turn, in an order of chance.
fn choose_files(workspaces: &[WorkspaceIndex], language: Language) -> Vec<(&WorkspaceIndex, &SourceFile)> {
    let mut random = SplitMix64::new(SEED);
    let mut queues: Vec<Vec<(&WorkspaceIndex, &SourceFile)>> = Vec::new();
    for workspace in workspaces {
        let fits = |file: &&SourceFile| {
            file.language == language
                && FILE_BYTES.contains(&file.text.len())
                && file.text.is_ascii()
                && !syntax::parse(language, &file.text).has_error()
        };
        let mut files: Vec<_> = workspace.files().iter().filter(fits).map(|file| (workspace, file)).collect();
        for end in (1..files.len()).rev() {
            files.swap(end, random.below(end + 1));
        }
        queues.push(files);
    }
    let longest = queues.iter().map(Vec::len).max().unwrap_or_default();
    let in_turn = (0..longest).flat_map(|rank| queues.iter().filter_map(move |queue| queue.get(rank)));
    in_turn.copied().take(FILES).collect()
}

/// Cuts the passage that is typed: whole lines.
fn passage(file: &SourceFile, place: PassagePlace) -> Passage {
    let text: Arc<str> = file.text.replace("\r\n", "\n").into();
    let line_start = |offset: usize| text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let (start, end) = match place {
        PassagePlace::Middle => {
            let start = line_start(text.len() / 2);
            let end = (start + TYPED_BYTES).min(text.len());
            (start, text[end..].find('\n').map_or(text.len(), |line_end| end + line_end))
        }
        PassagePlace::End => {
            let end = text.trim_end().len();
            (line_start(end.saturating_sub(TYPED_BYTES)), end)
        }
    };
    let after = if place == PassagePlace::End { "\n" } else { &text[end..] };
    let prose = prose(file.language, &text).into_iter();
    let inside = prose.filter(|prose| start < prose.end && prose.start < end);
    Passage {
        path: Arc::clone(&file.path),
        language: file.language,
        before: text[..start].to_owned(),
        typed: text[start..end].to_owned(),
        prose: inside.map(|prose| prose.start.saturating_sub(start)..prose.end.min(end) - start).collect(),
        after: after.to_owned(),
    }
}

/// Returns the ranges of comments and of texts of several lines, in order.
fn prose(language: Language, text: &str) -> Vec<Range<usize>> {
    let lexed = syntax::lex(language, text);
    let long =
        lexed.iter().map(|token| token.range.clone()).filter(|range| text[range.clone()].contains('\n'));
    let mut prose: Vec<Range<usize>> =
        long.filter(|range| range.len() > 1 && !text[range.clone()].trim().is_empty()).collect();
    prose.extend(syntax::parse(language, text).comments(text));
    prose.sort_by_key(|range| range.start);
    prose
}

fn table(typed: &[TypingResult]) -> String {
    let mut out = "| language | place | keys saved | suggestions accepted per 100 keys | wrong ones newly shown per 100 requests | per accepted one | \
                   flicker per 100 keys | request p50 / p99 |\n|---|---|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    let places = [PassagePlace::Middle, PassagePlace::End];
    let rows = LANGUAGES.into_iter().flat_map(|language| places.map(|place| (Some(language), place)));
    for (language, place) in rows.chain(places.map(|place| (None, place))) {
        let of_row = typed
            .iter()
            .filter(|one| one.place == place && language.is_none_or(|language| language == one.language));
        let counts = of_row.fold(TypingCounts::default(), |sum, one| sum + one.counts.clone());
        let name = language.map_or("all", Language::name);
        writeln!(out, "| {name} | {} | {} |", place.name(), counts.cells().join(" | "))
            .expect("a string takes everything");
    }
    out
}
