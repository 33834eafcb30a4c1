//! The results of an output file.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use syntax::Language;

use super::aggregate::ThresholdCurve;
use super::rows::{RepoqaDataset, RepoqaOutput, RepoqaRepository};
use super::score::{AnswerScores, Needle, Needles};
use crate::ScoringRules;

/// A function asked for: language, repository and name.
pub type RepoqaTask = (String, String, String);

/// Place of a function in its context: the context's tokens, rounded to a power of two, and the tenth of the context.
pub type NeedleDepth = (u64, usize);

/// Results of an output file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputScores {
    /// Results by language, with comments and without; `all` has those of all languages.
    pub curves: BTreeMap<String, [ThresholdCurve; 2]>,
    /// Results with comments by the place of the function, for outputs that name it.
    pub depths: BTreeMap<NeedleDepth, ThresholdCurve>,
    /// Tasks without an output.
    pub missing: Vec<RepoqaTask>,
    /// Outputs for tasks that the data set does not have.
    pub unknown: Vec<RepoqaTask>,
    /// Further outputs for a task.
    pub repeated: Vec<RepoqaTask>,
    /// Number of answers in which the two rules find different code.
    pub differently_read: usize,
}

/// Scores the outputs for the usable repositories of a data set, on all threads; languages that Ghostbench cannot parse have no
/// results.
///
/// With [`ScoringRules::Paper`] a task without an output counts as failed; the original, and [`ScoringRules::Faithful`], leave it out. See
/// [`super::sanitize()`] for the differences in reading an answer.
pub fn score_outputs(dataset: &RepoqaDataset, outputs: &[RepoqaOutput], rules: ScoringRules) -> OutputScores {
    let mut results = OutputScores::default();
    let mut answers: Answers<'_> = HashMap::new();
    for output in outputs {
        let task = (output.language.as_str(), output.repo.as_str(), output.name.as_str());
        match answers.entry(task) {
            Entry::Occupied(_) => results.repeated.push(owned(task)),
            Entry::Vacant(place) => {
                place.insert(output);
            }
        }
    }
    let repositories: Vec<_> = dataset.repositories().flatten().collect();
    let scored: Vec<ScoredRepository<'_>> = repositories
        .par_iter()
        .filter_map(|(name, repository)| score_repository(name, repository, &answers, rules))
        .collect();
    for repository in scored {
        results.add(&repository, rules);
        repository.scores.iter().for_each(|output| {
            answers.remove(&output.task);
        });
    }
    let mut unknown: Vec<_> = answers.into_keys().collect();
    unknown.sort_unstable();
    results.unknown = unknown.into_iter().map(owned).collect();
    results
}

/// The first output for each task.
type Answers<'a> = HashMap<(&'a str, &'a str, &'a str), &'a RepoqaOutput>;

/// The score of an output.
struct ScoredOutput<'a> {
    task: (&'a str, &'a str, &'a str),
    depth: Option<NeedleDepth>,
    scores: AnswerScores,
}

/// Scores of a repository's outputs.
struct ScoredRepository<'a> {
    language: &'a str,
    scores: Vec<ScoredOutput<'a>>,
    missing: Vec<RepoqaTask>,
}

fn score_repository<'a>(
    name: &'a str,
    repository: &'a RepoqaRepository,
    answers: &Answers<'a>,
    rules: ScoringRules,
) -> Option<ScoredRepository<'a>> {
    let language = Language::from_name(name)?;
    let mut scored = ScoredRepository { language: name, scores: Vec::new(), missing: Vec::new() };
    let mut prepared: Option<Needles> = None;
    for needle in &repository.needles {
        let task = (name, repository.repo.as_str(), needle.name.as_str());
        let Some(output) = answers.get(&task) else {
            scored.missing.push(owned(task));
            continue;
        };
        let answer = output.output.first().map_or("", String::as_str);
        let needles = prepared.get_or_insert_with(|| prepare(language, repository));
        let scores = needles.score(&needle.name, answer, rules);
        scored.scores.push(ScoredOutput { task, depth: depth(output), scores });
    }
    Some(scored)
}

/// Tenths of a context.
const TENTHS: usize = 10;

fn depth(output: &RepoqaOutput) -> Option<NeedleDepth> {
    depth_of(output.code_context_ntokens?, output.position_ratio?)
}

/// Returns the place of a function at `ratio` of a context with so many tokens; `None` for an empty one.
pub(super) fn depth_of(tokens: u64, ratio: f64) -> Option<NeedleDepth> {
    if tokens == 0 {
        return None;
    }
    let tenth = (ratio * TENTHS as f64) as usize;
    let exponent = (tokens as f64).log2().round().min(63.0) as u32;
    Some((1 << exponent, tenth.min(TENTHS - 1)))
}

fn prepare(language: Language, repository: &RepoqaRepository) -> Needles {
    let needles = repository.needles.iter();
    let codes: Vec<(&str, String)> =
        needles.filter_map(|needle| Some((needle.name.as_str(), repository.needle_code(needle)?))).collect();
    Needles::new(language, codes.iter().map(|(name, code)| Needle { name, code }))
}

fn owned((language, repo, name): (&str, &str, &str)) -> RepoqaTask {
    (language.to_owned(), repo.to_owned(), name.to_owned())
}

impl OutputScores {
    fn add(&mut self, repository: &ScoredRepository<'_>, rules: ScoringRules) {
        let missing = if rules == ScoringRules::Paper { repository.missing.len() } else { 0 };
        let curve = |mode: usize| {
            let scores = repository.scores.iter().map(|output| &output.scores.scores[mode]);
            ThresholdCurve::new(scores, missing)
        };
        let curves = [curve(0), curve(1)];
        for name in [repository.language, "all"] {
            let sums = self.curves.entry(name.to_owned()).or_default();
            sums.iter_mut().zip(&curves).for_each(|(sum, curve)| sum.add(curve));
        }
        for ScoredOutput { depth, scores, .. } in &repository.scores {
            if let Some(depth) = depth {
                self.depths.entry(*depth).or_default().add(&ThresholdCurve::new([&scores.scores[0]], 0));
            }
            self.differently_read += usize::from(scores.is_read_differently);
        }
        self.missing.extend(repository.missing.iter().cloned());
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
            position_ratio: Some(0.95),
            code_context_ntokens: Some(16_300),
        };
        let outputs = [output("f"), output("f"), output("x")];
        let paper = score_outputs(&dataset, &outputs, ScoringRules::Paper);
        for mode in 0..2 {
            assert_eq!((paper.curves["all"][mode].passed[0], paper.curves["python"][mode].total), (1, 2));
        }
        assert_eq!(paper.missing, [owned(("python", "r", "g"))]);
        assert_eq!(paper.unknown, [owned(("python", "r", "x"))]);
        assert_eq!(paper.repeated, [owned(("python", "r", "f"))]);
        assert_eq!(paper.depths[&(16_384, 9)].total, 1);
        let faithful = score_outputs(&dataset, &outputs, ScoringRules::Faithful);
        assert_eq!(faithful.curves["all"][0].total, 1);
    }
}
