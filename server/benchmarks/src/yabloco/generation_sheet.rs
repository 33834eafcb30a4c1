//! The tables of generations and their test results.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use scoring::similarity::Similarity;
use serde::{Deserialize, Serialize};
use text::python;

use super::generation::{is_bad_generation, read_generation};
use super::metrics::{GenerationPair, any_of_first_passes, edit_similarity, exact_match};
use super::table::{YablocoFunctions, YablocoTable};
use crate::score_sheet::{RuleDifference, ScoreSheet, ScoreTable, TablePicture};
use crate::{BrokenRow, ScoringRules};
use scoring::pass_at_k::pass_at_k;

/// Numbers of answers for which pass@k is reported.
const KS: [usize; 3] = [1, 5, 10];

/// Name of the row with all functions.
const OVERALL: &str = "overall";

/// A function of the benchmark with its original code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YablocoFunction {
    /// Key, 16 hexadecimal digits.
    pub key: String,
    /// Repository.
    pub repository: String,
    /// Code that the function depends on at most: `none`, `stdlib`, `same_file`, `same_package` or `project`; none if unknown.
    pub category: Option<&'static str>,
    /// Original code with the signature.
    pub code: String,
}

/// Returns the functions of a table whose code the document has, and the keys of the others.
pub fn yabloco_functions(
    table: &YablocoTable,
    functions: &YablocoFunctions,
) -> (Vec<YablocoFunction>, Vec<String>) {
    let mut found = Vec::new();
    let mut without_code = Vec::new();
    for (row, (key, code)) in table.rows.iter().zip(functions.codes(table)) {
        let Some(code) = code else {
            without_code.push(key.to_owned());
            continue;
        };
        found.push(YablocoFunction {
            key: key.to_owned(),
            repository: table.value(row, "repository").unwrap_or_default().to_owned(),
            category: Some(table.category(row)),
            code: code.to_owned(),
        });
    }
    (found, without_code)
}

/// A row of MERA's document: the functions with an oracle context.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct MeraFunction {
    /// Key, 16 hexadecimal digits.
    pub id: String,
    /// Repository.
    pub repo: String,
    /// Signature of the function.
    pub signature: String,
    /// Its documentation.
    pub doc: String,
    /// Functions that it calls.
    pub context: Vec<String>,
    /// Original code with the signature; tests of the public release may lack it.
    #[serde(default)]
    pub code: String,
}

/// The result of a build and its tests: the files `KEY-N-res.json`, and `KEY-N.json` with the generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct YablocoResult {
    /// Whether the repository could be built.
    pub built: Option<bool>,
    /// Whether its tests passed.
    pub passed: Option<bool>,
    /// The code, already extracted.
    pub generated_code: Option<String>,
}

/// The answers of one model: for each function, by number.
#[derive(Clone, Debug, Default)]
pub struct YablocoGenerations {
    answers: HashMap<String, BTreeMap<usize, Answer>>,
}

#[derive(Clone, Debug, Default)]
struct Answer {
    /// The raw answer.
    raw: Option<String>,
    /// The code, if the original has extracted it.
    code: Option<String>,
    passed: Option<bool>,
    built: Option<bool>,
}

impl YablocoGenerations {
    /// Adds a model's table: the key, and the answers in columns `0`, `1`, and so on. An empty value is no answer. Returns the rows
    /// that cannot be used.
    pub fn add_table(&mut self, table: YablocoTable) -> Vec<BrokenRow> {
        let number = |(column, name): (usize, &String)| Some((column, name.parse().ok()?));
        let columns: Vec<(usize, usize)> = table.columns.iter().enumerate().filter_map(number).collect();
        for row in table.rows {
            let answers = self.answers.entry(row.key).or_default();
            for &(column, number) in &columns {
                let raw = row.values.get(column).filter(|value| !value.is_empty());
                answers.entry(number).or_default().raw = raw.cloned();
            }
        }
        table.broken
    }

    /// Adds a list of answers, a raw text each. An empty text is no answer, as in a table.
    pub fn add(&mut self, key: &str, answers: Vec<String>) {
        let known = self.answers.entry(key.to_owned()).or_default();
        for (number, answer) in answers.into_iter().enumerate() {
            known.entry(number).or_default().raw = Some(answer).filter(|text| !text.is_empty());
        }
    }

    /// Adds the result of answer `number`.
    pub fn add_result(&mut self, key: &str, number: usize, result: YablocoResult) {
        let answer = self.answers.entry(key.to_owned()).or_default().entry(number).or_default();
        answer.built = result.built.or(answer.built);
        answer.passed = result.passed.or(answer.passed);
        answer.code = result.generated_code.or(answer.code.take());
    }

