//! From our terms to the protocol's.

use std::path::Path;

use text::{Encoding, Position};
use tower_lsp_server::gen_lsp_types::{self as lsp, PositionEncodingKind, Uri};
use url::Url;

pub(crate) fn position(position: Position) -> lsp::Position {
    lsp::Position::new(position.line, position.character)
}

pub(crate) fn encoding(encoding: Encoding) -> PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    }
}

/// The URI of a file; `None` for a path that is not absolute.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    Url::from_file_path(path).ok().map(|url| Uri(url.into()))
}
