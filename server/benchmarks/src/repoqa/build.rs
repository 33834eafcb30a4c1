//! The data set from a repository.
//!
//! Functions are chosen as in the original: names that are unique in the repository, short code, spread evenly over the code in the
//! order of contexts. The description is the function's own documentation, which is then removed from the content, or it is written by
//! a chat model, as in the original; then the content stays as it is.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Value, json};
use syntax::{Language, ModuleLocation, Projects, SourceFile};

use super::dependency_order::dependency_order;
use super::description::{self, Describer};
use super::function_table::{FunctionTable, function_table};
use super::functions::{FileFunction, file_functions};
use super::rows::{RepoqaDataset, RepoqaNeedle, RepoqaRepository};
use crate::left_out::LeftOutCounts;
use crate::ordered_map::OrderedMap;

/// Limit of a function's length in bytes, as in the original.
const MAX_NEEDLE_BYTES: usize = 2000;

/// Parts of a repository of which each has at most one function, as in the original.
const BINS: usize = 64;

/// Options of a data set.
#[derive(Clone, Copy, Debug)]
pub struct RepoqaBuildConfig<'a> {
    /// Name of the repository.
    pub repository: &'a str,
    /// Its commit.
    pub commit: Option<&'a str>,
    /// Functions to ask for in each language; the original has 10.
    pub needles: usize,
}

/// A data set, and the functions left out by reason.
#[derive(Clone, Debug, Default)]
pub struct BuiltRepoqa {
    /// The data set.
    pub dataset: RepoqaDataset,
    /// Functions to ask for.
    pub needles: usize,
    /// Functions by the reason why they are left out.
    pub left_out: LeftOutCounts,
}

/// Builds a data set with a repository for each language of the files. Without a describer, documentation describes the functions.
pub fn build_dataset(
    files: &[SourceFile],
    projects: &Projects,
    config: RepoqaBuildConfig<'_>,
    mut describer: Option<&mut Describer<'_>>,
) -> BuiltRepoqa {
    let mut built = BuiltRepoqa::default();
    for language in Language::ALL {
        let of_language: Vec<&SourceFile> = files.iter().filter(|file| file.language == language).collect();
        if of_language.is_empty() {
            continue;
        }
        let describer = describer.as_deref_mut();
        let repository = build_repository(&of_language, projects, config, describer, &mut built.left_out);
        if !repository.needles.is_empty() {
            built.needles += repository.needles.len();
            built.dataset.push(language.name(), repository);
        }
    }
    built
}

/// Source of the descriptions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Description {
    Documentation,
    Model,
}

/// Sets the description of a function; returns whether there is one.
fn describe(
    candidate: &mut Candidate<'_>,
    describer: &mut Describer<'_>,
    left_out: &mut LeftOutCounts,
) -> bool {
    let FileFunction { name, bytes, .. } = &candidate.function;
    let code = candidate.file.text.get(bytes.clone()).unwrap_or_default();
    match description::describe(candidate.file.language, name, code, describer) {
        Ok(description) => candidate.description = description,
        Err(reason) => left_out.add(reason),
    }
    !candidate.description.is_empty()
}

/// A function that can be asked for.
struct Candidate<'a> {
    file: &'a SourceFile,
    function: FileFunction,
    description: String,
    /// Documentation to remove, whole lines where it has them for itself.
    documentation: Range<usize>,
    /// Bytes before the function in the order of contexts.
    position: usize,
}

