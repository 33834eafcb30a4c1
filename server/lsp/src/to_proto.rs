//! Conversions from internal types to protocol types.

use std::ops::Range;
use std::path::Path;

use text::{Document as Rope, Position, PositionEncoding};
use tower_lsp_server::gen_lsp_types::{self as lsp, PositionEncodingKind, Uri};
use url::Url;

/// The range of these bytes of a text; `None` if they do not fit the text.
pub(crate) fn range(rope: &Rope, bytes: Range<usize>, encoding: PositionEncoding) -> Option<lsp::Range> {
    let position = |offset| {
        let Position { line, character } = rope.position(offset, encoding)?;
        Some(lsp::Position::new(line, character))
    };
    Some(lsp::Range::new(position(bytes.start)?, position(bytes.end)?))
}

pub(crate) fn encoding(encoding: PositionEncoding) -> PositionEncodingKind {
    match encoding {
        PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
        PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
        PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
    }
}

/// The URI of a file; `None` for a path that is not absolute.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    Url::from_file_path(path).ok().map(|url| Uri(url.into()))
}
