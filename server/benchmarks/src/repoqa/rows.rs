//! The data set, one JSON document, and the rows of output files.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::dependency_order::dependency_order;
use crate::ordered_map::OrderedMap;
use crate::row_reader::{BenchmarkItem, check_path};

/// Limit of the data set in bytes, decompressed. The public one has about 150 MB.
const MAX_DATASET_BYTES: u64 = 1 << 30;

/// The data set cannot be read.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The file cannot be read.
    #[error("cannot read the data set: {0}")]
    Read(#[from] io::Error),
    /// The file is too long.
    #[error("the data set has more than {MAX_DATASET_BYTES} bytes")]
    TooLong,
    /// The document has another form.
    #[error("{0}")]
    Parse(#[from] cases::ParseError),
    /// The file is not UTF-8.
    #[error("the data set is not UTF-8 from byte {0} on")]
    Encoding(usize),
}

/// A repository that cannot be used.
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
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct RepoqaDataset {
    languages: OrderedMap<Vec<RepoqaEntry>>,
}

/// An entry of the list of repositories.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
enum RepoqaEntry {
    Repository(Box<RepoqaRepository>),
    Broken(Value),
}

impl RepoqaDataset {
    /// Reads a data set of plain text.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too long, or is no JSON object of lists.
    pub fn read(file: impl Read) -> Result<RepoqaDataset, DatasetError> {
        let mut bytes = Vec::new();
        file.take(MAX_DATASET_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_DATASET_BYTES {
            return Err(DatasetError::TooLong);
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| DatasetError::Encoding(error.utf8_error().valid_up_to()))?;
        Ok(cases::parse_document(text.strip_prefix('\u{feff}').unwrap_or(&text))?)
    }

    /// Adds a repository to a language's list.
    pub fn push(&mut self, language: &str, repository: RepoqaRepository) {
        let entry = RepoqaEntry::Repository(Box::new(repository));
        match self.languages.0.iter_mut().find(|(name, _)| name == language) {
            Some((_, entries)) => entries.push(entry),
            None => self.languages.0.push((language.to_owned(), vec![entry])),
        }
    }

    /// Writes the data set as one line of JSON.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, self)?)
    }

    /// Returns the name of each repository's language with the repository, or with the reason why it cannot be used.
    pub fn repositories(&self) -> impl Iterator<Item = Result<(&str, &RepoqaRepository), BrokenRepository>> {
        self.languages.0.iter().flat_map(|(language, entries)| {
            entries.iter().enumerate().map(move |(index, entry)| {
                let repository = match entry {
                    RepoqaEntry::Repository(repository) => {
                        repository.check().map(|()| (language.as_str(), &**repository))
                    }
                    RepoqaEntry::Broken(value) => Err(RepoqaRepository::deserialize(value)
                        .err()
                        .map_or_else(|| "of another form".to_owned(), |error| error.to_string())),
                };
                repository.map_err(|reason| BrokenRepository {
                    language: language.clone(),
                    number: index + 1,
                    reason,
                })
            })
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

    /// Returns the whole lines of a needle, which answers are compared with.
    pub fn needle_code(&self, needle: &RepoqaNeedle) -> Option<String> {
        let (_, text) = self.content.0.iter().rfind(|(path, _)| *path == needle.path)?;
        let length = needle.end_line.checked_sub(needle.start_line)?;
        let lines: Vec<&str> = text.split('\n').skip(needle.start_line).take(length).collect();
        (lines.len() == length).then(|| lines.join("\n"))
    }

    fn check(&self) -> Result<(), String> {
        self.content.0.iter().try_for_each(|(path, _)| check_path(path))?;
        let mut names = HashSet::new();
        for needle in &self.needles {
            if self.needle_code(needle).is_none() {
                return Err(format!("the function `{}` is not in {:?}", needle.name, needle.path));
            }
            if !names.insert(needle.name.as_str()) {
                return Err(format!("two functions have the name `{}`", needle.name));
            }
        }
        Ok(())
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
    fn other_documents_are_errors() {
        for file in [&b"[1]"[..], b"{\"a\":", b"\xff\xfe", b""] {
            assert!(RepoqaDataset::read(file).is_err(), "{file:?}");
        }
    }
}
