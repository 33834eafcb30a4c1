//! Long texts in pieces that are stored once.
//!
//! Two opportunities in one file differ in a few lines. A text is cut after lines chosen by their content, so that an edit changes
//! one piece, and all others are shared by the rows. A piece is stored under its BLAKE3 hash, compressed if that is shorter.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::{Connection, OptionalExtension, params};

/// Size that a piece reaches before it may end, bytes: small enough for an edit, large enough to compress.
const MIN_PIECE: usize = 512;
/// Size at which a piece ends in any case, bytes.
const MAX_PIECE: usize = 8 << 10;
/// One of so many lines ends a piece.
const LINES_PER_END: u8 = 16;
/// Bytes of a hash that are stored.
const HASH_BYTES: usize = 16;
/// Pieces that a reader keeps. Rows that follow each other share most of theirs.
const MAX_KEPT: usize = 4_096;

const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// Ids of the pieces of a text, in order.
pub(super) type Pieces = Vec<i64>;

/// Cuts a text into pieces; joined they are the text.
fn cut(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(piece_len(rest));
        rest = after;
        Some(piece)
    })
}

fn piece_len(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        if length + line.len() > MAX_PIECE {
            return if length > 0 { length } else { line.floor_char_boundary(MAX_PIECE).max(1) };
        }
        length += line.len();
        if length >= MIN_PIECE && ends_piece(line) {
            return length;
        }
    }
    length
}

/// Whether a piece may end after this line: equal lines always decide the same.
fn ends_piece(line: &str) -> bool {
    blake3::hash(line.as_bytes()).as_bytes()[0].is_multiple_of(LINES_PER_END)
}

/// Stores a text and returns its pieces. Call it in the transaction that stores the row.
pub(super) fn put(connection: &Connection, text: &str) -> rusqlite::Result<Pieces> {
    let mut find = connection.prepare("SELECT id FROM texts WHERE hash = ?1")?;
    let mut add = connection.prepare("INSERT INTO texts (hash, body) VALUES (?1, ?2)")?;
    let mut pieces = Pieces::new();
    for piece in cut(text) {
        let hash = blake3::hash(piece.as_bytes());
        let hash = &hash.as_bytes()[..HASH_BYTES];
        let known: Option<i64> = find.query_row([hash], |row| row.get(0)).optional()?;
        pieces.push(match known {
            Some(id) => id,
            None => add.insert(params![hash, pack(piece)])?,
        });
    }
    Ok(pieces)
}

/// Deletes the pieces that no row uses.
pub(super) fn collect_garbage(connection: &Connection) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM texts WHERE id NOT IN (SELECT piece.value FROM opportunities, json_tree(opportunities.texts) AS piece \
         WHERE piece.type = 'integer')",
        [],
    )
}

fn pack(piece: &str) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::default());
    let packed = encoder.write_all(piece.as_bytes()).and_then(|()| encoder.finish());
    match packed {
        Ok(packed) if packed.len() <= piece.len() => packed,
        _ => [&[PLAIN], piece.as_bytes()].concat(),
    }
}

fn unpack(body: &[u8]) -> Option<String> {
    match body.split_first()? {
        (&PLAIN, text) => String::from_utf8(text.to_vec()).ok(),
        (&DEFLATED, packed) => {
            let mut text = String::new();
            // One more than the largest piece: a longer one is damaged.
            let limit = MAX_PIECE as u64 + 4;
            DeflateDecoder::new(packed).take(limit).read_to_string(&mut text).ok()?;
            Some(text)
        }
        _ => None,
    }
}

/// Reads texts, and keeps the pieces that it read last.
#[derive(Default)]
pub(super) struct TextReader {
    kept: HashMap<i64, Arc<str>>,
}

impl TextReader {
    /// Returns a text; `None` if one of its pieces is missing or damaged.
    pub(super) fn get(
        &mut self,
        connection: &Connection,
        pieces: &[i64],
    ) -> rusqlite::Result<Option<String>> {
        let mut text = String::new();
        for &id in pieces {
            match self.piece(connection, id)? {
                Some(piece) => text.push_str(&piece),
                None => return Ok(None),
            }
        }
        Ok(Some(text))
    }

    fn piece(&mut self, connection: &Connection, id: i64) -> rusqlite::Result<Option<Arc<str>>> {
        if let Some(piece) = self.kept.get(&id) {
            return Ok(Some(Arc::clone(piece)));
        }
        let mut find = connection.prepare("SELECT body FROM texts WHERE id = ?1")?;
        let body: Option<Vec<u8>> = find.query_row([id], |row| row.get(0)).optional()?;
        let Some(piece) = body.and_then(|body| unpack(&body)) else { return Ok(None) };
        if self.kept.len() >= MAX_KEPT {
            self.kept.clear();
        }
        let piece: Arc<str> = piece.into();
        self.kept.insert(id, Arc::clone(&piece));
        Ok(Some(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(range: std::ops::Range<usize>) -> String {
        range.map(|number| format!("    let value_{number} = compute({number}, other);\n")).collect()
    }

    #[test]
    fn an_edit_changes_few_pieces() {
        let before = lines(0..600);
        let after = before.replace("value_300", "renamed");
        let old: std::collections::HashSet<&str> = cut(&before).collect();
        let new: Vec<&str> = cut(&after).collect();
        assert_eq!(new.concat(), after);
        let changed = new.iter().filter(|piece| !old.contains(**piece)).count();
        assert!((1..=3).contains(&changed) && new.len() > 15, "{changed} of {}", new.len());
    }

    #[test]
    fn pieces_are_bounded_and_complete() {
        for text in [String::new(), "é".repeat(20_000), "\n".repeat(9_000), lines(0..50)] {
            assert!(cut(&text).all(|piece| (1..=MAX_PIECE).contains(&piece.len())));
            assert_eq!(cut(&text).collect::<String>(), text);
        }
    }

    #[test]
    fn packed_pieces_read_back_and_damaged_ones_do_not() {
        let long = lines(0..10);
        for piece in ["x", "é", &long] {
            assert_eq!(unpack(&pack(piece)).as_deref(), Some(piece));
        }
        assert!(pack(&long).len() < long.len() / 2);
        assert_eq!(unpack(&[]), None);
        assert_eq!(unpack(&[9, 9]), None);
        assert_eq!(unpack(&[PLAIN, 0xff]), None);
        assert_eq!(unpack(&[DEFLATED, 0xff, 0xff]), None);
    }
}
