//! Cases from the functions of the table, and from MERA's rows.

use cases::{BlockKind, CallScope, Case, ContextItem, FunctionQuestion, Task, WriteFunction};
use syntax::Language;

use super::generation_sheet::MeraFunction;
use super::mera_rows::MeraRow;
use super::table::{YablocoFunctions, YablocoRow, YablocoTable};
use crate::imported_case::{CaseParts, imported_case};

/// Name of the benchmark in the origin of its cases.
pub const YABLOCO: &str = "yabloco";

/// Strategy of the oracle context.
const STRATEGY: &str = "oracle";

/// Returns the case of a row of the table; an error says why it has none. `functions` is the table's document.
pub fn yabloco_case(
    table: &YablocoTable,
    row: &YablocoRow,
    functions: &YablocoFunctions,
) -> Result<Case, String> {
    let code =
        functions.code(&row.key).ok_or_else(|| format!("the document has no code for `{}`", row.key))?;
    let value = |column| table.value(row, column).unwrap_or_default();
    let repository = value("repository");
    let path = in_repository(value("file"), repository);
    let context = functions.callees(&row.key).map(|(path, code)| context_item(path, code));
    let question = Question {
        key: &row.key,
        repository,
        name: value("fname"),
        path,
        documentation: value("doc"),
        signature: None,
        scope: Some(scope(table.category(row))),
        code,
    };
    question.case(context.collect())
}

/// Returns the case of one of MERA's rows; an error says why it has none.
pub fn mera_case(row: &MeraRow) -> Result<Case, String> {
    let MeraFunction { id, repo, signature, doc, context, code } = &row.function;
    if code.is_empty() {
        return Err("the row has no code; MERA keeps that of its tests private".to_owned());
    }
    let invented = format!("{repo}/{id}.cpp");
    let question = Question {
        key: id,
        repository: repo,
        name: &row.name,
        path: row.file.as_deref().map_or(&invented, |file| in_repository(file, repo)),
        documentation: doc,
        signature: Some(signature),
        scope: row.category.map(scope),
        code,
    };
    question.case(context.iter().map(|code| context_item("", code)).collect())
}

/// Returns a path without the repository's name, which the public files have in front of it.
fn in_repository<'p>(path: &'p str, repository: &str) -> &'p str {
    path.strip_prefix(repository).and_then(|path| path.strip_prefix('/')).unwrap_or(path)
}

fn scope(category: &str) -> CallScope {
    match category {
        "stdlib" => CallScope::Stdlib,
        "same_file" => CallScope::File,
        "same_package" => CallScope::Package,
        "project" => CallScope::Project,
        _ => CallScope::None,
    }
}

/// Returns the category in the original's words.
pub(super) fn category(scope: CallScope) -> &'static str {
    match scope {
        CallScope::None => "none",
        CallScope::Stdlib => "stdlib",
        CallScope::File => "same_file",
        CallScope::Package => "same_package",
        CallScope::Project => "project",
    }
}

/// Returns a called function as context; the original does not contain its lines, so they count from 0.
fn context_item(path: &str, code: &str) -> ContextItem {
    ContextItem {
        path: path.to_owned(),
        start_line: 0,
        end_line: u32::try_from(code.lines().count()).unwrap_or(u32::MAX),
        text: code.to_owned(),
        strategy: STRATEGY.to_owned(),
        score: 0.0,
    }
}

/// The parts of a row.
struct Question<'a> {
    key: &'a str,
    repository: &'a str,
    name: &'a str,
    path: &'a str,
    documentation: &'a str,
    /// `None`: the code up to the body.
    signature: Option<&'a str>,
    scope: Option<CallScope>,
    code: &'a str,
}

impl Question<'_> {
    fn case(&self, context: Vec<ContextItem>) -> Result<Case, String> {
        let language = Language::from_path(self.path).unwrap_or(Language::Cpp);
        let header = header(language, self.code);
        let signature = self.signature.unwrap_or(header);
        let documentation: String =
            self.documentation.lines().map(|line| format!("{} {line}\n", language.line_comment())).collect();
        let mut case = imported_case(CaseParts {
            benchmark: YABLOCO,
            id: self.key,
            repository: Some(self.repository).filter(|name| !name.is_empty()),
            task: Task::WriteFunction(self.scope),
            language,
            block_kind: Some(BlockKind::Function),
            path: self.path,
            prefix: &format!("{documentation}{header}"),
            suffix: "",
            truth: &self.code[header.len()..],
            context,
        })
        .ok_or_else(|| "the function is too long".to_owned())?;
        case.function = Some(Box::new(FunctionQuestion::Write(WriteFunction {
            name: self.name.to_owned(),
            signature: signature.trim_end_matches(['{', ' ', '\n', '\t', '\r']).trim_start().to_owned(),
            documentation: self.documentation.to_owned(),
            header: header.to_owned(),
        })));
        case.id = case.compute_id();
        Ok(case)
    }
}

/// Returns the beginning of a function's code, up to and with the opener of its body; nothing if it has no body.
fn header(language: Language, code: &str) -> &str {
    let functions = syntax::parse(language, code).functions(code);
    let parsed = functions.into_iter().find(|function| function.body.is_some());
    let end = parsed.map(|function| function.signature.end).or_else(|| code.find('{').map(|at| at + 1));
    &code[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_split_at_the_body() {
        let table = "Unnamed: 0,fname,file,doc,same_file,repository\nA1,f,redis/src/a.c,Adds one to it.,1,redis\nB2,g,redis/src/a.c,None.,,redis\n";
        let document = r#"{"A1":{"code":"int f(int a)\n{\n    return g(a) + 1;\n}\n","calls":[{"path":"redis/src/a.c","code":"int g(int a);"},{"x":1}]}}"#;
        let table = YablocoTable::read(table.as_bytes()).expect("a table");
        let functions = YablocoFunctions::read(document.as_bytes()).expect("a document");
        let case = yabloco_case(&table, &table.rows[0], &functions).expect("a case");
        assert_eq!(case.task, Task::WriteFunction(Some(CallScope::File)));
        assert_eq!(
            (case.prefix.as_str(), case.path.as_str()),
            ("// Adds one to it.\nint f(int a)\n{", "src/a.c")
        );
        assert_eq!(case.truth, "\n    return g(a) + 1;\n}\n");
        assert_eq!(case.context.len(), 1);
        let question = case.write_function().expect("a question");
        assert_eq!(
            (question.signature.as_str(), question.header.as_str()),
            ("int f(int a)", "int f(int a)\n{")
        );
        assert!(
            yabloco_case(&table, &table.rows[1], &functions).expect_err("none").contains("no code for `B2`")
        );
    }

    #[test]
    fn rows_of_mera_need_their_code() {
        let row = |code: &str| MeraRow {
            line: 1,
            text: String::new(),
            function: MeraFunction {
                id: "A1".to_owned(),
                repo: "redis".to_owned(),
                signature: "int f()".to_owned(),
                doc: "Returns two.".to_owned(),
                context: vec!["int g();".to_owned()],
                code: code.to_owned(),
            },
            name: String::new(),
            file: None,
            category: None,
        };
        assert!(mera_case(&row("")).is_err());
        let case = mera_case(&row("int f() { return 2; }")).expect("a case");
        assert_eq!((case.truth.as_str(), case.task), (" return 2; }", Task::WriteFunction(None)));
    }
}
