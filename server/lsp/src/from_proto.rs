//! Conversions from protocol types to internal types.

use std::path::PathBuf;
use std::sync::Arc;

use syntax::Language;
use text::Position;
use tower_lsp_server::gen_lsp_types::{self as lsp, Uri};
use url::Url;

/// Returns the key of a document: clients write one file's URI in several ways (`c%3A` and `C:`, escaped or not).
pub(crate) fn document_key(uri: &Uri) -> Arc<str> {
    path(uri).map_or_else(|| uri.0.as_str().into(), |path| workspace::path_text(&path).into())
}

/// The file of a URI; `None` for untitled documents, other schemes and invalid URIs.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let url = Url::parse(&uri.0).ok().filter(|url| url.scheme() == "file")?;
    let path = url.to_file_path().ok()?;
    Some(with_lowercase_drive(path))
}

/// VS Code writes `c:`, other clients `C:`. The path of a Windows client begins with a slash if it is parsed on another system.
fn with_lowercase_drive(path: PathBuf) -> PathBuf {
    let drive = match path.to_str().map(str::as_bytes) {
        Some([drive, b':', ..]) if drive.is_ascii_uppercase() => 0,
        Some([b'/', drive, b':', b'/', ..]) if drive.is_ascii_uppercase() => 1,
        _ => return path,
    };
    let mut text = path.to_string_lossy().into_owned();
    if let Some(letter) = text.get_mut(drive..=drive) {
        letter.make_ascii_lowercase();
    }
    PathBuf::from(text)
}

/// The language of a client's language id.
pub(crate) fn language(id: &str) -> Option<Language> {
    let name = match id {
        "typescriptreact" => "tsx",
        "javascriptreact" => "javascript",
        name => name,
    };
    Language::from_name(name)
}

pub(crate) fn position(position: lsp::Position) -> Position {
    Position { line: position.line, character: position.character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_uris_have_the_same_document_key() {
        let key = |uri: &str| document_key(&Uri(uri.to_owned())).to_string();
        assert_eq!(key("file:///a/b%20c/%C3%A9.py"), key("file:///a/b c/é.py"));
        assert_eq!(key("untitled:Untitled-1"), "untitled:Untitled-1");
        assert_eq!(key("no uri at all"), "no uri at all");
        assert_eq!(path(&Uri("git:/a.py".to_owned())), None);
    }

    #[test]
    fn drive_letters_are_lowercased() {
        assert_eq!(with_lowercase_drive("C:/a.py".into()), PathBuf::from("c:/a.py"));
        assert_eq!(with_lowercase_drive("/C:/a.py".into()), PathBuf::from("/c:/a.py"));
        assert_eq!(with_lowercase_drive("é:".into()), PathBuf::from("é:"));
    }
}
