//! The results of an output file.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use syntax::Language;

use super::aggregate::ThresholdCurve;
use super::rows::{RepoqaDataset, RepoqaOutput, RepoqaRepository};
use super::score::{CommentMode, FindScore, Needle, PreparedNeedle, score};
use crate::Rules;

/// A function asked for: language, repository and name.
pub type RepoqaTask = (String, String, String);

/// Results of an output file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputScores {
    /// Results by language; `all` has those of all languages.
    pub curves: BTreeMap<String, ThresholdCurve>,
    /// Tasks without an output.
    pub missing: Vec<RepoqaTask>,
    /// Outputs for tasks that the data set does not have, and repeated outputs for a task.
    pub unused: Vec<RepoqaTask>,
}

/// Scores the outputs for the usable repositories of a data set; languages that Ghostbench cannot parse have no results.
///
/// With [`Rules::Paper`] a task without an output counts as failed; the original, and [`Rules::Faithful`], leave it out. See
/// [`super::sanitize()`] for the differences in reading an answer.
pub fn score_outputs(
    dataset: &RepoqaDataset,
    outputs: &[RepoqaOutput],
    comments: CommentMode,
    rules: Rules,
) -> OutputScores {
    let mut results = OutputScores::default();
    let mut answers: HashMap<(&str, &str, &str), &str> = HashMap::new();
    let mut unused = Vec::new();
    for output in outputs {
        let task = (output.language.as_str(), output.repo.as_str(), output.name.as_str());
        let answer = output.output.first().map_or("", String::as_str);
        match answers.entry(task) {
            Entry::Occupied(_) => unused.push(task),
            Entry::Vacant(place) => {
                place.insert(answer);
            }
        }
    }
    for (name, repository) in dataset.repositories().flatten() {
        let Some(language) = Language::from_name(name) else { continue };
        let mut scores = Vec::new();
        let mut missing = 0;
        let needles = prepare(language, repository, comments);
        for needle in &repository.needles {
            match answers.remove(&(name, &repository.repo, &needle.name)) {
                Some(answer) => scores.push(score(language, &needle.name, answer, &needles, comments, rules)),
                None => {
                    missing += usize::from(rules == Rules::Paper);
                    results.missing.push(owned((name, &repository.repo, &needle.name)));
                }
            }
        }
        results.add(name, &scores, missing);
    }
    unused.extend(answers.into_keys());
    unused.sort_unstable();
    results.unused = unused.into_iter().map(owned).collect();
    results
}

fn prepare(language: Language, repository: &RepoqaRepository, comments: CommentMode) -> Vec<PreparedNeedle> {
    let needles = repository.needles.iter().filter_map(|needle| {
        let code = repository.needle_code(needle)?;
        Some(PreparedNeedle::new(language, Needle { name: &needle.name, code: &code }, comments))
    });
    needles.collect()
}

fn owned((language, repo, name): (&str, &str, &str)) -> RepoqaTask {
    (language.to_owned(), repo.to_owned(), name.to_owned())
}

impl OutputScores {
    fn add(&mut self, language: &str, scores: &[FindScore], missing: usize) {
        let curve = ThresholdCurve::new(scores, missing);
        for name in [language, "all"] {
            self.curves.entry(name.to_owned()).or_default().add(&curve);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_joined_with_their_tasks() {
        let dataset = r#"{"python":[{"repo":"r","content":{"a.py":"def f(): pass\ndef g(): pass"},"dependency":{},"needles":[
            {"name":"f","path":"a.py","start_line":0,"end_line":1,"start_byte":0,"end_byte":13},
            {"name":"g","path":"a.py","start_line":1,"end_line":2,"start_byte":14,"end_byte":27}]}]}"#;
        let dataset = RepoqaDataset::read(dataset.as_bytes()).expect("a data set");
        let output = |name: &str| RepoqaOutput {
            language: "python".to_owned(),
            repo: "r".to_owned(),
            name: name.to_owned(),
            output: vec!["def f(): pass".to_owned()],
        };
        let outputs = [output("f"), output("f"), output("x")];
        let paper = score_outputs(&dataset, &outputs, CommentMode::Compare, Rules::Paper);
        assert_eq!((paper.curves["all"].passed[0], paper.curves["python"].total), (1, 2));
        assert_eq!(paper.missing, [owned(("python", "r", "g"))]);
        assert_eq!(paper.unused, [owned(("python", "r", "f")), owned(("python", "r", "x"))]);
        let faithful = score_outputs(&dataset, &outputs, CommentMode::Compare, Rules::Faithful);
        assert_eq!(faithful.curves["all"].total, 1);
    }
}
