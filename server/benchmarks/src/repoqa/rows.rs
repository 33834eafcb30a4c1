//! The data set, one JSON document, and the rows of output files.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

use super::dataset_reader::{LIMITS, read_languages};
use super::dependency_order::dependency_order;
use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;
use crate::row_reader::{BenchmarkItem, check_path};

/// The data set cannot be read.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The file cannot be read, or is too long.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The document has another form.
    #[error(transparent)]
    Parse(#[from] cases::ParseError),
}

/// A repository, or one of its functions, that cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{language}, repository {number}: {reason}")]
pub struct BrokenRepository {
    /// Language that lists it.
    pub language: String,
    /// Its number in the list, from 1.
    pub number: usize,
    /// Description of the problem.
    pub reason: String,
}

/// The data set: repositories by language. Writing it as JSON keeps unknown fields, broken repositories and the order of files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RepoqaDataset {
    languages: OrderedMap<Vec<RepoqaEntry>>,
}

/// An entry of the list of repositories.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RepoqaEntry {
    Repository(Box<RepoqaRepository>),
    /// Some of its functions cannot be used.
    Partial(Box<PartialRepository>),
    /// As written, with the problem.
    Broken(JsonText, String),
}

/// A repository without its broken functions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartialRepository {
    repository: RepoqaRepository,
    /// As written.
    text: JsonText,
    /// Problems of functions.
    broken: Vec<String>,
}

impl<'de> Deserialize<'de> for RepoqaEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RepoqaEntry, D::Error> {
        let text = JsonText::deserialize(deserializer)?;
        Ok(match RepoqaRepository::parse(&text) {
            Ok((repository, broken)) if broken.is_empty() => RepoqaEntry::Repository(Box::new(repository)),
            Ok((repository, broken)) => {
                RepoqaEntry::Partial(Box::new(PartialRepository { repository, text, broken }))
            }
            Err(reason) => RepoqaEntry::Broken(text, reason),
        })
    }
}

impl Serialize for RepoqaEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RepoqaEntry::Repository(repository) => repository.serialize(serializer),
            RepoqaEntry::Partial(partial) => partial.text.serialize(serializer),
            RepoqaEntry::Broken(text, _) => text.serialize(serializer),
        }
    }
}

impl RepoqaEntry {
    fn repository(&self) -> Result<&RepoqaRepository, String> {
        match self {
            RepoqaEntry::Repository(repository) => Ok(repository),
            RepoqaEntry::Partial(partial) => Ok(&partial.repository),
            RepoqaEntry::Broken(_, reason) => Err(reason.clone()),
        }
    }

    fn mask(&mut self, mask: &dyn Fn(&str) -> String) {
        let mask_text = |text: &mut JsonText| {
            if let Some(masked) = JsonText::new(mask(text.text())) {
                *text = masked;
            }
        };
        match self {
            RepoqaEntry::Repository(repository) => repository.mask(mask),
            RepoqaEntry::Partial(partial) => {
                partial.repository.mask(mask);
                mask_text(&mut partial.text);
            }
            RepoqaEntry::Broken(text, _) => mask_text(text),
        }
    }

    /// Sets a repository apart in which bytes were replaced because they are not UTF-8.
    fn refuse_replaced_bytes(&mut self) {
        let Ok(text) = serde_json::to_string(self) else { return };
        if text.contains(char::REPLACEMENT_CHARACTER)
            && let Some(text) = JsonText::new(text)
        {
            *self = RepoqaEntry::Broken(text, "not UTF-8; convert the file to UTF-8".to_owned());
        }
    }
}

impl RepoqaDataset {
    /// Reads a data set of plain text. Repositories with bytes that are not UTF-8 are set apart.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or is no JSON object of lists.
    pub fn read(file: impl Read) -> Result<RepoqaDataset, DatasetError> {
        let (mut languages, has_replaced) = read_languages(file, LIMITS)?;
        if has_replaced {
            let entries = languages.iter_mut().flat_map(|(_, entries)| entries);
            entries.for_each(RepoqaEntry::refuse_replaced_bytes);
        }
        Ok(RepoqaDataset { languages: OrderedMap(languages) })
    }

    /// Adds a repository to a language's list.
    pub fn push(&mut self, language: &str, repository: RepoqaRepository) {
        let entry = RepoqaEntry::Repository(Box::new(repository));
        match self.languages.0.iter_mut().find(|(name, _)| name == language) {
            Some((_, entries)) => entries.push(entry),
            None => self.languages.0.push((language.to_owned(), vec![entry])),
        }
    }

