//! Reads the data set one repository after the other, so that memory is bounded by what is kept.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::str;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::rows::{DatasetError, RepoqaEntry};

/// Limits in bytes of plain text.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatasetLimits {
    /// Of the whole file.
    pub(super) file: u64,
    /// Of a repository.
    pub(super) repository: u64,
}

/// The limits of public files: the largest has about 150 MB with 50 repositories.
pub(super) const LIMITS: DatasetLimits = DatasetLimits { file: 512 << 20, repository: 128 << 20 };

/// The repositories of each language.
pub(super) type Languages = Vec<(String, Vec<RepoqaEntry>)>;

/// Reads a data set of plain text; returns whether bytes were replaced that are not UTF-8, too.
///
/// # Errors
///
/// The file cannot be read, is too long, or is no JSON object of lists.
pub(super) fn read_languages(
    file: impl Read,
    limits: DatasetLimits,
) -> Result<(Languages, bool), DatasetError> {
    let room = Cell::new(limits.repository);
    let text = LossyText {
        file: BufReader::new(file),
        text: Vec::new(),
        at: 0,
        tail: Vec::new(),
        is_at_start: true,
        has_replaced: false,
        limits,
        left: limits.file,
        room: &room,
    };
    let mut text = BufReader::new(text);
    let mut deserializer = serde_json::Deserializer::from_reader(&mut text);
    let languages = LanguagesSeed { room: &room, limit: limits.repository }.deserialize(&mut deserializer);
    let languages = languages.and_then(|languages| deserializer.end().map(|()| languages));
    match languages {
        Ok(languages) => Ok((languages, text.get_ref().has_replaced)),
        Err(error) if error.is_io() => Err(DatasetError::Read(error.into())),
        Err(error) => Err(DatasetError::Parse(error.into())),
    }
}

/// The text of a file, with U+FFFD for bytes that are not UTF-8, and without a byte order mark.
struct LossyText<'r, R> {
    file: R,
    /// Decoded text, of which the part from `at` on is not yet passed on.
    text: Vec<u8>,
    at: usize,
    /// The beginning of a character whose end is not yet read.
    tail: Vec<u8>,
    is_at_start: bool,
    has_replaced: bool,
    limits: DatasetLimits,
    /// Bytes that may still follow.
    left: u64,
    /// Bytes that may follow before the next repository.
    room: &'r Cell<u64>,
}

impl<R: BufRead> LossyText<'_, R> {
    /// Decodes what the file has buffered.
    fn fill(&mut self) -> io::Result<()> {
        let buffer = self.file.fill_buf()?;
        let length = buffer.len();
        let mut bytes = std::mem::take(&mut self.tail);
        bytes.extend_from_slice(buffer);
        self.file.consume(length);
        self.left = self.left.checked_sub(length as u64).ok_or_else(|| too_long("file", self.limits.file))?;
        let room = self.room.get().checked_sub(length as u64);
        self.room.set(room.ok_or_else(|| too_long("repository", self.limits.repository))?);
        self.text.clear();
        self.at = 0;
        let mut decoded = 0;
        for chunk in bytes.utf8_chunks() {
            self.text.extend_from_slice(chunk.valid().as_bytes());
            let invalid = chunk.invalid();
            decoded += chunk.valid().len() + invalid.len();
            let is_cut = str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if is_cut && decoded == bytes.len() && length > 0 {
                self.tail = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.has_replaced = true;
                self.text.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        if self.is_at_start && !self.text.is_empty() {
            self.is_at_start = false;
            self.at = if self.text.starts_with("\u{feff}".as_bytes()) { "\u{feff}".len() } else { 0 };
        }
        Ok(())
    }
}

fn too_long(what: &str, limit: u64) -> io::Error {
    io::Error::other(format!("a {what} has more than {limit} bytes"))
}

impl<R: BufRead> Read for LossyText<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            let is_at_end = self.file.fill_buf()?.is_empty() && self.tail.is_empty();
            if is_at_end {
                return Ok(0);
            }
            self.fill()?;
        }
        let length = out.len().min(self.text.len() - self.at);
        out[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// The object of languages; each repository gets the whole room.
#[derive(Clone, Copy)]
struct LanguagesSeed<'r> {
    room: &'r Cell<u64>,
    limit: u64,
}

impl<'de> DeserializeSeed<'de> for LanguagesSeed<'_> {
    type Value = Languages;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Languages, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for LanguagesSeed<'_> {
    type Value = Languages;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of lists")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Languages, A::Error> {
        let mut languages = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            self.room.set(self.limit);
            languages.push((name, map.next_value_seed(EntriesSeed(self))?));
        }
        Ok(languages)
    }
}

/// The list of a language's repositories.
struct EntriesSeed<'r>(LanguagesSeed<'r>);

impl<'de> DeserializeSeed<'de> for EntriesSeed<'_> {
    type Value = Vec<RepoqaEntry>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<RepoqaEntry>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for EntriesSeed<'_> {
    type Value = Vec<RepoqaEntry>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of repositories")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<RepoqaEntry>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            self.0.room.set(self.0.limit);
            entries.push(entry);
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: DatasetLimits = DatasetLimits { file: 1 << 20, repository: 1 << 16 };

    /// A file that counts how much of it was read.
    struct Counted<'c, R>(R, &'c Cell<usize>);

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.read(buffer)?;
            self.1.set(self.1.get() + length);
            Ok(length)
        }
    }

    /// Reads `start`, and then `repeated` for ever; returns the error and the number of bytes read.
    fn endless(start: &str, repeated: &'static str) -> (String, usize) {
        struct Repeat(&'static [u8], usize);
        impl Read for Repeat {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                for byte in buffer.iter_mut() {
                    *byte = self.0[self.1];
                    self.1 = (self.1 + 1) % self.0.len();
                }
                Ok(buffer.len())
            }
        }
        let read = Cell::new(0);
        let file = Counted(start.as_bytes().chain(Repeat(repeated.as_bytes(), 0)), &read);
        let error = read_languages(file, SMALL).expect_err("endless").to_string();
        (error, read.get())
    }

    #[test]
    fn endless_files_are_refused_at_their_limit() {
        let (error, read) = endless("{\"go\":[{\"repo\":\"", "x");
        assert!(
            error.contains("a repository has more than 65536 bytes") && read < 100_000,
            "{read}: {error}"
        );
        let (error, read) = endless("{\"", "x");
        assert!(error.contains("a repository has more") && read < 100_000, "{read}: {error}");
        let (error, read) = endless("{\"go\":[0", ",{\"repo\":1}");
        assert!(error.contains("a file has more than 1048576 bytes") && read < 1_200_000, "{read}: {error}");
    }

    #[test]
    fn characters_may_be_cut_by_the_buffer() {
        let name = "é€😀".repeat(20_000);
        for shift in 0..4 {
            let file = format!("\u{feff}{{{}\"{name}\":[]}}", " ".repeat(shift));
            let limits = DatasetLimits { repository: 1 << 20, ..SMALL };
            let (languages, has_replaced) = read_languages(file.as_bytes(), limits).expect("a data set");
            assert!(languages[0].0 == name && !has_replaced, "{shift}");
        }
        let (languages, has_replaced) = read_languages(&b"{\"a\xe2\x82\":[]}"[..], SMALL).expect("read");
        assert_eq!((languages[0].0.as_str(), has_replaced), ("a\u{fffd}", true));
        assert!(read_languages(&b"{\"a\":[]}\xe2"[..], SMALL).is_err(), "more follows the object");
    }
}
