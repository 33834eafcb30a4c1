//! The operations on a workspace, drawn from a seed.

use text::SplitMix64;

/// Folders below the root; the root is empty. Some have the names of build or package folders.
pub(super) const FOLDERS: [&str; 8] =
    ["", "app", "app/core", "lib", "Lib", "build", "vendor", "app/core/deep"];

/// File names: languages, headers whose language depends on their neighbors, manifests, names that differ only in case.
pub(super) const NAMES: [&str; 15] = [
    "main.py",
    "Main.py",
    "util.py",
    "store.py",
    "cart.py",
    "view.ts",
    "view.js",
    "shape.h",
    "shape.c",
    "shape.cpp",
    "lib.rs",
    "go.mod",
    "package.json",
    "note.txt",
    "gen_pb2.py",
];

/// Ignore files, some of them outside of the workspace and some in repositories.
pub(super) const IGNORE_FILES: [&str; 8] = [
    ".gitignore",
    "app/.gitignore",
    "lib/.ghostbenchignore",
    ".ignore",
    "../.gitignore",
    "../.ghostbenchignore",
    "../.git/info/exclude",
    "app/.git/info/exclude",
];

/// Lines of ignore files.
const PATTERNS: [&str; 9] =
    ["*.js", "/lib/", "app/core", "core/", "!view.js", "util.*", "/ws/app/*.py", "store.py", "!store.py"];

/// Files that mark the folder that contains them, with their content.
pub(super) const MARKERS: [(&str, &str); 5] = [
    ("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55"),
    ("pyvenv.cfg", "home = /usr/bin"),
    ("run.json", "{\"schema\": \"1.0\", \"suite\": \"s\"}"),
    ("built.o", ""),
    (".git", "gitdir: /nowhere"),
];

/// Lines of files; `@` is replaced by a name.
const LINES: [&str; 12] = [
    "def @(self, item):",
    "    total = total + item.@",
    "    return self.@(item, total)",
    "class @:",
    "    for item in self.@:",
    "        self.@.append(item)",
    "from app.util import @",
    "@ = @(1, \"text\")",
    "    if @ is None:",
    "        raise Missing(@)",
    "function @(item) { return item.@; }",
    "int @(struct shape *item);",
];
const WORDS: [&str; 14] = [
    "total", "price", "items", "store", "cart", "area", "width", "load", "save", "render", "Shape", "Cart",
    "Store", "count",
];

/// The text of a seed.
pub(super) fn text(seed: u64) -> String {
    let mut random = SplitMix64::new(seed);
    let mut text = String::new();
    for _ in 0..2 + random.below(24) {
        for (number, part) in random.choose(&LINES).split('@').enumerate() {
            if number > 0 {
                text.push_str(random.choose(&WORDS));
            }
            text.push_str(part);
        }
        text.push('\n');
    }
    text
}

/// The patterns of a seed, for an ignore file.
pub(super) fn patterns(seed: u64) -> String {
    let mut random = SplitMix64::new(seed);
    (0..1 + random.below(3)).map(|_| random.choose(&PATTERNS).to_owned() + "\n").collect()
}

/// A file: the indexes of a folder and of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId(pub(super) usize, pub(super) usize);

impl FileId {
    fn draw(random: &mut SplitMix64) -> FileId {
        FileId(random.below(FOLDERS.len()), random.below(NAMES.len()))
    }

    pub(super) fn text(self) -> String {
        let (folder, name) = (FOLDERS[self.0], NAMES[self.1]);
        if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
    }
}

/// The source of a change event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reporter {
    /// The watcher of the operating system: entries of the watched folders.
    SystemWatcher,
    /// The editor: files below the root.
    Client,
    /// No event; the periodic full scan finds the change.
    FullLook,
}