    /// Adds the repositories of another data set.
    pub fn extend(&mut self, other: RepoqaDataset) {
        for (language, entries) in other.languages.0 {
            match self.languages.0.iter_mut().find(|(name, _)| *name == language) {
                Some((_, known)) => known.extend(entries),
                None => self.languages.0.push((language, entries)),
            }
        }
    }

    /// Replaces every text of code and description by what `mask` returns for it, which must have the same length.
    pub fn mask(&mut self, mask: &dyn Fn(&str) -> String) {
        let entries = self.languages.0.iter_mut().flat_map(|(_, entries)| entries);
        entries.for_each(|entry| entry.mask(mask));
    }

    /// Whether the data set has this function.
    pub fn has_function(&self, language: &str, repo: &str, name: &str) -> bool {
        self.repositories().filter_map(Result::ok).any(|(of, repository)| {
            of == language
                && repository.repo == repo
                && repository.needles.iter().any(|needle| needle.name == name)
        })
    }

    /// Writes the data set as one line of JSON.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, self)?)
    }

    fn entries(&self) -> impl Iterator<Item = (&str, usize, &RepoqaEntry)> {
        self.languages.0.iter().flat_map(|(language, entries)| {
            entries.iter().enumerate().map(move |(index, entry)| (language.as_str(), index + 1, entry))
        })
    }

    /// Returns the name of each repository's language with the repository, without functions that cannot be used, or with the reason
    /// why it cannot be used.
    pub fn repositories(&self) -> impl Iterator<Item = Result<(&str, &RepoqaRepository), BrokenRepository>> {
        self.entries().map(|(language, number, entry)| {
            let repository = entry.repository().map(|repository| (language, repository));
            repository.map_err(|reason| BrokenRepository { language: language.to_owned(), number, reason })
        })
    }

    /// Returns the functions that cannot be used, in otherwise usable repositories.
    pub fn broken_functions(&self) -> impl Iterator<Item = BrokenRepository> {
        self.entries().flat_map(|(language, number, entry)| {
            let broken = match entry {
                RepoqaEntry::Partial(partial) => partial.broken.as_slice(),
                RepoqaEntry::Repository(_) | RepoqaEntry::Broken(..) => &[],
            };
            let problem = move |reason: &String| BrokenRepository {
                language: language.to_owned(),
                number,
                reason: reason.clone(),
            };
            broken.iter().map(problem)
        })
    }
}

/// A repository of the data set.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct RepoqaRepository {
    /// Name with its owner.
    pub repo: String,
    /// Texts by path.
    pub content: OrderedMap<String>,
    /// Imported files by path.
    pub dependency: OrderedMap<Vec<String>>,
    /// Functions to find.
    pub needles: Vec<RepoqaNeedle>,
    /// All other fields.
    #[serde(flatten)]
    pub other: OrderedMap<Value>,
}

/// A function to find.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct RepoqaNeedle {
    /// Name, unique in the repository.
    pub name: String,
    /// File.
    pub path: String,
    /// First line, 0-based.
    pub start_line: usize,
    /// Line after the last one.
    pub end_line: usize,
    /// Start in the file, in bytes.
    pub start_byte: usize,
    /// End in the file, in bytes.
    pub end_byte: usize,
    /// All other fields, such as the `description`.
    #[serde(flatten)]
    pub other: OrderedMap<Value>,
}

impl RepoqaNeedle {
    /// Returns what the function does, without its name.
    pub fn description(&self) -> Option<&str> {
        let (_, value) = self.other.0.iter().rfind(|(name, _)| name == "description")?;
        value.as_str()
    }
}

impl RepoqaRepository {
    /// Returns the files in the order of contexts: imported ones first.
    pub fn ordered_files(&self) -> Vec<(&str, &str)> {
        let content: HashMap<&str, &str> =
            self.content.0.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let order = dependency_order(&self.dependency.0).into_iter();
        order.filter_map(|path| Some((path, *content.get(path)?))).collect()
    }

    fn mask(&mut self, mask: &dyn Fn(&str) -> String) {
        for (_, text) in &mut self.content.0 {
            *text = mask(text);
        }
        let of_needles = self.needles.iter_mut().flat_map(|needle| &mut needle.other.0);
        for (_, value) in of_needles.chain(&mut self.other.0) {
            if let Value::String(text) = value {
                *text = mask(text);
            }
        }
    }