    /// Returns the metrics by repository and dependency category.
    ///
    /// [`ScoringRules::Paper`] counts a function without answers as one empty answer that fails, and computes the unbiased pass@k from all
    /// answers to a function. [`ScoringRules::Faithful`] leaves such functions out, and its pass@k is the share of functions of which one
    /// of the first k answers passes. See [`read_generation`] for the differences in reading an answer.
    pub fn sheet(&self, functions: &[YablocoFunction], rules: ScoringRules) -> ScoreSheet {
        let mut sheet = ScoreSheet { cases: functions.len(), ..ScoreSheet::default() };
        let keys: HashSet<&str> = functions.iter().map(|function| function.key.as_str()).collect();
        let mut unknown: Vec<&str> =
            self.answers.keys().map(String::as_str).filter(|key| !keys.contains(key)).collect();
        unknown.sort_unstable();
        unknown.into_iter().for_each(|key| sheet.unknown.add(key));
        let answered: Vec<AnsweredFunction<'_>> =
            functions.par_iter().map(|function| self.answered(function, rules)).collect();
        for answered in &answered {
            sheet.predictions += usize::from(!answered.is_missing);
            if answered.is_missing {
                sheet.missing.add(&answered.function.key);
            }
        }
        sheet.differences = differences(&answered);
        let counted: Vec<&AnsweredFunction<'_>> =
            answered.iter().filter(|it| rules == ScoringRules::Paper || !it.is_missing).collect();
        sheet.tables.push(table("repositories", &counted, rules, |it| Some(&it.function.repository)));
        if counted.iter().any(|it| it.function.category.is_some()) {
            sheet.tables.push(table("dependencies", &counted, rules, |it| it.function.category));
        }
        if counted.iter().any(|it| it.passed.iter().any(Option::is_none)) {
            let note = "some answers have no test result and count as failed in pass@k: name the files `KEY-N-res.json`";
            sheet.notes.push(note.to_owned());
        }
        sheet
    }

    fn answered<'a>(&self, function: &'a YablocoFunction, rules: ScoringRules) -> AnsweredFunction<'a> {
        let answers = self.answers.get(&function.key).filter(|answers| !answers.is_empty());
        let Some(answers) = answers else {
            let (codes, passed) = (vec![String::new()], vec![Some(false)]);
            return AnsweredFunction {
                function,
                codes,
                passed,
                is_missing: true,
                differently_read: 0,
                bad: 0,
            };
        };
        let read = |answer: &Answer, rules| {
            answer.code.clone().unwrap_or_else(|| read_generation(answer.raw.as_deref(), rules))
        };
        let codes: Vec<String> = answers.values().map(|answer| read(answer, rules)).collect();
        let differs = |(answer, code): &(&Answer, &String)| read(answer, rules.other()) != **code;
        AnsweredFunction {
            function,
            differently_read: answers.values().zip(&codes).filter(differs).count(),
            bad: codes.iter().filter(|code| is_bad_generation(code)).count(),
            passed: answers.values().map(|answer| answer.passed).collect(),
            codes,
            is_missing: false,
        }
    }
}

/// A function with its answers in order.
struct AnsweredFunction<'a> {
    function: &'a YablocoFunction,
    codes: Vec<String>,
    passed: Vec<Option<bool>>,
    is_missing: bool,
    differently_read: usize,
    bad: usize,
}

impl AnsweredFunction<'_> {
    fn passes(&self) -> Vec<bool> {
        self.passed.iter().map(|passed| passed.unwrap_or(false)).collect()
    }
}

fn table<'a>(
    name: &str,
    functions: &[&'a AnsweredFunction<'a>],
    rules: ScoringRules,
    group: impl Fn(&'a AnsweredFunction<'a>) -> Option<&'a str>,
) -> ScoreTable {
    let mut groups: BTreeMap<&str, Vec<&AnsweredFunction<'_>>> = BTreeMap::new();
    for &function in functions {
        groups.entry(group(function).unwrap_or("unknown")).or_default().push(function);
    }
    let mut rows: Vec<_> =
        groups.iter().map(|(name, functions)| ((*name).to_owned(), values(functions, rules))).collect();
    rows.push((OVERALL.to_owned(), values(functions, rules)));
    let columns =
        ["em", "es", "es_levenshtein", "pass@1", "pass@5", "pass@10", "bad", "answers", "functions"];
    ScoreTable {
        name: name.to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        picture: TablePicture::None,
    }
}

