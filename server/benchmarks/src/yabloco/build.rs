//! The benchmark from a repository: its call graph, and the original's rules of selection.
//!
//! ```text
//! files --functions, uses--> definitions and calls by name --rules--> candidates by dependency --evenly--> table, code, oracle context
//! ```
//!
//! The original takes the functions that tests cover, newest and best covered first. The coverage is not known here: functions whose
//! file was committed last come first, then those with the lower key.
//!
//! Calls that the index of clangd knows have its targets. The others are resolved by name, nearest file first. A function with internal
//! linkage (`static`) is called from its own file only, or through a header. With a compilation database, files that are not compiled
//! have no part, and a function in a header is called only from files that include it.

mod includes;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use syntax::{Function, Language, SourceFile};

use self::includes::Includes;
use super::clangd_index::{ClangdIndex, IndexedTarget};
use super::compile_commands::CompileCommands;
use super::function_text;
use super::generation_sheet::MeraFunction;
use super::standard_library::is_in_standard_library;
use super::table::{YablocoFunctions, YablocoRow, YablocoTable};
use crate::left_out::LeftOutCounts;

/// Common words that near duplicates have at least, as in the original.
const MIN_COMMON_WORDS: usize = 5;

/// Limit of the calls in a function, as in the original.
const MAX_CALLS: usize = 7;

/// Lines of a body, as in the original.
const BODY_LINES: std::ops::RangeInclusive<usize> = 2..=15;

/// Words that a description has at least, as in the original.
const MIN_WORDS: usize = 4;

/// Similarity at which two functions are near duplicates, as in the original.
const DUPLICATE_BLEU: f64 = 0.2;

/// Functions of one name that are looked at to resolve a call: overloads and methods of many types share names.
const MAX_DEFINITIONS: usize = 64;

/// Dependency categories from narrow to wide.
const CATEGORIES: [&str; 5] = ["none", "stdlib", "same_file", "same_package", "project"];

/// Columns of the table, as in the original.
const COLUMNS: [&str; 16] = [
    "Unnamed: 0",
    "fname",
    "file",
    "doc",
    "calls_num",
    "dep_num",
    "same_file",
    "same_package",
    "project",
    "stdlib",
    "external_binaries",
    "code_length",
    "pos",
    "last_commit",
    "test_cov_hits",
    "repository",
];

/// Times of the last commits of files, in seconds since 1970, by path.
pub type LastCommits = HashMap<String, i64>;

/// Options of a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct YablocoBuildConfig<'a> {
    /// Name of the repository.
    pub repository: &'a str,
    /// Functions of each dependency category; the original has 14.
    pub functions: usize,
    /// Times of the last commits, as far as they are known.
    pub last_commits: &'a LastCommits,
    /// The compilation database, if there is one.
    pub compile_commands: Option<&'a CompileCommands>,
    /// The index of clangd, if there is one.
    pub clangd_index: Option<&'a ClangdIndex>,
}

/// A benchmark, and the functions left out by reason.
#[derive(Clone, Debug, Default)]
pub struct BuiltYabloco {
    /// The table.
    pub table: YablocoTable,
    /// The code of its functions and of those that they call.
    pub functions: YablocoFunctions,
    /// The same as MERA's rows, with the oracle context.
    pub mera: Vec<MeraFunction>,
    /// Functions by dependency category.
    pub categories: BTreeMap<&'static str, usize>,
    /// Calls of the documented functions that the index of clangd resolved.
    pub indexed_calls: usize,
    /// Functions by the reason why they are left out.
    pub left_out: LeftOutCounts,
}

impl BuiltYabloco {
    /// Leaves out the functions with other keys.
    pub fn keep_only(&mut self, keys: &BTreeSet<&str>) {
        self.table.rows.retain(|row| keys.contains(row.key.as_str()));
        self.functions.keep_only(keys);
        self.mera.retain(|function| keys.contains(function.id.as_str()));
        self.categories.clear();
        for row in &self.table.rows {
            *self.categories.entry(self.table.category(row)).or_default() += 1;
        }
    }
}

