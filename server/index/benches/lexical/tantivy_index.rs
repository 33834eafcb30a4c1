//! Lexical search by tantivy: saved files are in its index on disk, changed ones in memory until they are saved, because tantivy
//! finds additions only after a commit.
//!
//! Its scores differ from ours: it stores lengths in one byte, deleted windows count in frequencies until a merge, and windows in
//! memory are scored by the frequencies in memory.

use std::sync::Arc;

use index::{FileIndex, Index, LexicalIndex, Term, WindowHit, WindowQuery};
use rustc_hash::FxHashMap;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{DocAddress, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError};
use tempfile::TempDir;

/// Most query terms that are searched: as many take as long as a complete search in memory.
const MAX_TERMS: usize = 30;
/// Memory of the writer's buffer, bytes.
const WRITER_BYTES: usize = 100 << 20;

/// Windows in tantivy and in memory.
pub(crate) struct TantivyIndex {
    fields: Fields,
    writer: IndexWriter,
    reader: IndexReader,
    /// Indexed by number.
    files: Vec<Arc<FileIndex>>,
    /// Whether the file with that number is unchanged since it was saved.
    is_saved: Vec<bool>,
    numbers: FxHashMap<Arc<str>, usize>,
    /// Files that changed since they were saved.
    overlay: Index,
    /// Dropped last.
    _folder: TempDir,
}

#[derive(Clone, Copy)]
struct Fields {
    path: Field,
    /// Numbers of the file and of the window in it.
    place: Field,
    terms: Field,
}

impl TantivyIndex {
    /// Writes `files` to a temporary folder.
    pub(crate) fn build(files: Vec<Arc<FileIndex>>) -> Result<TantivyIndex, TantivyError> {
        let mut schema = Schema::builder();
        let indexing =
            TextFieldIndexing::default().set_tokenizer("raw").set_index_option(IndexRecordOption::WithFreqs);
        let fields = Fields {
            path: schema.add_text_field("path", STRING),
            place: schema.add_u64_field("place", FAST),
            terms: schema.add_text_field("terms", TextOptions::default().set_indexing_options(indexing)),
        };
        let folder = TempDir::new()?;
        let index = tantivy::Index::create_in_dir(folder.path(), schema.build())?;
        let writer = index.writer_with_num_threads(2, WRITER_BYTES)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let mut built = TantivyIndex {
            fields,
            writer,
            reader,
            files: Vec::new(),
            is_saved: Vec::new(),
            numbers: FxHashMap::default(),
            overlay: Index::build(&[]),
            _folder: folder,
        };
        built.save(files)?;
        Ok(built)
    }

    /// Writes files to disk; they replace files with the same paths.
    pub(crate) fn save(&mut self, files: Vec<Arc<FileIndex>>) -> Result<(), TantivyError> {
        let paths: Vec<Arc<str>> = files.iter().map(|file| file.file().path.clone()).collect();
        for file in files {
            self.delete(file.path());
            let number = self.files.len();
            for window in 0..file.windows() as u32 {
                self.writer.add_document(self.document(&file, number, window))?;
            }
            self.numbers.insert(file.file().path.clone(), number);
            self.files.push(file);
            self.is_saved.push(true);
        }
        self.writer.commit()?;
        self.reader.reload()?;
        self.overlay = self.overlay.apply(Vec::new(), &paths);
        Ok(())
    }

    /// Returns the size of the index on disk, bytes.
    pub(crate) fn disk_bytes(&self) -> usize {
        let usage = self.reader.searcher().space_usage();
        usage.map_or(0, |usage| usage.total().get_bytes() as usize)
    }

    fn document(&self, file: &FileIndex, number: usize, window: u32) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.path, file.path());
        document.add_u64(self.fields.place, (number as u64) << 32 | u64::from(window));
        let token =
            |(position, term): (usize, Term)| Token { position, text: term.to_string(), ..Token::default() };
        let tokens = file.window_terms(window).enumerate().map(token).collect();
        document
            .add_pre_tokenized_text(self.fields.terms, PreTokenizedString { text: String::new(), tokens });
        document
    }

    /// Removes a file's saved windows: from results at once, from the disk with the next commit.
    fn delete(&mut self, path: &str) {
        if let Some(&number) = self.numbers.get(path) {
            self.is_saved[number] = false;
            self.writer.delete_term(tantivy::Term::from_field_text(self.fields.path, path));
        }
    }

    fn term(&self, term: Term) -> tantivy::Term {
        tantivy::Term::from_field_text(self.fields.terms, &term.to_string())
    }

    /// Returns the query's most useful terms for their cost, by the same measure as in memory.
    fn query(&self, query: &WindowQuery<'_>) -> BooleanQuery {
        let searcher = self.reader.searcher();
        let windows = searcher.num_docs() as f32;
        let mut terms: Vec<(f32, tantivy::Term, f32)> = query
            .terms
            .iter()
            .filter_map(|&(term, weight)| {
                let term = self.term(term);
                let having = searcher.doc_freq(&term).ok().filter(|&having| having > 0)? as f32;
                let value = weight * (1.0 + (windows - having + 0.5) / (having + 0.5)).ln();
                Some((value * value / having, term, weight))
            })
            .collect();
        terms.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let clause = |(_, term, weight)| -> (Occur, Box<dyn Query>) {
            let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
            (Occur::Should, Box::new(BoostQuery::new(Box::new(term), weight)))
        };
        BooleanQuery::new(terms.into_iter().take(MAX_TERMS).map(clause).collect())
    }

    fn search_saved<'a>(&'a self, query: &WindowQuery<'_>) -> Result<Vec<WindowHit<'a>>, TantivyError> {
        let searcher = self.reader.searcher();
        // Twice as many, because some may be of changed files.
        let best = TopDocs::with_limit(2 * query.limit.max(1)).order_by_score();
        let found: Vec<(f32, DocAddress)> = searcher.search(&self.query(query), &best)?;
        let mut hits = Vec::new();
        for (score, address) in found {
            let places = searcher.segment_reader(address.segment_ord).fast_fields().u64("place")?;
            let place = places.first(address.doc_id).unwrap_or_default();
            let (number, window) = ((place >> 32) as usize, place as u32);
            if self.is_saved[number] {
                hits.push(WindowHit { file: &self.files[number], window, score: score.into() });
            }
        }
        Ok(hits)
    }
}

impl LexicalIndex for TantivyIndex {
    fn search<'a>(&'a self, query: &WindowQuery<'_>) -> Vec<WindowHit<'a>> {
        let mut hits = self.search_saved(query).unwrap_or_default();
        hits.extend(self.overlay.search(query));
        hits.sort_unstable_by(|one, other| other.cmp(one));
        hits.truncate(query.limit);
        hits
    }

    fn windows_with(&self, term: Term) -> u64 {
        let saved = self.reader.searcher().doc_freq(&self.term(term)).unwrap_or_default();
        saved + self.overlay.windows_with(term)
    }

    fn update(&mut self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]) {
        removed.iter().for_each(|path| self.delete(path));
        changed.iter().for_each(|file| self.delete(file.path()));
        self.overlay = self.overlay.apply(changed, removed);
    }
}
