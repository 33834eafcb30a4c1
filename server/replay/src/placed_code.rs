//! Code in the place of a case's truth, in the file of a workspace. Nothing is written.

use std::path::{Component, Path, PathBuf};

use benchmarks::ScoringRules;
use benchmarks::yabloco::{is_bad_generation, read_generation, splice};
use cases::{Case, FileText, Prediction, TaskKind, WriteFunction};
use sandbox::ChangedFile;

use crate::ReplayError;
use crate::file_io::read_text;
use crate::judging_rules::JudgingRules;

/// Returns the case's file with an answer in place of the truth; `None` if the answer has no code.
///
/// The answers of `write_function` are read by YABLoCo's rules. Its program puts them between two line feeds, in the place of the
/// function's lines. Codev-Bench's program makes the file of the case's own texts, which end where its scenario says.
pub(crate) fn place_answer(
    workspace: &Path,
    case: &Case,
    answer: &Prediction,
    rules: &JudgingRules,
) -> Result<Option<ChangedFile>, ReplayError> {
    let is_faithful = rules.scoring() == ScoringRules::Faithful;
    if let Some(question) = case.write_function() {
        let code = read_generation(Some(&benchmarks::function_answer(case, answer)), rules.scoring());
        let placed = place_function(workspace, case, question, &code, rules.scoring());
        return if is_bad_generation(&code) { Ok(None) } else { placed.map(Some) };
    }
    let mut change = place_code(workspace, case, &answer.text)?;
    if is_faithful && case.task.kind() == TaskKind::Complete {
        change.text = [case.prefix.as_str(), &answer.text, &case.suffix].concat();
    }
    Ok(Some(change))
}

/// Returns the case's file with a text in place of the truth.
pub(crate) fn place_code(workspace: &Path, case: &Case, text: &str) -> Result<ChangedFile, ReplayError> {
    if let Some(question) = case.write_function() {
        let code = [question.header.as_str(), text].concat();
        return place_function(workspace, case, question, &code, ScoringRules::Paper);
    }
    let (path, code) = read_file(workspace, case)?;
    let (start, end) = (case.byte_range.start, case.byte_range.end);
    let has_truth = code.get(..start) == Some(&case.prefix) && code.get(start..end) == Some(&case.truth);
    let rest = code.get(end..).filter(|_| has_truth).ok_or_else(|| other_code(workspace, case))?;
    Ok(ChangedFile { path, text: [&code[..start], text, rest].concat() })
}

/// Returns the line of the truth in its file, 1-based; `None` if it is not there.
pub(crate) fn first_line(workspace: &Path, case: &Case) -> Option<u32> {
    let Some(question) = case.write_function() else { return case.line.checked_add(1) };
    let (_, file) = read_file(workspace, case).ok()?;
    let start = find_function(&file, case, question)? + question.header.len();
    u32::try_from(file[..start].matches('\n').count()).ok()?.checked_add(1)
}

/// Returns the place of the case's function in its file, if it is there once.
fn find_function(file: &str, case: &Case, question: &WriteFunction) -> Option<usize> {
    let original = [question.header.as_str(), &case.truth].concat();
    let mut places = file.match_indices(original.as_str()).map(|(start, _)| start);
    places.next().filter(|_| places.next().is_none())
}

/// Returns the file with code in place of a function, which occurs there once.
fn place_function(
    workspace: &Path,
    case: &Case,
    question: &WriteFunction,
    code: &str,
    rules: ScoringRules,
) -> Result<ChangedFile, ReplayError> {
    let (path, file) = read_file(workspace, case)?;
    let original = [question.header.as_str(), &case.truth].concat();
    let start = find_function(&file, case, question).ok_or_else(|| other_code(workspace, case))?;
    let text = match rules {
        ScoringRules::Paper => [&file[..start], code, &file[start + original.len()..]].concat(),
        ScoringRules::Faithful => {
            let first = file[..start].matches('\n').count() + 1;
            splice(&file, first, original.lines().count().saturating_sub(1), code)
        }
    };
    Ok(ChangedFile { path, text })
}

