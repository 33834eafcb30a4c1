//! Develops a commit: several files are open at once, and the developer goes from one to another after each hunk.

use cases::{Opportunity, OpportunityCursor, Trigger, redact_opportunity};
use mining::history::FileChange;
use text::SplitMix64;

use crate::editor::Editor;
use crate::error::SimulationError;
use crate::hunks::{TypedHunk, typed_hunks};
use crate::typist::{Keyboard, Typist, is_drawn};

/// Larger files are left out: each request holds the text of the file.
const MAX_FILE_BYTES: usize = 40 << 10;
/// Hunks of one file, from the top.
const MAX_HUNKS: usize = 6;
/// Files that are open at the same time.
const MAX_OPEN: usize = 4;
/// Commits whose files stay in the workspace: each has files of its own, and a workspace does not grow all day.
const MAX_FOLDERS: usize = 8;
/// Share of the files whose hunks are typed with blanks at the ends of lines, which a formatter removes when the file is saved.
const FORMATTED_PERCENT: usize = 20;
/// Share of the files that are replaced by a checkout after they were saved.
const CHECKED_OUT_PERCENT: usize = 10;
/// Share of the files that are renamed after they were saved.
const RENAMED_PERCENT: usize = 10;
/// Share of the files that stay open until the commit.
const OPEN_AT_COMMIT_PERCENT: usize = 50;
/// Share of the commits that are amended at once.
const AMENDED_PERCENT: usize = 20;
/// Share of the groups of files at which the developer looks at another branch, and rebases.
const SWITCHED_PERCENT: usize = 25;
/// Share of the changes of file after which that happens.
const SWITCHED_AT_PERCENT: usize = 30;
/// Share of the changes of file at which the server is killed, as long as it is to be killed again.
const KILLED_PERCENT: usize = 20;

/// A file that is being changed.
struct ChangedFile<'a> {
    typist: Typist,
    before: &'a str,
    after: &'a str,
    /// The hunks that are not written, from the bottom.
    hunks: Vec<TypedHunk>,
}

/// Types the changes of a commit, saves and closes the files, and commits them.
pub(crate) fn develop(
    editor: &mut Editor,
    random: &mut SplitMix64,
    kills: &mut u32,
    commit: &str,
    files: &[FileChange],
) -> Result<(), SimulationError> {
    let mut left = Vec::new();
    for part in files.iter().filter_map(changed).collect::<Vec<_>>().chunks(MAX_OPEN) {
        if editor.is_over() {
            break;
        }
        left.extend(write_together(editor, random, kills, commit, part)?);
    }
    editor.commit(commit)?;
    if is_drawn(random, AMENDED_PERCENT) {
        editor.amend(&format!("{commit} again"))?;
    }
    editor.wait(5_000)?;
    left.iter().try_for_each(|path| editor.close(path))?;
    editor.keep_folders(MAX_FOLDERS)
}

/// Returns the texts and hunks of a file that can be typed.
fn changed(file: &FileChange) -> Option<(&FileChange, &str, &str, Vec<TypedHunk>)> {
    let before = file.before.as_deref().unwrap_or_default();
    let after = file.after.as_deref().filter(|after| after.len().max(before.len()) <= MAX_FILE_BYTES)?;
    if has_secret(before) || has_secret(after) {
        return None;
    }
    let mut hunks = typed_hunks(before, after);
    hunks.truncate(MAX_HUNKS);
    hunks.reverse();
    (!hunks.is_empty()).then_some((file, before, after, hunks))
}

/// Whether a text has a secret, which is masked in rows, so that they differ from the commit.
fn has_secret(text: &str) -> bool {
    let mut row = Opportunity::new(String::new(), Trigger::Automatic, OpportunityCursor::at_start("", ""));
    text.clone_into(&mut row.cursor.prefix);
    redact_opportunity(&mut row);
    row.cursor.prefix != text
}

/// Opens files, writes their hunks in turn, and saves them. Returns the paths that stay open.
fn write_together(
    editor: &mut Editor,
    random: &mut SplitMix64,
    kills: &mut u32,
    commit: &str,
    changes: &[(&FileChange, &str, &str, Vec<TypedHunk>)],
) -> Result<Vec<String>, SimulationError> {
    let mut files = Vec::new();
    for (file, before, after, hunks) in changes {
        // Expected texts are never those of another commit.
        let folder = commit.get(..12).unwrap_or(commit);
        editor.note_folder(folder);
        let path = format!("{folder}/{}", file.path);
        editor.open(&path, file.language, before)?;
        let typist = Typist::new(path, is_drawn(random, FORMATTED_PERCENT));
        files.push(ChangedFile { typist, before, after, hunks: hunks.clone() });
    }
    let mut is_to_switch = is_drawn(random, SWITCHED_PERCENT);
    if is_to_switch {
        editor.branch()?;
    }
    let mut left = Vec::new();
    while !files.is_empty() {
        let index = random.below(files.len());
        let file = &mut files[index];
        let mut keyboard = Keyboard { editor, random };
        match file.hunks.pop().filter(|_| !keyboard.editor.is_over()) {
            Some(hunk) => {
                keyboard.pause(1_500, 20_000)?;
                file.typist.write(&mut keyboard, &hunk, file.after)?;
            }
            None => {
                let file = files.swap_remove(index);
                left.extend(finish(&mut keyboard, file)?);
            }
        }
        if is_to_switch && is_drawn(random, SWITCHED_AT_PERCENT) {
            is_to_switch = false;
            for file in &mut files {
                file.typist.format(&mut Keyboard { editor, random })?;
            }
            editor.visit_branch()?;
        }
        if *kills > 0 && is_drawn(random, KILLED_PERCENT) {
            *kills -= 1;
            editor.restart_server()?;
        }
    }
    Ok(left)
}

/// Saves a file. Returns its path if it stays open.
fn finish(keyboard: &mut Keyboard<'_>, mut file: ChangedFile<'_>) -> Result<Option<String>, SimulationError> {
    keyboard.pause(500, 3_000)?;
    file.typist.format(keyboard)?;
    let mut path = file.typist.path;
    keyboard.editor.save(&path)?;
    if is_drawn(keyboard.random, CHECKED_OUT_PERCENT) {
        keyboard.editor.wait(1_000)?;
        keyboard.editor.check_out(&path, file.before)?;
    }
    if is_drawn(keyboard.random, RENAMED_PERCENT) {
        keyboard.editor.wait(1_000)?;
        path = keyboard.editor.rename(&path)?;
    }
    keyboard.pause(1_000, 41_000)?;
    if is_drawn(keyboard.random, OPEN_AT_COMMIT_PERCENT) {
        return Ok(Some(path));
    }
    keyboard.editor.close(&path)?;
    Ok(None)
}
