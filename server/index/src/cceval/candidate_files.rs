//! The candidate files and their order.

use syntax::Language;

/// Maximum number of files, the nearest first.
const MAX_FILES: usize = 1000;

/// Maximum distance of a candidate file.
const MAX_DISTANCE: usize = 100;

/// The only folder in which the original looks for TypeScript.
const TYPESCRIPT_SOURCES: &str = "src/";

/// Whether the file at `path` is a candidate for a file in `language`.
pub fn is_candidate(language: Language, path: &str) -> bool {
    let is_typescript = matches!(language, Language::TypeScript | Language::Tsx);
    is_in(language, path) && (!is_typescript || path.starts_with(TYPESCRIPT_SOURCES))
}

/// Whether the file at `path` is in `language` by the original's rules for its four languages; for others by our own table.
/// Files and folders with a leading dot are excluded.
fn is_in(language: Language, path: &str) -> bool {
    let ends_in =
        |endings: &[&str]| path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
    let is_in = match language {
        Language::Python => ends_in(&["py"]),
        Language::Java => ends_in(&["java"]),
        Language::CSharp => ends_in(&["cs"]),
        Language::TypeScript | Language::Tsx => ends_in(&["ts", "tsx"]),
        Language::C | Language::Cpp => {
            matches!(Language::from_path(path), Some(Language::C | Language::Cpp))
        }
        Language::JavaScript | Language::Rust | Language::Go => Language::from_path(path) == Some(language),
    };
    is_in && !path.split('/').any(|part| part.starts_with('.'))
}

/// Returns the candidate files for the file at `path`, nearest first, equal distances by path.
pub fn nearest<'a, T>(
    path: &str,
    language: Language,
    files: impl IntoIterator<Item = (&'a str, T)>,
) -> Vec<T> {
    sorted(path, files.into_iter().filter(|(other, _)| is_candidate(language, other)))
}

/// As [`nearest`], but if the workspace has no TypeScript in the original's folder, all TypeScript files are candidates.
pub(crate) fn nearest_in_workspace<T>(path: &str, language: Language, files: Vec<(&str, T)>) -> Vec<T> {
    if files.iter().any(|(other, _)| *other != path && is_candidate(language, other)) {
        return nearest(path, language, files);
    }
    sorted(path, files.into_iter().filter(|(other, _)| is_in(language, other)))
}

fn sorted<'a, T>(path: &str, files: impl Iterator<Item = (&'a str, T)>) -> Vec<T> {
    let mut sorted: Vec<(usize, &str, T)> = files
        .filter(|(other, _)| *other != path)
        .map(|(other, file)| (distance(path, other), other, file))
        .filter(|(distance, _, _)| *distance <= MAX_DISTANCE)
        .collect();
    sorted.sort_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
    sorted.into_iter().map(|(_, _, file)| file).take(MAX_FILES).collect()
}

/// Returns the number of folders between two files: up to the common folder, and down again.
pub fn distance(one: &str, other: &str) -> usize {
    let common = folders(one).zip(folders(other)).take_while(|(one, other)| one == other).count();
    folders(one).count() + folders(other).count() - 2 * common
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    folder.into_iter().flat_map(|folder| folder.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_folders_up_and_down() {
        assert_eq!(distance("a.py", "b.py"), 0);
        assert_eq!(distance("a/b.py", "a/c.py"), 0);
        assert_eq!(distance("a/b.py", "c.py"), 1);
        assert_eq!(distance("a/b/c.py", "a/d/e/f.py"), 3);
        assert_eq!(distance("ab/c.py", "a/c.py"), 2);
    }

    #[track_caller]
    fn check(language: Language, paths: &[&str], expected: &[&str]) {
        let found: Vec<&str> = paths.iter().copied().filter(|path| is_candidate(language, path)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn candidates_have_the_extensions_of_the_language() {
        let paths =
            ["a.py", "a.pyi", "src/a.ts", "src/b/c.d.ts", "src/a.tsx", "lib/a.ts", "src/a.js", "A.java"];
        check(Language::Python, &paths, &["a.py"]);
        check(Language::TypeScript, &paths, &["src/a.ts", "src/b/c.d.ts", "src/a.tsx"]);
        check(Language::Tsx, &paths, &["src/a.ts", "src/b/c.d.ts", "src/a.tsx"]);
        check(Language::Java, &paths, &["A.java"]);
        check(Language::JavaScript, &paths, &["src/a.js"]);
        check(Language::Cpp, &["a.h", "b.cpp", "c.c", "d.rs"], &["a.h", "b.cpp", "c.c"]);
    }

    #[test]
    fn hidden_files_and_files_without_extension_are_excluded() {
        check(Language::Python, &[".tox/a.py", "a/.b.py", ".py", "py", "a.py/b", "a.b/c.py"], &["a.b/c.py"]);
    }

    fn with_paths<'a>(paths: &[&'a str]) -> Vec<(&'a str, &'a str)> {
        paths.iter().map(|path| (*path, *path)).collect()
    }

    #[test]
    fn nearer_files_come_first_and_own_file_is_excluded() {
        let files = with_paths(&["b.py", "a/d.py", "a/c.py", "a/x.py", "a/e/f.py", "g.rs"]);
        assert_eq!(nearest("a/x.py", Language::Python, files), ["a/c.py", "a/d.py", "a/e/f.py", "b.py"]);
    }

    #[test]
    fn distant_files_and_files_beyond_the_limit_are_excluded() {
        let far = "f/".repeat(MAX_DISTANCE + 1) + "a.py";
        assert!(nearest("x.py", Language::Python, [(far.as_str(), ())]).is_empty());
        assert_eq!(nearest("x.py", Language::Python, [(&far[2..], ())]), [()]);
        let many: Vec<String> = (0..=MAX_FILES).map(|number| format!("{number}.py")).collect();
        let many = many.iter().map(|path| (path.as_str(), ()));
        assert_eq!(nearest("x.py", Language::Python, many).len(), MAX_FILES);
    }

    #[test]
    fn workspace_typescript_files_need_no_src_folder() {
        let files = ["lib/a.ts", "b.tsx", "x.ts", "src.js"];
        assert_eq!(nearest("x.ts", Language::TypeScript, with_paths(&files)), [""; 0]);
        let found = nearest_in_workspace("x.ts", Language::TypeScript, with_paths(&files));
        assert_eq!(found, ["b.tsx", "lib/a.ts"]);
        let found = nearest_in_workspace("x.ts", Language::TypeScript, with_paths(&["src/a.ts", "b.ts"]));
        assert_eq!(found, ["src/a.ts"]);
    }
}