fn read_file(workspace: &Path, case: &Case) -> Result<(PathBuf, String), ReplayError> {
    let path = PathBuf::from(&case.path);
    if !is_inside(&path) {
        return Err(other_code(workspace, case));
    }
    let text = read_text(&workspace.join(&path))?;
    Ok((path, text))
}

fn other_code(workspace: &Path, case: &Case) -> ReplayError {
    ReplayError::OtherCode { path: workspace.join(&case.path), line: case.line + 1 }
}

/// Returns a case as its code is now in the workspace's file at `path`, where other lines may have changed since; `None` if its own code
/// has changed. It keeps its id, which is that of its original texts.
///
/// # Errors
///
/// The file cannot be read.
pub fn saved_case(workspace: &Path, path: &str, case: &Case) -> Result<Option<Case>, ReplayError> {
    if !is_inside(Path::new(path)) {
        return Ok(None);
    }
    let text = read_text(&workspace.join(path))?;
    let found = case.truth_locator().locate_in(&FileText::new(&text));
    let Some(range) = found.filter(|range| text.get(range.clone()) == Some(&case.truth)) else {
        return Ok(None);
    };
    let line = u32::try_from(text[..range.start].matches('\n').count()).unwrap_or(u32::MAX);
    Ok(Some(Case {
        path: path.to_owned(),
        line,
        prefix: text[..range.start].to_owned(),
        suffix: text[range.end..].to_owned(),
        byte_range: range,
        ..case.clone()
    }))
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use benchmarks::yabloco::{YablocoFunctions, YablocoTable, yabloco_case};

    use super::*;

    const FILE: &str = "int g(int a);\n\nint f(int a)\n{\n    return g(a) + 1;\n}\n\nint h;\n";

    fn workspace(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.c"), text).expect("a file");
        folder
    }

    fn function() -> Case {
        let table = "Unnamed: 0,fname,file,doc,same_file,repository\nA1,f,x/a.c,Adds one to it.,1,x\n";
        let document = r#"{"A1":{"code":"int f(int a)\n{\n    return g(a) + 1;\n}\n","calls":[]}}"#;
        let table = YablocoTable::read(table.as_bytes()).expect("a table");
        let functions = YablocoFunctions::read(document.as_bytes()).expect("a document");
        yabloco_case(&table, &table.rows[0], &functions).expect("a case")
    }

    #[test]
    fn body_is_placed_after_the_header_of_its_function() {
        let folder = workspace(FILE);
        let change = place_code(folder.path(), &function(), "\n    return 0;\n}\n").expect("a file");
        assert_eq!(change.text, FILE.replace("g(a) + 1", "0"));
    }

    #[test]
    fn function_of_the_original_is_between_line_feeds() {
        let folder = workspace(FILE);
        let (case, code) = (function(), "int f(int a) { return 2; }\n");
        let question = case.write_function().expect("a question");
        let placed =
            |rules| place_function(folder.path(), &case, question, code, rules).expect("a file").text;
        let around = |code: &str| FILE.replace("int f(int a)\n{\n    return g(a) + 1;\n}\n", code);
        assert_eq!(placed(ScoringRules::Paper), around(code));
        assert_eq!(placed(ScoringRules::Faithful), around(&format!("\n{code}\n")));
    }

    #[test]
    fn function_that_is_not_there_once_has_no_place() {
        for text in [String::new(), FILE.replace("+ 1", "+ 2"), [FILE, FILE].concat()] {
            let folder = workspace(&text);
            let placed = place_code(folder.path(), &function(), "");
            assert!(matches!(placed, Err(ReplayError::OtherCode { .. })), "{placed:?}");
        }
    }

    #[test]
    fn paths_outside_are_refused() {
        let folder = workspace(FILE);
        let case = Case { path: "../a.c".to_owned(), ..function() };
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        assert!(matches!(place_code(&inner, &case, ""), Err(ReplayError::OtherCode { .. })));
        assert_eq!(saved_case(&inner, "../a.c", &case).expect("it is not read"), None);
    }
}