/// A function of the repository.
struct Definition<'a> {
    file: &'a SourceFile,
    function: Function,
    /// Names that it calls, without repeats, in order, each at its first use.
    calls: Vec<CalledName<'a>>,
    /// 0-based lines from the beginning to the end of the signature.
    signature_lines: std::ops::RangeInclusive<usize>,
    /// 1-based line.
    pos: usize,
    /// Lines after the first.
    length: usize,
    key: String,
    /// Whether other files cannot call it by its name, unless they include its file.
    is_internal: bool,
}

/// A name that is called.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CalledName<'a> {
    name: &'a str,
    /// 0-based line.
    line: usize,
    /// 0-based column in UTF-16 units.
    column: usize,
}

impl Definition<'_> {
    fn code(&self) -> String {
        function_text(&self.file.text, self.pos - 1, self.length)
    }

    /// Returns the name without qualifiers.
    fn short_name(&self) -> &str {
        short_name(&self.function.name)
    }
}

fn short_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Builds the benchmark from the functions of the files.
pub fn build_functions(files: &[SourceFile], config: YablocoBuildConfig<'_>) -> BuiltYabloco {
    let mut built = BuiltYabloco::default();
    let mut definitions: Vec<Definition<'_>> = files.par_iter().flat_map_iter(definitions).collect();
    let includes = config.compile_commands.map(|commands| Includes::new(files, commands));
    if let Some(commands) = config.compile_commands {
        definitions.retain(|definition| {
            let path = &definition.file.path;
            let is_used = is_header(path) || !is_c(definition) || commands.compiles(path);
            if !is_used {
                built.left_out.add("the file is not compiled");
            }
            is_used
        });
    }
    let mut by_name: HashMap<&str, Vec<&Definition<'_>>> = HashMap::new();
    for definition in &definitions {
        by_name.entry(definition.short_name()).or_default().push(definition);
    }
    built.table.columns = COLUMNS.map(str::to_owned).to_vec();
    let resolver = CallResolver { by_name, includes, index: config.clangd_index };
    let mut candidates: BTreeMap<usize, Vec<(&Definition<'_>, String, CallTargets<'_>)>> = BTreeMap::new();
    for definition in &definitions {
        match description(definition) {
            Ok(doc) => {
                let targets = resolver.resolve(definition);
                built.indexed_calls += targets.indexed;
                candidates.entry(targets.category()).or_default().push((definition, doc, targets));
            }
            Err(reason) => built.left_out.add(reason),
        }
    }
    let mut chosen_words: Vec<Vec<String>> = Vec::new();
    let mut keys = HashSet::new();
    for (category, mut functions) in candidates {
        // Files without a known commit are last.
        let committed = |one: &Definition<'_>| config.last_commits.get(&*one.file.path).copied();
        functions.sort_by(|(one, ..), (other, ..)| {
            committed(other).cmp(&committed(one)).then_with(|| one.key.cmp(&other.key))
        });
        let mut count = 0;
        for (definition, doc, targets) in functions {
            if count == config.functions {
                built.left_out.add("enough functions of the category");
                continue;
            }
            let words = words(&format!("{} {doc} {}", definition.function.name, definition.code()));
            if chosen_words.iter().any(|chosen| is_near_duplicate(chosen, &words)) {
                built.left_out.add("a near duplicate of another function");
                continue;
            }
            if !keys.insert(definition.key.clone()) {
                continue;
            }
            chosen_words.push(words);
            count += 1;
            let last_commit = committed(definition).map(date).unwrap_or_default();
            built.add(definition, doc, &targets, config.repository, last_commit);
        }
        built.categories.insert(CATEGORIES[category], count);
    }
    built
}

