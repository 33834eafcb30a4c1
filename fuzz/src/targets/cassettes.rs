//! Files of recorded answers.

use std::fs;

use engines::Cassette;

/// The bytes are the file.
pub(crate) fn run(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cassette.jsonl");
    fs::write(&path, input).expect("the folder is ours");
    let offline = Cassette::offline(Some(&path)).map(|cassette| cassette.stats());
    assert_eq!(fs::read(&path).expect("it is there"), input, "reading changes nothing");
    // Recording into it keeps all complete lines.
    let recording = Cassette::recording(&path).map(|cassette| cassette.torn_line());
    let kept = fs::read(&path).expect("it is there");
    assert!(input.starts_with(&kept) || kept.starts_with(input), "rows are lost");
    let _ = (offline, recording);
}
