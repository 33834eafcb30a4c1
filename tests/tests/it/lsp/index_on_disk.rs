//! An index beyond the memory budget serves the same, whatever happens to the files of the cache folder.

use std::fs;

use tests::Project;

use super::editor::{Editor, INVOKED, completion_params, items, setup};
use super::file_watching::{count, log};
use super::handshake::wait_until_ready;
use crate::settings::user_file;

/// Enough code that an index of it exceeds the smallest budget, a megabyte.
const MODULES: usize = 200;

const GADGETS: &str = "\
def polish(gadget):
    gadget.rotate_clockwise(degrees=90, careful=True)

def sharpen(gadget):
    gadget.rotate_clockwise(degrees=90, careful=True)
";

/// The proposal after `gadget.` in a function of this name; each name makes a new request.
fn proposal(editor: &Editor, function: &str) -> String {
    let text = format!("def {function}(gadget):\n    gadget.");
    let buffer = editor.open("question.py", &text);
    let answer =
        editor.client.call("textDocument/inlineCompletion", completion_params(&buffer, text.len(), INVOKED));
    let proposed = items(&answer).first().map(|item| buffer.ghost_text(text.len(), item));
    editor.close(&buffer);
    proposed.unwrap_or_default()
}

#[test]
fn truncated_files_of_the_cache_folder_end_no_server() {
    let project = Project::generated(MODULES);
    project.write("gadgets.py", GADGETS);
    user_file(&project, "[index]\nmemory_mb = 1\n");
    // The second server reads the cache of the first one.
    for start in ["cold", "warm"] {
        let editor = Editor::start(&project, &["--log-level", "debug"], setup(&project));
        wait_until_ready(&editor);
        assert!(count(&log(&editor), "on_disk=true") > 0, "{start}");
        // The cache is written when the index is published already.
        tests::wait_until("the index is cached", || count(&log(&editor), ": cached folder=") > 0);
        let is_published_early = count(&log(&editor), "cached index published") > 0;
        assert_eq!(is_published_early, start == "warm", "{start}");
        let before = proposal(&editor, &format!("turn_{start}"));
        assert_eq!(before, "rotate_clockwise(degrees=90, careful=True)", "{start}");
        if start == "warm" {
            let caches = fs::read_dir(project.home().join(".cache/ghostbench")).expect("there are caches");
            let truncated = caches.map(|cache| {
                let file = fs::File::options().write(true).open(cache.expect("it is ours").path());
                file.and_then(|file| file.set_len(1)).expect("it is ours");
            });
            assert!(truncated.count() > 0, "there is a cache");
        }
        assert_eq!(proposal(&editor, &format!("spin_{start}")), before, "{start}");
    }
}