impl BuiltYabloco {
    fn add(
        &mut self,
        definition: &Definition<'_>,
        doc: String,
        targets: &CallTargets<'_>,
        repository: &str,
        last_commit: String,
    ) {
        let Definition { file, function, pos, length, key, .. } = definition;
        let counts = targets.counts();
        let number = |value: usize| value.to_string();
        let values = vec![
            key.clone(),
            function.name.clone(),
            format!("{repository}/{}", file.path),
            doc.clone(),
            number(definition.calls.len()),
            number(counts.iter().sum()),
            number(counts[2]),
            number(counts[3]),
            number(counts[4]),
            number(counts[1]),
            number(0),
            number(*length),
            number(*pos),
            last_commit,
            String::new(),
            repository.to_owned(),
        ];
        let line = self.table.rows.len() + 2;
        self.table.rows.push(YablocoRow { line, key: key.clone(), values });
        let mut code = Map::new();
        code.insert("calls".to_owned(), targets.calls.iter().map(|call| call.json(repository)).collect());
        code.insert("code".to_owned(), definition.code().into());
        self.functions.push(key, Value::Object(code));
        let signature = file.text.get(function.signature.clone()).unwrap_or_default();
        self.mera.push(MeraFunction {
            id: key.clone(),
            repo: repository.to_owned(),
            signature: signature.trim_end().trim_end_matches('{').trim_end().to_owned(),
            doc,
            context: targets.calls.iter().filter_map(|call| Some(call.definition?.code())).collect(),
            code: definition.code(),
        });
    }
}

/// Returns the functions with a body of a file.
fn definitions(file: &SourceFile) -> Vec<Definition<'_>> {
    let tree = syntax::parse(file.language, &file.text);
    let uses = tree.uses(&file.text);
    let line_starts: Vec<usize> =
        std::iter::once(0).chain(file.text.match_indices('\n').map(|(feed, _)| feed + 1)).collect();
    let line_at = |offset: usize| line_starts.partition_point(|&start| start <= offset) - 1;
    let functions = tree.functions(&file.text).into_iter().filter_map(|function| {
        let body = function.body.clone()?;
        let first = uses.partition_point(|one| one.name.start < body.start);
        let inside = uses[first..].iter().take_while(|one| one.name.end <= body.end);
        let text = &file.text;
        let mut calls: Vec<CalledName<'_>> = Vec::new();
        for one in inside {
            let is_call = text[one.name.end..].trim_start().starts_with('(');
            let name = short_name(&text[one.name.clone()]);
            if is_call && !calls.iter().any(|call| call.name == name) {
                let start = one.name.end - name.len();
                let line = line_at(start);
                let column = text[line_starts[line]..start].encode_utf16().count();
                calls.push(CalledName { name, line, column });
            }
        }
        let pos = line_at(function.range.start) + 1;
        let signature_lines = line_at(function.signature.start)..=line_at(function.signature.end);
        let length = text[function.range.clone()].matches('\n').count();
        let key = key(&[&file.path, &function.name, &pos.to_string()]);
        let is_internal = is_static(file, &function);
        Some(Definition { file, function, calls, signature_lines, pos, length, key, is_internal })
    });
    functions.collect()
}

/// Whether a function of C or C++ is `static` outside of a class.
fn is_static(file: &SourceFile, function: &Function) -> bool {
    let signature = file.text.get(function.signature.clone()).unwrap_or_default();
    let before_name = signature.split('(').next().unwrap_or_default();
    matches!(file.language, Language::C | Language::Cpp)
        && before_name.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "static")
}

fn is_c(definition: &Definition<'_>) -> bool {
    matches!(definition.file.language, Language::C | Language::Cpp)
}

/// Whether a file is read by files that include it.
fn is_header(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| {
        matches!(
            ending.to_ascii_lowercase().as_str(),
            "h" | "hh" | "hpp" | "hxx" | "inc" | "inl" | "ipp" | "tcc"
        )
    })
}

