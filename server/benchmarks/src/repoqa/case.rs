//! Cases from the functions of a data set: each function in contexts of the wanted sizes.

use cases::{CandidateFunction, Case, ContextComments, FindFunction, FunctionQuestion, Task};
use syntax::Language;

use super::context::{CommentCleaning, ContextRequest, build_context};
use super::rows::{RepoqaNeedle, RepoqaRepository};
use crate::ScoringRules;
use crate::imported_case::{CaseParts, imported_case};

/// Name of the benchmark in the origin of its cases.
pub const REPOQA: &str = "repoqa";

/// Places of a function in its contexts: the middle of each tenth.
const DEPTHS: [f64; 10] = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95];

/// Which contexts the functions get.
#[derive(Clone, Debug)]
pub struct RepoqaCaseConfig {
    /// Sizes in tokens; the original has 16,384.
    pub sizes: Vec<usize>,
    /// Treatments of comments.
    pub comments: Vec<ContextComments>,
    /// Whether each function is asked for at ten depths. The original asks once: for the i-th of ten functions at the i-th depth.
    pub all_depths: bool,
    /// How tokens are counted, for the cases' descriptions.
    pub tokenizer: String,
    /// The description's rules for contexts, or those of the original's program.
    pub rules: ScoringRules,
}

/// Returns the cases of a repository in the order of its functions, each with its function; an error says why a function has none.
/// `count` returns the tokens of a text.
pub fn repoqa_cases<'a>(
    language: Language,
    repository: &'a RepoqaRepository,
    config: &'a RepoqaCaseConfig,
    count: &'a dyn Fn(&str) -> usize,
) -> impl Iterator<Item = (&'a RepoqaNeedle, Result<Case, String>)> {
    let candidates: Vec<CandidateFunction> = repository
        .needles
        .iter()
        .filter_map(|needle| {
            let code = repository.needle_code(needle)?;
            Some(CandidateFunction { name: needle.name.clone(), code })
        })
        .collect();
    let source = ContextSource { language, repository, files: repository.ordered_files(), candidates, count };
    let needles = repository.needles.len() as f64;
    repository.needles.iter().enumerate().flat_map(move |(index, needle)| {
        let depths = if config.all_depths { DEPTHS.to_vec() } else { vec![(index as f64 + 0.5) / needles] };
        let mut cases = Vec::new();
        for &size in &config.sizes {
            for &comments in &config.comments {
                for &depth in &depths {
                    cases.push((needle, source.case(needle, size, depth, comments, config)));
                }
            }
        }
        cases
    })
}

/// A repository with what all its cases share.
struct ContextSource<'a> {
    language: Language,
    repository: &'a RepoqaRepository,
    files: Vec<(&'a str, &'a str)>,
    candidates: Vec<CandidateFunction>,
    count: &'a dyn Fn(&str) -> usize,
}

impl ContextSource<'_> {
    fn case(
        &self,
        needle: &RepoqaNeedle,
        size: usize,
        depth: f64,
        comments: ContextComments,
        config: &RepoqaCaseConfig,
    ) -> Result<Case, String> {
        let description = needle
            .description()
            .ok_or_else(|| format!("the function `{}` has no description", needle.name))?;
        let file = self.files.iter().position(|(path, _)| *path == needle.path);
        let file = file.ok_or_else(|| format!("{:?} is not among the dependencies", needle.path))?;
        let request = ContextRequest {
            language: self.language,
            files: &self.files,
            file,
            start: needle.start_byte,
            end: needle.end_byte,
            size,
            position: depth,
            cleaning: cleaning(comments),
        };
        let context = build_context(&request, self.count, config.rules)
            .ok_or_else(|| format!("the function `{}` is not where its offsets say", needle.name))?;
        let (prefix, truth, suffix) = context.parts();
        let mut case = imported_case(CaseParts {
            benchmark: REPOQA,
            id: &format!("{}::{}::{}", self.language.name(), self.repository.repo, needle.name),
            repository: Some(&self.repository.repo),
            task: Task::FindFunction,
            language: self.language,
            block_kind: Some(cases::BlockKind::Function),
            path: &needle.path,
            prefix,
            suffix,
            truth,
            context: Vec::new(),
        })
        .ok_or_else(|| "the context is too long".to_owned())?;
        case.function = Some(Box::new(FunctionQuestion::Find(FindFunction {
            description: description.to_owned(),
            name: needle.name.clone(),
            candidates: self.candidates.clone(),
            depth,
            size,
            tokens_before: context.prefix_tokens,
            tokens_of_function: context.needle_tokens,
            tokens_after: context.suffix_tokens,
            tokenizer: config.tokenizer.clone(),
            comments,
        })));
        case.id = case.compute_id();
        Ok(case)
    }
}

fn cleaning(comments: ContextComments) -> CommentCleaning {
    match comments {
        ContextComments::Kept => CommentCleaning::Keep,
        ContextComments::Padded => CommentCleaning::PadPosition,
        ContextComments::Removed => CommentCleaning::Remove,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repoqa::RepoqaDataset;

    const DATASET: &str = r#"{"python":[{"repo":"r","content":{"a.py":"def f():\n    # one\n    return 1\n","b.py":"x = 1\n\ndef g():\n    return 2\n"},"dependency":{"a.py":["b.py"],"b.py":[]},"needles":[
        {"name":"f","path":"a.py","start_line":0,"end_line":3,"start_byte":0,"end_byte":31,"description":"One."},
        {"name":"g","path":"b.py","start_line":2,"end_line":4,"start_byte":7,"end_byte":28}]}]}"#;

    #[test]
    fn each_function_is_asked_for_in_each_context() {
        let dataset = RepoqaDataset::read(DATASET.as_bytes()).expect("a data set");
        let (_, repository) = dataset.repositories().next().expect("one").expect("usable");
        let config = RepoqaCaseConfig {
            sizes: vec![64, 1024],
            comments: vec![ContextComments::Kept, ContextComments::Removed],
            all_depths: false,
            tokenizer: "bytes".to_owned(),
            rules: ScoringRules::Paper,
        };
        let made: Vec<_> = repoqa_cases(Language::Python, repository, &config, &str::len).collect();
        assert_eq!(made.len(), 8);
        let case = made[2].1.as_ref().expect("a case");
        assert_eq!(case.truth, "def f():\n    # one\n    return 1");
        assert!(case.prefix.contains("# Path: b.py\nx = 1"), "imported files come first: {:?}", case.prefix);
        let question = case.find_function().expect("a question");
        assert_eq!((question.size, question.depth, question.candidates.len()), (1024, 0.25, 2));
        assert_eq!(question.tokens(), case.prefix.len() + case.truth.len() + case.suffix.len());
        let cleaned = made[3].1.as_ref().expect("a case");
        assert!(!cleaned.truth.contains("one") && cleaned.id != case.id);
        assert!(made[4].1.as_ref().expect_err("none").contains("`g` has no description"));
        let depths = RepoqaCaseConfig { all_depths: true, ..config };
        assert_eq!(repoqa_cases(Language::Python, repository, &depths, &str::len).count(), 80);
    }
}