    /// Returns the whole lines of a needle, which answers are compared with.
    pub fn needle_code(&self, needle: &RepoqaNeedle) -> Option<String> {
        let (_, text) = self.content.0.iter().rfind(|(path, _)| *path == needle.path)?;
        let length = needle.end_line.checked_sub(needle.start_line)?;
        let lines: Vec<&str> = text.split('\n').skip(needle.start_line).take(length).collect();
        (lines.len() == length).then(|| lines.join("\n"))
    }

    /// Parses a repository; returns the problems of the functions that are left out, too.
    fn parse(text: &JsonText) -> Result<(RepoqaRepository, Vec<String>), String> {
        let mut fields: OrderedMap<JsonText> = text.try_parse()?;
        let mut broken = Vec::new();
        let mut usable = Vec::new();
        if let Some((_, needles)) = fields.0.iter_mut().rfind(|(name, _)| name == "needles") {
            let entries: Vec<JsonText> = needles.try_parse()?;
            for (index, entry) in entries.into_iter().enumerate() {
                match entry.try_parse::<RepoqaNeedle>() {
                    Ok(needle) => usable.push(needle),
                    Err(reason) => broken.push(format!("function {}: {reason}", index + 1)),
                }
            }
            *needles = JsonText::of(&Vec::<RepoqaNeedle>::new()).unwrap_or_else(|| needles.clone());
        }
        let rest = JsonText::of(&fields).ok_or("not a JSON object")?;
        let mut repository: RepoqaRepository = rest.try_parse()?;
        repository.content.0.iter().try_for_each(|(path, _)| check_path(path))?;
        let mut names = HashSet::new();
        for needle in usable {
            if repository.needle_code(&needle).is_none() {
                broken.push(format!("the function `{}` is not in {:?}", needle.name, needle.path));
            } else if !names.insert(needle.name.clone()) {
                broken.push(format!("another function has the name `{}`", needle.name));
            } else {
                repository.needles.push(needle);
            }
        }
        Ok((repository, broken))
    }
}

/// A row of an output file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct RepoqaOutput {
    /// Language.
    pub language: String,
    /// Repository.
    pub repo: String,
    /// Name of the function asked for.
    pub name: String,
    /// Answers; only the first is scored.
    pub output: Vec<String>,
    /// Place of the function in the context, from 0 to 1.
    #[serde(default)]
    pub position_ratio: Option<f64>,
    /// Tokens of the context.
    #[serde(default)]
    pub code_context_ntokens: Option<u64>,
}

impl BenchmarkItem for RepoqaOutput {
    // A name can be asked for in several repositories.
    const HAS_UNIQUE_ID: bool = false;

    fn id(&self) -> &str {
        &self.name
    }