/// Returns a date in the original's form, such as `24.09.2018`, in UTC.
fn date(seconds: i64) -> String {
    // Days since 1970 to a date of the Gregorian calendar: eras of 400 years begin on a first of March.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{day:02}.{month:02}.{year:04}")
}

/// Whether a call in one function can reach another one, as far as the linkage tells.
fn is_callable(from: &Definition<'_>, to: &Definition<'_>, includes: Option<&Includes<'_>>) -> bool {
    if from.file.path == to.file.path || !is_c(to) {
        return true;
    }
    match (is_header(&to.file.path), includes) {
        (true, Some(includes)) => includes.reaches(&from.file.path, &to.file.path),
        (true, None) => true,
        (false, _) => !to.is_internal,
    }
}

/// Returns 16 hexadecimal digits for a function (FNV-1a).
fn key(parts: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016X}")
}

/// Returns a function's description, or the rule that leaves it out.
fn description(definition: &Definition<'_>) -> Result<String, &'static str> {
    let Definition { file, function, calls, .. } = definition;
    let text = &file.text;
    let range = function.docstring.clone().ok_or("no documentation")?;
    if file.path.contains("test") || function.name.contains("test") || function.name.is_empty() {
        return Err("a test or without a name");
    }
    let doc = plain_text(text.get(range).unwrap_or_default());
    if doc.split_whitespace().count() < MIN_WORDS {
        return Err("the documentation has fewer than 4 words");
    }
    let has_code = doc.contains('{') && doc.contains('}') && doc.contains('(');
    if doc.contains("Copyright") || doc.contains("====") || has_code {
        return Err("the documentation has code, a licence or a rule");
    }
    let body = function.body.clone().and_then(|body| text.get(body)).unwrap_or_default();
    if !BODY_LINES.contains(&body.trim().split('\n').count()) {
        return Err("the body has not 2 to 15 lines");
    }
    if calls.len() > MAX_CALLS {
        return Err("more than 7 calls");
    }
    Ok(doc)
}

/// Returns the text of a comment without its signs.
fn plain_text(comment: &str) -> String {
    let is_sign = |c: char| matches!(c, '/' | '*' | '!' | '#' | '<') || c.is_whitespace();
    let lines = comment.lines().map(|line| {
        line.trim_start_matches(is_sign)
            .trim_end_matches(|c: char| matches!(c, '*' | '/') || c.is_whitespace())
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A call with its target.
struct Call<'a> {
    name: &'a str,
    /// The function in the repository; none in the standard library.
    definition: Option<&'a Definition<'a>>,
    /// Index of its category.
    category: usize,
}

impl Call<'_> {
    fn json(&self, repository: &str) -> Value {
        let Some(definition) = self.definition else {
            return json!({ "id": key(&[self.name]), "name": self.name, "path": "" });
        };
        let range = &definition.function.range;
        let place = |offset: usize| {
            let before = &definition.file.text[..offset];
            let line = before.matches('\n').count() + 1;
            json!({ "line": line, "col": before.len() - before.rfind('\n').map_or(0, |feed| feed + 1) + 1 })
        };
        json!({
            "id": definition.key,
            "name": definition.function.name,
            "path": format!("{repository}/{}", definition.file.path),
            "start": place(range.start),
            "end": place(range.end),
            "code": definition.code(),
        })
    }
}

/// The targets of a function's calls that are known.
struct CallTargets<'a> {
    calls: Vec<Call<'a>>,
    /// Number of calls that the index of clangd knows.
    indexed: usize,
}

/// Finds the targets of calls.
struct CallResolver<'a> {
    by_name: HashMap<&'a str, Vec<&'a Definition<'a>>>,
    includes: Option<Includes<'a>>,
    index: Option<&'a ClangdIndex>,
}

