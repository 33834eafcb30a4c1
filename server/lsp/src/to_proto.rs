//! Conversions from internal types to protocol types.

use std::ops::Range;
use std::path::Path;

use text::{Position, PositionEncoding};
use tower_lsp_server::gen_lsp_types::{self as lsp, PositionEncodingKind, Uri};
use url::Url;

/// The client's range for two positions in its encoding.
pub(crate) fn range(range: Range<Position>) -> lsp::Range {
    let position = |Position { line, character }| lsp::Position::new(line, character);
    lsp::Range::new(position(range.start), position(range.end))
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