fn values(functions: &[&AnsweredFunction<'_>], rules: ScoringRules) -> Vec<Option<f64>> {
    let pairs: Vec<GenerationPair<'_>> = functions
        .iter()
        .flat_map(|function| {
            let truth = function.function.code.as_str();
            function.codes.iter().map(move |code| GenerationPair { prediction: code, truth })
        })
        .collect();
    let has_tests = functions.iter().any(|it| !it.is_missing && it.passed.iter().any(Option::is_some));
    let passes: Vec<Vec<bool>> = functions.iter().map(|function| function.passes()).collect();
    let pass_at = KS.map(|k| has_tests.then(|| pass_rate(&passes, k, rules)));
    let bad: usize = functions.iter().map(|function| function.bad).sum();
    let metrics = [
        exact_match(&pairs),
        edit_similarity(&pairs, Similarity::Difflib),
        edit_similarity(&pairs, Similarity::Indel),
    ];
    let counts = [bad, pairs.len(), functions.len()].map(|count| Some(count as f64));
    metrics.into_iter().map(Some).chain(pass_at).chain(counts).collect()
}

/// Returns pass@`k` in percent with two decimals.
fn pass_rate(passes: &[Vec<bool>], k: usize, rules: ScoringRules) -> f64 {
    match rules {
        ScoringRules::Faithful => any_of_first_passes(passes, k),
        ScoringRules::Paper => {
            let estimate = |answers: &Vec<bool>| {
                let passed = answers.iter().filter(|passes| **passes).count();
                // Fewer answers than k tell whether one of them passes.
                pass_at_k(answers.len(), passed, k.min(answers.len()))
            };
            let sum: f64 = passes.iter().map(estimate).sum();
            python::round(100.0 * sum / passes.len().max(1) as f64, 2)
        }
    }
}

fn differences(functions: &[AnsweredFunction<'_>]) -> Vec<RuleDifference> {
    let differs = |function: &&AnsweredFunction<'_>| {
        let passes = [function.passes()];
        KS.iter().any(|&k| {
            pass_rate(&passes, k, ScoringRules::Paper) != pass_rate(&passes, k, ScoringRules::Faithful)
        })
    };
    vec![
        RuleDifference {
            topic: "missing generations",
            paper: "a function without answers counts as one empty answer that fails",
            faithful: "a function without answers is left out",
            affected: functions.iter().filter(|it| it.is_missing).count(),
        },
        RuleDifference {
            topic: "code in an answer",
            paper: "the first fenced block by Markdown's rules, or the whole answer",
            faithful: "the text between backticks; an unclosed block is a hyphen, and code that begins with `c` loses it",
            affected: functions.iter().map(|it| it.differently_read).sum(),
        },
        RuleDifference {
            topic: "pass@k",
            paper: "the unbiased estimate from all answers to a function",
            faithful: "whether one of the first k answers passes",
            affected: functions.iter().filter(differs).count(),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(key: &str) -> YablocoFunction {
        let code = "int f();\n".to_owned();
        YablocoFunction { key: key.to_owned(), repository: "redis".to_owned(), category: Some("none"), code }
    }

    fn overall(sheet: &ScoreSheet) -> &[Option<f64>] {
        &sheet.tables[0].rows.last().expect("a row").1
    }

    #[test]
    fn tables_have_answers_and_results() {
        let mut generations = YablocoGenerations::default();
        let file = "Unnamed: 0,0,1\nA1,```c\nint f();\n```,char f();\nX9,x,\n";
        let quoted = file.replace("```c\nint f();\n```", "\"```c\nint f();\n```\"");
        let table = YablocoTable::read(quoted.as_bytes()).expect("a table");
        assert_eq!(generations.add_table(table), []);
        let passed = |passed| YablocoResult { passed: Some(passed), ..YablocoResult::default() };
        generations.add_result("A1", 0, passed(false));
        generations.add_result("A1", 1, passed(true));
        let functions = [function("A1"), function("B2")];
        let paper = generations.sheet(&functions, ScoringRules::Paper);
        assert_eq!((paper.cases, paper.predictions), (2, 1));
        assert_eq!((paper.missing.first.clone(), paper.unknown.count), (vec!["B2".to_owned()], 1));
        assert_eq!(overall(&paper)[0], Some(100.0 * 0.333));
        assert_eq!(overall(&paper)[3..], [25.0, 50.0, 50.0, 0.0, 3.0, 2.0].map(Some));
        let faithful = generations.sheet(&functions, ScoringRules::Faithful);
        assert_eq!(overall(&faithful)[3..6], [0.0, 100.0, 100.0].map(Some));
        let affected: Vec<usize> = faithful.differences.iter().map(|it| it.affected).collect();
        assert_eq!(affected, [1, 2, 1]);
    }

    #[test]
    fn answers_without_test_results_have_no_pass_rate() {
        let mut generations = YablocoGenerations::default();
        generations.add("A1", vec!["int f();".to_owned()]);
        let sheet = generations.sheet(&[function("A1")], ScoringRules::Paper);
        assert_eq!(overall(&sheet)[3], None);
        assert_eq!(sheet.notes.len(), 1);
    }
}