impl<'a> CallResolver<'a> {
    fn resolve(&self, definition: &'a Definition<'a>) -> CallTargets<'a> {
        let mut targets = CallTargets { calls: Vec::new(), indexed: 0 };
        for &call in &definition.calls {
            let known = self.index.map(|index| index.target(&definition.file.path, call.line, call.column));
            let target = match known {
                None | Some(IndexedTarget::Unknown) => self.by_name(definition, call.name),
                Some(IndexedTarget::Outside) => None,
                Some(IndexedTarget::Definition(path, line)) => self.at(call.name, path, line),
            };
            targets.indexed += usize::from(known.is_some_and(|known| known != IndexedTarget::Unknown));
            match target.filter(|target| target.key != definition.key) {
                Some(target) => targets.calls.push(Call {
                    name: call.name,
                    definition: Some(target),
                    category: category(definition, target),
                }),
                None if is_in_standard_library(definition.file.language, call.name) => {
                    targets.calls.push(Call { name: call.name, definition: None, category: 1 });
                }
                None => {}
            }
        }
        targets
    }

    /// Returns the nearest function of a name that can be called.
    fn by_name(&self, definition: &Definition<'_>, name: &str) -> Option<&'a Definition<'a>> {
        let others = self.by_name.get(name).into_iter().flatten().take(MAX_DEFINITIONS);
        others
            .filter(|other| other.key != definition.key)
            .filter(|other| other.file.language.family() == definition.file.language.family())
            .filter(|other| is_callable(definition, other, self.includes.as_ref()))
            .min_by_key(|other| (category(definition, other), other.file.path.clone(), other.pos))
            .copied()
    }

    /// Returns the function of a name that is defined on a line of a file.
    fn at(&self, name: &str, path: &str, line: usize) -> Option<&'a Definition<'a>> {
        let mut others = self.by_name.get(name).into_iter().flatten();
        others.find(|other| &*other.file.path == path && other.signature_lines.contains(&line)).copied()
    }
}

impl CallTargets<'_> {
    /// Returns the number of calls of each category.
    fn counts(&self) -> [usize; CATEGORIES.len()] {
        let mut counts = [0; CATEGORIES.len()];
        self.calls.iter().for_each(|call| counts[call.category] += 1);
        counts
    }

    /// Returns the widest category.
    fn category(&self) -> usize {
        self.calls.iter().map(|call| call.category).max().unwrap_or(0)
    }
}

/// Returns the category of a call between two functions: same file, same folder, or elsewhere.
fn category(from: &Definition<'_>, to: &Definition<'_>) -> usize {
    let folder = |definition: &Definition<'_>| {
        let path = &definition.file.path;
        path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
    };
    if from.file.path == to.file.path {
        2
    } else if folder(from) == folder(to) {
        3
    } else {
        4
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_near_duplicate(one: &[String], other: &[String]) -> bool {
    let words: HashSet<&String> = one.iter().collect();
    let common: HashSet<&String> = other.iter().filter(|word| words.contains(word)).collect();
    common.len() >= MIN_COMMON_WORDS && bleu_2(one, other) >= DUPLICATE_BLEU
}

/// Returns the BLEU score with unigrams and bigrams, without smoothing.
fn bleu_2(reference: &[String], hypothesis: &[String]) -> f64 {
    let precision = |n: usize| {
        let mut left: HashMap<&[String], usize> = HashMap::new();
        reference.windows(n).for_each(|gram| *left.entry(gram).or_default() += 1);
        let matches = hypothesis.windows(n).filter(|gram| match left.get_mut(gram) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        });
        matches.count() as f64 / hypothesis.windows(n).count().max(1) as f64
    };
    if hypothesis.is_empty() {
        return 0.0;
    }
    let brevity = (1.0 - reference.len() as f64 / hypothesis.len() as f64).min(0.0).exp();
    brevity * (precision(1) * precision(2)).sqrt()
}

#[cfg(test)]
mod tests;
