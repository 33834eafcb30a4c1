//! Which predictions belong to which of several files of CrossCodeEval. The same tasks with other context have the same ids in another
//! file, so that ids alone do not say it: `export` names predictions after the file with the tasks.

use std::path::{Path, PathBuf};

/// End of the names of files with predictions, before the ending.
const PREDICTION: &str = ".prediction";

/// Endings of all files.
const ENDINGS: [&str; 2] = [".gz", ".jsonl"];

/// The predictions of one engine for one setting.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CcevalSet {
    /// Its name: the engine's folder, and the name of the file.
    pub(super) name: String,
    /// The files with the tasks.
    pub(super) items: Vec<PathBuf>,
    /// The file with the predictions.
    pub(super) predictions: PathBuf,
}

impl CcevalSet {
    /// Returns a set for each file of predictions; `None` if not all are named after a file of tasks, or there is only one.
    pub(super) fn paired(items: &[PathBuf], predictions: &[PathBuf]) -> Option<Vec<CcevalSet>> {
        if predictions.len() < 2 {
            return None;
        }
        let sets: Vec<CcevalSet> =
            predictions.iter().map(|path| CcevalSet::of(path, items)).collect::<Option<_>>()?;
        Some(sets)
    }

    fn of(predictions: &Path, items: &[PathBuf]) -> Option<CcevalSet> {
        let tasks = stem(predictions)?.strip_suffix(PREDICTION)?;
        let named: Vec<&PathBuf> = items.iter().filter(|item| stem(item) == Some(tasks)).collect();
        let beside: Vec<&PathBuf> =
            named.iter().copied().filter(|item| item.parent() == predictions.parent()).collect();
        let items: Vec<PathBuf> =
            if beside.is_empty() { named } else { beside }.into_iter().cloned().collect();
        let folder = predictions.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
        let name = folder.map_or_else(|| tasks.to_owned(), |folder| format!("{folder}/{tasks}"));
        (!items.is_empty()).then(|| CcevalSet { name, items, predictions: predictions.to_owned() })
    }
}

/// Returns the name of a file without its endings.
fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    Some(ENDINGS.iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(items: &[&str], predictions: &[&str]) -> Option<Vec<String>> {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let sets = CcevalSet::paired(&paths(items), &paths(predictions))?;
        let show = |set: CcevalSet| {
            let items: Vec<String> = set.items.iter().map(|item| item.display().to_string()).collect();
            format!("{} = {} by {}", set.name, items.join("+"), set.predictions.display())
        };
        Some(sets.into_iter().map(show).collect())
    }

    #[test]
    fn predictions_belong_to_the_tasks_of_their_name() {
        let items = ["x/line.jsonl", "x/line_rg1.jsonl.gz"];
        let predictions = ["x/01-a/line.prediction.jsonl", "x/01-a/line_rg1.prediction.jsonl"];
        let expected = [
            "01-a/line = x/line.jsonl by x/01-a/line.prediction.jsonl",
            "01-a/line_rg1 = x/line_rg1.jsonl.gz by x/01-a/line_rg1.prediction.jsonl",
        ];
        assert_eq!(sets(&items, &predictions).expect("two sets"), expected);
    }

    #[test]
    fn tasks_in_the_folder_of_the_predictions_come_first() {
        let predictions = ["java/line.prediction.jsonl", "python/line.prediction.jsonl"];
        let found = sets(&["java/line.jsonl", "python/line.jsonl"], &predictions).expect("two sets");
        assert_eq!(found[1], "python/line = python/line.jsonl by python/line.prediction.jsonl");
    }

    #[test]
    fn other_names_are_no_sets() {
        assert_eq!(sets(&["line.jsonl"], &["prediction.jsonl", "other.jsonl"]), None);
        assert_eq!(sets(&["line.jsonl"], &["line.prediction.jsonl"]), None);
        assert_eq!(sets(&["line.jsonl"], &["a.prediction.jsonl", "line.prediction.jsonl"]), None);
    }
}