/// An operation. Self-contained: one that does not apply has no effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Write {
        at: FileId,
        text: u64,
    },
    Append {
        at: FileId,
        text: u64,
    },
    /// Overwrites some bytes and restores the modification time.
    Disguise {
        at: FileId,
    },
    Truncate {
        at: FileId,
    },
    Delete {
        at: FileId,
    },
    Rename {
        from: FileId,
        to: FileId,
    },
    MoveFolder {
        from: usize,
        to: usize,
    },
    DeleteFolder {
        at: usize,
    },
    SwapFolders {
        one: usize,
        other: usize,
    },
    /// Replaces a file by a folder with a file in it, or a folder by a file.
    Exchange {
        at: FileId,
    },
    SymbolicLink {
        at: FileId,
        to: FileId,
    },
    /// A symbolic link to a folder.
    LinkFolder {
        at: usize,
        to: usize,
    },
    HardLink {
        at: FileId,
        of: FileId,
    },
    /// A hard link to a file outside of the workspace.
    LinkOutside {
        of: FileId,
    },
    /// Writes through that name.
    WriteOutside {
        of: FileId,
        text: u64,
    },
    Ignore {
        file: usize,
        patterns: u64,
    },
    Unignore {
        file: usize,
    },
    Mark {
        folder: usize,
        marker: usize,
    },
    Unmark {
        folder: usize,
        marker: usize,
    },
    /// Adds or removes the repository of a folder.
    Repository {
        folder: usize,
    },
    /// Links the root to the other tree.
    Retarget,
    /// `git commit` of all current files, on a branch.
    Commit {
        branch: usize,
    },
    /// `git checkout` of a branch.
    Checkout {
        branch: usize,
    },
    /// Renames a file or folder to a name that differs only in case, or back.
    RenameCase {
        folder: usize,
    },
    Open {
        at: FileId,
    },
    Edit {
        at: FileId,
        seed: u64,
    },
    Save {
        at: FileId,
    },
    Close {
        at: FileId,
    },
    /// Sets whether engines read tokens.
    Tokens,
    /// Rebuilds worn tokens.
    Renew,
    /// Changes the completion settings.
    Settings {
        seed: u64,
    },
    /// Restarts the server, with its cache.
    Restart {
        saves: bool,
    },
    Look {
        reporter: Reporter,
    },
    /// Reads and derives what was changed so far, in the middle of a branch switch.
    Prepare {
        reporter: Reporter,
    },
    Probe {
        reporter: Reporter,
        seed: u64,
    },
}

/// Branches of the repository.
const BRANCHES: usize = 3;
/// Operations between two probes.
const PROBE: usize = 50;

impl Operation {
    pub(super) fn draw(random: &mut SplitMix64, number: usize) -> Operation {
        use Operation as O;
        let reporter = random.choose(&[
            Reporter::SystemWatcher,
            Reporter::SystemWatcher,
            Reporter::Client,
            Reporter::FullLook,
        ]);
        if number % PROBE == PROBE - 1 {
            return O::Probe { reporter, seed: random.number() };
        }
        let (at, to) = (FileId::draw(random), FileId::draw(random));
        let (folder, other) = (random.below(FOLDERS.len()), random.below(FOLDERS.len()));
        let seed = random.number();
        match random.below(100) {
            0..20 => O::Write { at, text: seed },
            20..26 => O::Append { at, text: seed },
            26..29 => O::Disguise { at },
            29..31 => O::Truncate { at },
            31..36 => O::Delete { at },
            36..41 => O::Rename { from: at, to },
            41..43 => O::MoveFolder { from: folder, to: other },
            43 => O::DeleteFolder { at: folder },
            44..46 => O::SwapFolders { one: folder, other },
            46 => O::Exchange { at },
            47..49 => O::SymbolicLink { at, to },
            49 => O::LinkFolder { at: folder, to: other },
            50..53 => O::HardLink { at, of: to },
            53..55 => O::LinkOutside { of: at },
            55..57 => O::WriteOutside { of: at, text: seed },
            57..59 => O::Ignore { file: random.below(IGNORE_FILES.len()), patterns: seed },
            59..62 => O::Unignore { file: random.below(IGNORE_FILES.len()) },
            62..64 => O::Mark { folder, marker: random.below(MARKERS.len()) },
            64..68 => O::Unmark { folder, marker: random.below(MARKERS.len()) },
            68 => O::Repository { folder: random.below(3) },
            69 => O::Retarget,
            70 => O::Commit { branch: random.below(BRANCHES) },
            71 => O::Checkout { branch: random.below(BRANCHES) },
            72 => O::RenameCase { folder },
            73..77 => O::Open { at },
            77..85 => O::Edit { at, seed },
            85..88 => O::Save { at },
            88..91 => O::Close { at },
            91 if seed.is_multiple_of(3) => O::Tokens,
            91 => O::Settings { seed },
            92 => O::Renew,
            93 => O::Restart { saves: seed.is_multiple_of(2) },
            94..96 => O::Prepare { reporter },
            _ => O::Look { reporter },
        }
    }
}
