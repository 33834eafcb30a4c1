//! Paths as unique text.

use std::char::REPLACEMENT_CHARACTER;
use std::path::{MAIN_SEPARATOR, Path};

/// Returns a path with `/` between its parts, for keys and messages. Each byte that is not UTF-8 is written as U+FFFD and two
/// hexadecimal digits; so is each byte of a U+FFFD, so that no other path has the same text.
pub fn path_text(path: &Path) -> String {
    let mut text = String::new();
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            text.push(REPLACEMENT_CHARACTER);
            text.push_str(&format!("{byte:02x}"));
        }
    };
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                MAIN_SEPARATOR => text.push('/'),
                REPLACEMENT_CHARACTER => escape(&mut text, "\u{fffd}".as_bytes()),
                character => text.push(character),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

/// Returns the path's text if it can be converted back to the path.
pub(crate) fn exact_text(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(REPLACEMENT_CHARACTER))?;
    Some(text.replace(MAIN_SEPARATOR, "/"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn different_paths_have_different_texts() {
        let names: [&[u8]; 8] = [
            b"a/caf\xe9.py",
            b"a/caf\xe8.py",
            "a/caf\u{fffd}.py".as_bytes(),
            "a/caf\u{fffd}e9.py".as_bytes(),
            b"a/caf\xe9\xe8.py",
            b"a/cafe9.py",
            "a/café.py".as_bytes(),
            b"a/caf\xff\xef\xbf\xbde9.py",
        ];
        let paths = names.map(|name| Path::new(OsStr::from_bytes(name)));
        let texts: BTreeSet<String> = paths.iter().map(|path| path_text(path)).collect();
        assert_eq!(texts.len(), names.len(), "{texts:?}");
        assert_eq!(path_text(paths[0]), "a/caf\u{fffd}e9.py");
        assert_eq!(path_text(paths[6]), "a/café.py");
        assert_eq!(exact_text(paths[6]).as_deref(), Some("a/café.py"));
        assert_eq!((exact_text(paths[0]), exact_text(paths[2])), (None, None));
    }
}