fn build_repository(
    files: &[&SourceFile],
    projects: &Projects,
    config: RepoqaBuildConfig<'_>,
    describer: Option<&mut Describer<'_>>,
    left_out: &mut LeftOutCounts,
) -> RepoqaRepository {
    let dependency = dependencies(files, projects);
    let by_path: HashMap<&str, &SourceFile> = files.iter().map(|file| (&*file.path, *file)).collect();
    let order = dependency_order(&dependency);
    let ordered: Vec<&SourceFile> = order.iter().filter_map(|path| by_path.get(path).copied()).collect();
    let source = if describer.is_some() { Description::Model } else { Description::Documentation };
    let mut candidates = spread(candidates(&ordered, source, left_out), &ordered, config.needles, left_out);
    if let Some(describer) = describer {
        candidates.retain_mut(|candidate| describe(candidate, describer, left_out));
    }
    let content: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            let of_file = candidates.iter().filter(|candidate| candidate.file.path == file.path);
            (file.path.to_string(), without(&file.text, of_file.map(|it| it.documentation.clone()).collect()))
        })
        .collect();
    let mut repository = RepoqaRepository {
        repo: config.repository.to_owned(),
        content: OrderedMap(content),
        dependency: OrderedMap(dependency),
        needles: Vec::new(),
        other: OrderedMap(vec![
            ("commit_sha".to_owned(), json!(config.commit)),
            ("entrypoint_path".to_owned(), json!(".")),
            ("topic".to_owned(), Value::Null),
        ]),
    };
    let functions = files.first().map(|file| function_table(file.language, &repository.ordered_files()));
    let functions = functions.unwrap_or_default();
    let in_order_of_files =
        files.iter().flat_map(|file| candidates.iter().filter(|candidate| candidate.file.path == file.path));
    for candidate in in_order_of_files {
        match needle(candidate, &functions) {
            Some(needle) => repository.needles.push(needle),
            None => left_out.add("the code is broken without its documentation"),
        }
    }
    repository.other.0.push(("functions".to_owned(), json!(functions)));
    repository
}

/// Returns the row of a function, whose place is that in the code without documentation.
fn needle(candidate: &Candidate<'_>, functions: &FunctionTable) -> Option<RepoqaNeedle> {
    let path = &*candidate.file.path;
    let (_, of_file) = functions.0.iter().find(|(file, _)| file == path)?;
    let row = of_file.iter().find(|row| row.name == candidate.function.name)?;
    let other = [
        ("global_start_line", json!(row.global_start_line)),
        ("global_end_line", json!(row.global_end_line)),
        ("global_start_byte", json!(row.global_start_byte)),
        ("global_end_byte", json!(row.global_end_byte)),
        ("code_ratio", json!(row.code_ratio)),
        ("description", json!(candidate.description)),
    ];
    Some(RepoqaNeedle {
        name: row.name.clone(),
        path: path.to_owned(),
        start_line: row.start_line,
        end_line: row.end_line,
        start_byte: row.start_byte,
        end_byte: row.end_byte,
        other: OrderedMap(other.map(|(name, value)| (name.to_owned(), value)).to_vec()),
    })
}

/// Returns the functions that can be described, in the order of contexts.
fn candidates<'a>(
    files: &[&'a SourceFile],
    source: Description,
    left_out: &mut LeftOutCounts,
) -> Vec<Candidate<'a>> {
    let mut candidates = Vec::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut position = 0;
    for &file in files {
        let tree = syntax::parse(file.language, &file.text);
        let documented = tree.functions(&file.text);
        for function in file_functions(file.language, &file.text) {
            *names.entry(function.name.clone()).or_default() += 1;
            let whole = documented.iter().find(|whole| {
                whole.range.start <= function.bytes.start
                    && function.bytes.end <= whole.range.end
                    && whole.name.ends_with(&function.name)
                    && whole.signature.end > function.bytes.start
            });
            let documentation = whole.and_then(|whole| whole.docstring.clone());
            let described = match source {
                Description::Documentation => described(file, &function, documentation),
                Description::Model => is_short(&function).map(|()| (String::new(), 0..0)),
            };
            match described {
                Ok((description, documentation)) => candidates.push(Candidate {
                    file,
                    position: position + function.bytes.start,
                    function,
                    description,
                    documentation,
                }),
                Err(reason) => left_out.add(reason),
            }
        }
        position += file.text.len();
    }
    candidates.retain(|candidate| {
        let is_unique = names.get(&candidate.function.name) == Some(&1);
        if !is_unique {
            left_out.add("another function has the same name");
        }
        is_unique
    });
    candidates
}

fn is_short(function: &FileFunction) -> Result<(), &'static str> {
    if function.bytes.len() > MAX_NEEDLE_BYTES { Err("longer than 2000 bytes") } else { Ok(()) }
}

