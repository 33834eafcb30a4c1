//! Reads runs with their scores, under names that distinguish them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cases::{Judgement, Score};
use replay::RunContents;
use scoring::RunRows;
use scoring::run_comparison::NamedRun;

use crate::exit::UsageError;
use crate::output;
use crate::progress::Progress;

/// A run with its scores.
pub(crate) struct ScoredRun {
    /// The folder's name, or its path if several runs have that name.
    pub(crate) name: String,
    /// The run's rows.
    pub(crate) contents: RunContents,
    /// The scores of its answers.
    pub(crate) scores: Vec<Score>,
    /// The judgements of its answers by tests.
    pub(crate) judgements: Vec<Judgement>,
}

impl ScoredRun {
    /// Reads a run, and computes the scores that its folder lacks.
    pub(crate) fn read(folder: &Path, name: String) -> anyhow::Result<ScoredRun> {
        Ok(ScoredRun::of(folder, name, replay::read_run(folder)?))
    }

    fn of(folder: &Path, name: String, contents: RunContents) -> ScoredRun {
        let scores = replay::scores_of(folder, &contents).scores;
        let judgements = replay::judgements(folder);
        ScoredRun { name, contents, scores, judgements }
    }

    /// Returns its rows under its name.
    pub(crate) fn named(&self) -> NamedRun<'_> {
        let RunContents { run, cases, predictions } = &self.contents;
        let rows = RunRows {
            run,
            cases,
            predictions,
            scores: &self.scores,
            judgements: &self.judgements,
            notes: &[],
        };
        NamedRun { name: &self.name, rows }
    }
}

/// Reads the runs, and computes the scores that their folders lack.
pub(crate) fn read_runs(folders: &[PathBuf]) -> anyhow::Result<Vec<ScoredRun>> {
    let names = names(folders)?;
    let progress = Progress::spinner("read");
    let mut runs: Vec<ScoredRun> = Vec::new();
    for (folder, name) in folders.iter().zip(names) {
        let others = folders.iter().zip(&runs).map(|(other, run)| (other.as_path(), &run.contents));
        let contents = replay::read_run_beside(folder, others)?;
        runs.push(ScoredRun::of(folder, name, contents));
    }
    progress.finish(&output::count(runs.len(), "run"));
    Ok(runs)
}

/// Returns the names of the folders: the last part of each path if these are different, otherwise the whole paths. A folder that is named
/// twice, however it is spelled, is an error.
fn names(folders: &[PathBuf]) -> Result<Vec<String>, UsageError> {
    // A folder that does not exist is reported by its reader.
    let resolved: Vec<PathBuf> =
        folders.iter().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone())).collect();
    let mut numbered = folders.iter().enumerate();
    if let Some((_, twice)) = numbered.find(|(index, _)| resolved[..*index].contains(&resolved[*index])) {
        return Err(UsageError(format!("{} is named twice; name different runs", output::path(twice))));
    }
    let short: Vec<String> = folders
        .iter()
        .map(|folder| {
            folder.file_name().map_or_else(|| output::path(folder), |name| output::path(Path::new(name)))
        })
        .collect();
    if short.iter().collect::<BTreeSet<_>>().len() == short.len() {
        return Ok(short);
    }
    Ok(folders.iter().map(|folder| output::path(folder)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_get_different_names() {
        let named = |folders: &[&str]| names(&folders.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(named(&["x/a", "x/b/"]).ok(), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(named(&["x/a", "y/a"]).ok(), Some(vec!["x/a".to_owned(), "y/a".to_owned()]));
        assert!(named(&["x/a", "x/a"]).is_err_and(|error| error.0.contains("x/a is named twice")));
        assert_eq!(named(&[".", ".."]).ok(), Some(vec![".".to_owned(), "..".to_owned()]));
    }
}
