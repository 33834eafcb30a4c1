//! Real C code, which is indexed without the insides of functions.

use syntax::{Language, parse, parse_declarations};
use tests::check_out_history;
use workspace::ReadLimits;

/// Of the files of hiredis, so many have C without errors for the parser.
const MIN_FILES: usize = 25;

#[test]
fn definitions_do_not_depend_on_the_insides_of_functions() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let Some(root) = check_out_history(folder.path(), "hiredis") else { return };
    let snapshot = workspace::load(&root, &ReadLimits::standard(), &|_| {}).expect("the tree is readable");
    let mut compared = 0;
    for file in snapshot.files().iter().filter(|file| file.language == Language::C) {
        let whole = parse(file.language, &file.text);
        if !whole.has_error() {
            let declared = parse_declarations(file.language, &file.text);
            assert_eq!(declared.outline(&file.text), whole.outline(&file.text), "{}", file.path);
            assert_eq!(
                declared.functions_with_body(&file.text),
                whole.functions_with_body(&file.text),
                "{}",
                file.path
            );
            compared += 1;
        }
    }
    assert!(compared >= MIN_FILES, "only {compared} files have no error");
}
