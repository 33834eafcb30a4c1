//! Locations of Python's modules.

use crate::module_resolution::{ModuleLocation, ModuleTarget, folder, join};

/// Endings of a module's path, best guess first; a stub has less information than the module itself.
const FILES: [&str; 4] = [".py", "/__init__.py", ".pyi", "/__init__.pyi"];

/// Returns possible locations of `module`: with leading dots relative to the file at `from`; else in the folders around that
/// file, nearest first, as for scripts next to each other, and then anywhere, as for packages in a `src` folder.
pub(super) fn targets(from: &str, module: &str) -> Vec<ModuleTarget> {
    let name = module.trim_start_matches('.');
    let path = name.replace('.', "/");
    match module.len() - name.len() {
        0 => absolute(from, &path),
        dots => relative(from, dots, &path).unwrap_or_default(),
    }
}

fn relative(from: &str, dots: usize, path: &str) -> Option<Vec<ModuleTarget>> {
    let up = "../".repeat(dots - 1);
    let base = join(folder(from), &format!("{up}{path}"))?;
    let mut targets = files(&base);
    targets.push(ModuleLocation::Folder(base.into()).into());
    Some(targets)
}

fn absolute(from: &str, path: &str) -> Vec<ModuleTarget> {
    let first = path.split('/').next().unwrap_or_default();
    if STANDARD.binary_search(&first).is_ok() {
        return Vec::new();
    }
    let around =
        std::iter::successors(Some(folder(from)), |around| (!around.is_empty()).then(|| folder(around)));
    let nearby = around.filter_map(|around| join(around, path)).flat_map(|base| files(&base));
    let mut targets: Vec<ModuleTarget> = nearby.collect();
    targets.extend(FILES.map(|ending| ModuleLocation::FileEnding(format!("{path}{ending}").into()).into()));
    targets.push(ModuleLocation::FolderEnding(path.into()).into());
    targets
}

fn files(base: &str) -> Vec<ModuleTarget> {
    FILES
        .iter()
        .map(|ending| ModuleLocation::File(format!("{base}{ending}").trim_start_matches('/').into()).into())
        .collect()
}

/// The standard modules, from `sys.stdlib_module_names` of 3.11, without names that projects use for their own modules (`test`)
/// and without names that begin with an underscore. An import of such a name does not refer to a file in a package.
#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "abc", "aifc", "argparse", "array", "ast", "asynchat", "asyncio", "asyncore", "atexit", "audioop",
    "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile", "calendar", "cgi", "cgitb",
    "chunk", "cmath", "cmd", "code", "codecs", "codeop", "collections", "colorsys", "compileall",
    "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg", "crypt", "csv",
    "ctypes", "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "distutils",
    "doctest", "email", "encodings", "ensurepip", "enum", "errno", "faulthandler", "fcntl", "filecmp",
    "fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc", "genericpath", "getopt", "getpass",
    "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac", "html", "http", "imaplib",
    "imghdr", "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword",
    "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes",
    "mmap", "modulefinder", "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt",
    "ntpath", "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb",
    "pickle", "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath",
    "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pyexpat", "queue",
    "quopri", "random", "re", "readline", "reprlib", "resource", "rlcompleter", "runpy", "sched",
    "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal", "site", "smtpd", "smtplib",
    "sndhdr", "socket", "socketserver", "spwd", "sqlite3", "sre_compile", "sre_constants", "sre_parse",
    "ssl", "stat", "statistics", "string", "stringprep", "struct", "subprocess", "sunau", "symtable",
    "sys", "sysconfig", "syslog", "tabnanny", "tarfile", "telnetlib", "tempfile", "termios", "textwrap",
    "threading", "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback",
    "tracemalloc", "tty", "turtle", "types", "typing", "unicodedata", "unittest", "urllib", "uu", "uuid",
    "venv", "warnings", "wave", "weakref", "webbrowser", "winreg", "winsound", "wsgiref", "xdrlib", "xml",
    "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo",
];

#[cfg(test)]
mod tests {
    use super::STANDARD;

    #[test]
    fn standard_library_modules_are_sorted() {
        assert!(STANDARD.is_sorted());
    }
}