/// Returns the description of a function and the range of its documentation.
fn described(
    file: &SourceFile,
    function: &FileFunction,
    documentation: Option<Range<usize>>,
) -> Result<(String, Range<usize>), &'static str> {
    let range = documentation.ok_or("no documentation")?;
    is_short(function)?;
    let text = plain_text(file.text.get(range.clone()).unwrap_or_default());
    let description = without_leading_name(&text, &function.name).to_owned();
    if description.split_whitespace().count() < description::MIN_WORDS {
        return Err("the documentation has fewer than 5 words");
    }
    if description.len() > description::MAX_BYTES {
        return Err("the documentation has more than 2000 bytes");
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if description.split(|c| !is_word(c)).any(|word| word.eq_ignore_ascii_case(&function.name)) {
        return Err("the documentation names the function");
    }
    Ok((description, whole_lines(&file.text, range)))
}

/// Returns a documentation without the name of its function at the beginning, where Go requires it: `Area returns ...`.
fn without_leading_name<'d>(documentation: &'d str, name: &str) -> &'d str {
    match documentation.strip_prefix(name) {
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => documentation,
    }
}

/// Returns the text of a comment or docstring without its signs, on one line for each of its lines.
fn plain_text(documentation: &str) -> String {
    let signs = |c: char| matches!(c, '/' | '*' | '!' | '#' | '"' | '\'' | '<' | '>') || c.is_whitespace();
    let lines = documentation.lines().map(|line| {
        let start = line.trim_start_matches(signs);
        start.trim_end_matches(|c: char| matches!(c, '*' | '/' | '"' | '\'') || c.is_whitespace())
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Extends a range to its whole lines if they have nothing else.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |feed| feed + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |feed| range.end + feed + 1);
    let is_alone = text[start..range.start].trim().is_empty() && text[range.end..end].trim().is_empty();
    if is_alone { start..end } else { range }
}

fn without(text: &str, mut removed: Vec<Range<usize>>) -> String {
    removed.sort_by_key(|range| range.start);
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in removed {
        if from <= range.start {
            kept.push_str(&text[from..range.start]);
            from = range.end;
        }
    }
    kept + &text[from..]
}

/// Takes the first function of each part of the code, and of these `count` at equal distances.
fn spread<'a>(
    candidates: Vec<Candidate<'a>>,
    files: &[&SourceFile],
    count: usize,
    left_out: &mut LeftOutCounts,
) -> Vec<Candidate<'a>> {
    let size: usize = files.iter().map(|file| file.text.len()).sum();
    let bin = |position: usize| position * BINS / size.max(1);
    let mut first_of_bins: Vec<Candidate<'a>> = Vec::new();
    for candidate in candidates {
        match first_of_bins.last() {
            Some(last) if bin(last.position) == bin(candidate.position) => {
                left_out.add("another function of the same part of the code is asked for");
            }
            _ => first_of_bins.push(candidate),
        }
    }
    let found = first_of_bins.len();
    let kept = |index: usize| found <= count || (index * count) / found != ((index + 1) * count) / found;
    let mut chosen = Vec::new();
    for (index, candidate) in first_of_bins.into_iter().enumerate() {
        if kept(index) {
            chosen.push(candidate);
        } else {
            left_out.add("enough functions");
        }
    }
    chosen
}

/// Returns the files that each file imports, in the order of the files.
fn dependencies(files: &[&SourceFile], projects: &Projects) -> Vec<(String, Vec<String>)> {
    let paths: Vec<&str> = files.iter().map(|file| &*file.path).collect();
    let imported = |file: &SourceFile| {
        let outline = syntax::parse(file.language, &file.text).outline(&file.text);
        let mut imported: Vec<String> = Vec::new();
        for import in &outline.imports {
            for target in file.language.import_targets(&file.path, &import.module, projects) {
                let found = located(&paths, &target.place).filter(|path| *path != &*file.path);
                for path in found {
                    if !imported.iter().any(|known| known == path) {
                        imported.push(path.to_owned());
                    }
                }
            }
        }
        imported
    };
    files.iter().map(|file| (file.path.to_string(), imported(file))).collect()
}

