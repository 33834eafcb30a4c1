//! The edited file: 3,000 lines of real Python, as long as the one that peers were measured on.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::lsp::{Buffer, Encoding};

use crate::measure::repositories::Repo;

/// The repository of its files.
pub(super) const REPOSITORY: &str = "rich";

/// One single file of that length is only a table, so two files are joined.
pub(in crate::measure) const FILES: [&str; 2] = ["rich/console.py", "rich/progress.py"];
const LINES: usize = 3000;

/// A comment at the very start: a cursor in it is not in code.
const COMMENT: &str = "# Typed into by a program.\n";

/// Typing begins before the first statement of this kind after this percentage of the lines: the last one of a method.
const CURSOR_PERCENT: usize = 60;
const STATEMENT: &str = "        return ";

/// Statements of a method, as short as most are.
pub(super) const STATEMENTS: &str = "        total = self.total + order.price\n";

/// Line and character of a position in the comment.
pub(super) const IN_COMMENT: (u32, u32) = (0, 2);

/// The file and the position where typing begins.
pub(in crate::measure) struct TypedFile {
    pub(in crate::measure) text: String,
    /// Start of a line as a byte offset.
    pub(in crate::measure) cursor: usize,
}

impl TypedFile {
    /// Description.
    pub(super) const NAME: &str =
        "the first 3,000 lines of `console.py` and `progress.py` of rich in one, typed into behind 60 %";

    pub(in crate::measure) fn new(repos: &[Repo]) -> Result<TypedFile> {
        TypedFile::of_lines(repos, LINES)
    }

    /// The same, shorter.
    pub(in crate::measure) fn of_lines(repos: &[Repo], count: usize) -> Result<TypedFile> {
        let root = &find(repos, REPOSITORY)?.root;
        let mut text = COMMENT.to_owned();
        for file in FILES {
            let path = root.join(file);
            text += &fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        }
        let lines: Vec<&str> = text.split_inclusive('\n').take(count).collect();
        ensure!(lines.len() == count, "the files are too short for {count} lines");
        let rest = lines.iter().enumerate().skip(count * CURSOR_PERCENT / 100);
        let mut statements = rest.filter(|(_, line)| line.starts_with(STATEMENT));
        let (line, _) = statements.next().context("no method in the rest of the file returns anything")?;
        let cursor = lines.iter().take(line).map(|line| line.len()).sum();
        Ok(TypedFile { text: lines.concat(), cursor })
    }

    /// Returns the text after the cursor.
    pub(super) fn rest(&self) -> &str {
        &self.text[self.cursor..]
    }

    /// Simulates typing the text after the cursor once more, in a document with this text at `uri`.
    pub(super) fn typist(&self, uri: String) -> Typist {
        Typist::new(Buffer::new(uri, "python", Encoding::Utf16, &self.text), self.cursor)
    }
}

/// The repository of this name.
pub(super) fn find<'a>(repos: &'a [Repo], name: &str) -> Result<&'a Repo> {
    let repo = repos.iter().find(|repo| repo.pinned.name == name);
    repo.with_context(|| format!("no repository is called `{name}`"))
}

/// Simulates typing, one character after the other.
pub(in crate::measure) struct Typist {
    pub(in crate::measure) buffer: Buffer,
    cursor: usize,
    keys: Vec<char>,
    next: usize,
}

impl Typist {
    /// Simulates typing the text after `cursor` once more.
    pub(in crate::measure) fn new(buffer: Buffer, cursor: usize) -> Typist {
        let keys = buffer.text()[cursor..].chars().collect();
        Typist { buffer, cursor, keys, next: 0 }
    }

    /// Types one character: returns the parameters of `textDocument/didChange`. Starts over after the last character.
    pub(in crate::measure) fn key(&mut self) -> Value {
        let key = self.keys[self.next % self.keys.len()];
        let change = self.buffer.edit(self.cursor..self.cursor, key.encode_utf8(&mut [0; 4]));
        self.next += 1;
        self.cursor += key.len_utf8();
        change
    }

    /// Returns the parameters of `textDocument/inlineCompletion` at the cursor.
    pub(in crate::measure) fn completion(&self) -> Value {
        completion(&self.buffer, self.cursor)
    }
}

/// Returns the parameters of an automatic `textDocument/inlineCompletion`.
pub(in crate::measure) fn completion(buffer: &Buffer, offset: usize) -> Value {
    const AUTOMATIC: u8 = 2;
    json!({
        "textDocument": buffer.id(),
        "position": buffer.position(offset),
        "context": {"triggerKind": AUTOMATIC},
    })
}