    fn check(&self) -> Result<(), String> {
        if self.output.is_empty() {
            return Err("the output has no answer".to_owned());
        }
        if self.position_ratio.is_some_and(|ratio| !(0.0..=1.0).contains(&ratio)) {
            return Err("the position_ratio is not between 0 and 1".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATASET: &str = r#"{"python":[{"repo":"a/b","commit_sha":null,"content":{"z.py":"def f():\n  pass\n","a.py":"x"},"dependency":{"z.py":["a.py"],"a.py":[]},"needles":[{"name":"f","path":"z.py","start_line":0,"end_line":2,"start_byte":0,"end_byte":15,"description":"d","code_ratio":0.25}],"topic":"t"},{"repo":3},{"repo":"c","content":{"../x":""},"dependency":{},"needles":[]}],"go":[]}"#;

    #[test]
    fn data_set_is_written_as_it_was_read() {
        let dataset = RepoqaDataset::read(DATASET.as_bytes()).expect("a data set");
        let mut written = Vec::new();
        dataset.write(&mut written).expect("written");
        let again: Value = serde_json::from_slice(&written).expect("JSON");
        assert_eq!(again["python"][1], serde_json::json!({"repo": 3}));
        let (ours, original): (Value, Value) = (
            again["python"][0].clone(),
            serde_json::from_str::<Value>(DATASET).expect("JSON")["python"][0].clone(),
        );
        assert_eq!(ours, original);
        assert!(
            String::from_utf8(written).expect("text").contains(r#""content":{"z.py":"#),
            "the order counts"
        );
    }

    #[test]
    fn broken_repositories_are_set_apart() {
        let dataset = RepoqaDataset::read(DATASET.as_bytes()).expect("a data set");
        let read: Vec<_> = dataset.repositories().collect();
        let (language, repository) = read[0].as_ref().expect("a repository");
        assert_eq!((*language, repository.ordered_files()[0].0), ("python", "a.py"));
        assert_eq!(repository.needles[0].description(), Some("d"));
        assert_eq!(repository.needle_code(&repository.needles[0]).as_deref(), Some("def f():\n  pass"));
        let problems: Vec<_> =
            read[1..].iter().map(|broken| broken.as_ref().expect_err("broken").to_string()).collect();
        assert!(problems[0].starts_with("python, repository 2: invalid type"), "{problems:?}");
        assert!(problems[1].starts_with("python, repository 3: the path \"../x\""), "{problems:?}");
    }

    #[test]
    fn broken_functions_are_set_apart_and_kept_in_the_file() {
        let needle = |name: &str, end: usize| {
            format!(
                r#"{{"name":"{name}","path":"a.py","start_line":0,"end_line":{end},"start_byte":0,"end_byte":3}}"#
            )
        };
        let needles = [needle("f", 1), r#"{"name":3}"#.to_owned(), needle("g", 9), needle("f", 1)].join(",");
        let file = format!(
            r#"{{"python":[{{"repo":"r","content":{{"a.py":"x=1"}},"dependency":{{}},"needles":[{needles}]}}]}}"#
        );
        let dataset = RepoqaDataset::read(file.as_bytes()).expect("a data set");
        let (_, repository) = dataset.repositories().next().expect("one").expect("usable");
        assert_eq!(repository.needles.len(), 1);
        let broken: Vec<String> = dataset.broken_functions().map(|broken| broken.reason).collect();
        assert!(broken[0].starts_with("function 2: invalid type"), "{broken:?}");
        assert_eq!(broken[1..], ["the function `g` is not in \"a.py\"", "another function has the name `f`"]);
        let mut written = Vec::new();
        dataset.write(&mut written).expect("written");
        assert_eq!(String::from_utf8(written).expect("text"), file);
    }

    #[test]
    fn repositories_in_other_encodings_are_set_apart() {
        let repository = |repo: &[u8]| {
            [&b"{\"repo\":\""[..], repo, b"\",\"content\":{},\"dependency\":{},\"needles\":[]}"].concat()
        };
        let file = [&b"{\"go\":["[..], &repository(b"\xe9"), b",", &repository(b"b"), b"]}"].concat();
        let dataset = RepoqaDataset::read(file.as_slice()).expect("a data set");
        let read: Vec<_> = dataset.repositories().collect();
        assert!(read[0].as_ref().expect_err("broken").reason.contains("not UTF-8"));
        assert_eq!(read[1].as_ref().expect("a repository").1.repo, "b");
    }

    #[test]
    fn masks_keep_everything_else() {
        let file = DATASET.replace("pass", "SEKR").replace(r#""topic":"t""#, r#""topic":"SEKR""#);
        let file = file.replace(r#"{"repo":3}"#, r#"{"repo":3,"x":"SEKR"}"#);
        let mut dataset = RepoqaDataset::read(file.as_bytes()).expect("a data set");
        dataset.mask(&|text| text.replace("SEKR", "xxxx"));
        let mut written = Vec::new();
        dataset.write(&mut written).expect("written");
        let masked: Value = serde_json::from_slice(&written).expect("JSON");
        assert_eq!(masked, serde_json::from_str::<Value>(&file.replace("SEKR", "xxxx")).expect("JSON"));
    }

    #[test]
    fn data_sets_are_joined_by_language() {
        let mut dataset = RepoqaDataset::read(DATASET.as_bytes()).expect("a data set");
        let more = r#"{"go":[{"repo":"g","content":{"a.go":"x"},"dependency":{},"needles":[]}],"rust":[]}"#;
        dataset.extend(RepoqaDataset::read(more.as_bytes()).expect("a data set"));
        let found: Vec<_> = dataset.repositories().filter_map(Result::ok).map(|(name, _)| name).collect();
        assert_eq!(found, ["python", "go"]);
        assert!(dataset.has_function("python", "a/b", "f"));
        assert!(!dataset.has_function("go", "a/b", "f") && !dataset.has_function("python", "a/b", "g"));
    }

    #[test]
    fn other_documents_are_errors() {
        for file in [&b"[1]"[..], b"{\"a\":", b"\xff\xfe{\0", b""] {
            assert!(RepoqaDataset::read(file).is_err(), "{file:?}");
        }
    }
}