/// Returns the files at a place.
fn located<'p>(paths: &'p [&'p str], place: &'p ModuleLocation) -> impl Iterator<Item = &'p str> {
    let ends_with = |path: &str, ending: &str| {
        path.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let is_at = move |path: &&&str| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match place {
            ModuleLocation::File(file) => **path == &**file,
            ModuleLocation::FileEnding(ending) => ends_with(path, ending),
            ModuleLocation::Folder(at) => folder == &**at,
            ModuleLocation::FolderEnding(ending) => ends_with(folder, ending),
            ModuleLocation::Namespace(name) => {
                let stem = path.rsplit_once('.').map_or(**path, |(stem, _)| stem);
                ends_with(stem, &name.replace('.', "/"))
            }
        }
    };
    paths.iter().filter(is_at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            language: Language::from_path(path).expect("code"),
            text: text.into(),
        }
    }

    fn build(files: &[SourceFile]) -> BuiltRepoqa {
        let config = RepoqaBuildConfig { repository: "o/r", commit: Some("c0"), needles: 10 };
        build_dataset(files, &Projects::default(), config, None)
    }

    #[test]
    fn a_name_at_the_beginning_of_the_documentation_is_removed() {
        let code = "package a\n\n// Area returns the size of a disc.\nfunc Area(r int) int {\n\treturn r * r\n}\n\n// Sum is what Sum returns for it.\nfunc Sum(r int) int {\n\treturn r\n}\n";
        let built = build(&[file("a.go", code)]);
        let (_, repository) = built.dataset.repositories().next().expect("one").expect("usable");
        let described: Vec<_> = repository.needles.iter().map(|needle| needle.description()).collect();
        assert_eq!(described, [Some("returns the size of a disc.")]);
        assert_eq!(built.left_out.0["the documentation names the function"], 1);
    }

    #[test]
    fn a_model_describes_functions_without_documentation() {
        let code = "def area(r):\n    return r * r\n\n\ndef leaks(r):\n    return r\n";
        let config = RepoqaBuildConfig { repository: "o/r", commit: None, needles: 10 };
        let mut describer = |prompt: &str| {
            let leaks = prompt.contains("def leaks");
            Some(if leaks { "This leaks its own name." } else { "It sizes a square with a side." }.to_owned())
        };
        let files = [file("a.py", code)];
        let built = build_dataset(&files, &Projects::default(), config, Some(&mut describer));
        let (_, repository) = built.dataset.repositories().next().expect("one").expect("usable");
        let described: Vec<_> =
            repository.needles.iter().map(|it| (it.name.as_str(), it.description())).collect();
        assert_eq!(described, [("area", Some("It sizes a square with a side."))]);
        assert_eq!(repository.content.0[0].1, code, "nothing is removed");
        assert_eq!(built.left_out.0["the engine's description names the function or something in it"], 1);
    }

    #[test]
    fn descriptions_are_removed_from_the_content() {
        let code = "import b\n\ndef area(r):\n    \"\"\"Compute the size of a disc.\"\"\"\n    return r * r\n\n\ndef leak():\n    \"\"\"Here leak is named, so it is out.\"\"\"\n    return 1\n\n\ndef bare():\n    return 2\n";
        let built = build(&[file("a.py", code), file("b.py", "x = 1\n")]);
        let mut written = Vec::new();
        built.dataset.write(&mut written).expect("written");
        let dataset = RepoqaDataset::read(written.as_slice()).expect("a data set that can be read");
        let (language, repository) = dataset.repositories().next().expect("one").expect("usable");
        assert_eq!((language, repository.needles.len()), ("python", 1));
        let needle = &repository.needles[0];
        assert_eq!(needle.description(), Some("Compute the size of a disc."));
        assert_eq!(repository.needle_code(needle).as_deref(), Some("def area(r):\n    return r * r"));
        assert_eq!(repository.ordered_files()[0].0, "b.py");
        assert!(!repository.content.0[0].1.contains("size of a disc"));
        let reasons: Vec<_> = built.left_out.0.keys().copied().collect();
        assert_eq!(reasons, ["no documentation", "the documentation names the function"]);
    }

    #[test]
    fn functions_are_spread_over_the_code() {
        let function = |n: usize| {
            format!(
                "def f{n}(a):\n    \"\"\"Return the number that is {n} more.\"\"\"\n    return a + {n}\n\n\n"
            )
        };
        let code: String = (0..200).map(function).collect();
        let built = build(&[file("a.py", &code)]);
        let (_, repository) = built.dataset.repositories().next().expect("one").expect("usable");
        let numbers: Vec<usize> =
            repository.needles.iter().map(|needle| needle.name[1..].parse().expect("a number")).collect();
        assert_eq!(numbers.len(), 10);
        assert!(numbers.windows(2).all(|pair| (10..35).contains(&(pair[1] - pair[0]))), "{numbers:?}");
        assert_eq!(built.left_out.0.values().sum::<usize>(), 190);
    }
}
