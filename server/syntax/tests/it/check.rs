//! The check used for all fixtures.

use std::ops::Range;

use expect_test::Expect;
use syntax::{Block, Function, Language, Tree};

/// Maximum length of code printed in full, in characters.
const WHOLE: usize = 60;
/// Maximum length in a list of statements, most of which are printed again as blocks.
const WHOLE_IN_LIST: usize = 20;

/// Prints the blocks and functions of `fixture` and compares.
///
/// - A block with a body is a line `kind "header" "inside of the body" "rest" [direct statements]`; the three texts together are
///   the block's whole range. A statement is a line `statement "text"`. Children are indented; `!` marks blocks with errors.
/// - A function is a line `name: ...`, with its docstring if it has one, and its signature if it has no body.
/// - `end:` shows the text from the cursor `$0` to the end of its statement.
#[track_caller]
pub(crate) fn check(language: Language, fixture: &str, expect: Expect) {
    let (text, cursor) = match fixture.contains(test_fixture::CURSOR) {
        true => {
            let (text, cursor) = test_fixture::take_cursor(fixture);
            (text, Some(cursor))
        }
        false => (fixture.to_owned(), None),
    };
    let tree = syntax::parse(language, &text);
    expect.assert_eq(&render(&tree, &text, cursor));
}

fn render(tree: &Tree, text: &str, cursor: Option<usize>) -> String {
    let mut out = String::new();
    let blocks = tree.blocks(text);
    for block in &blocks {
        let depth = std::iter::successors(block.parent, |&parent| blocks[parent].parent).count();
        out.push_str(&"  ".repeat(depth));
        render_block(&mut out, block, text);
    }
    for function in tree.functions(text) {
        render_function(&mut out, &function, text);
    }
    if let Some(cursor) = cursor {
        let rest = tree.statement_end(cursor).map(|end| quote(text, cursor..end, WHOLE));
        out.push_str(&format!("end: {}\n", rest.as_deref().unwrap_or("none")));
    }
    out
}

fn render_block(out: &mut String, block: &Block, text: &str) {
    let kind = format!("{:?}", block.kind).to_lowercase();
    out.push_str(&format!("{kind} {}", quote(text, block.header.clone(), WHOLE)));
    if let Some(body) = &block.body {
        assert_eq!((block.range.start, block.header.end), (block.header.start, body.inner.start));
        let statements: Vec<_> =
            body.statements.iter().map(|range| quote(text, range.clone(), WHOLE_IN_LIST)).collect();
        let rest = body.inner.end..block.range.end;
        out.push_str(&format!(
            " {} {} [{}]",
            quote(text, body.inner.clone(), WHOLE),
            quote(text, rest, WHOLE),
            statements.join(", ")
        ));
    } else {
        assert_eq!(block.range, block.header);
    }
    out.push_str(if block.has_error { " !\n" } else { "\n" });
}

fn render_function(out: &mut String, function: &Function, text: &str) {
    out.push_str(&format!("name: {}", function.name));
    if let Some(docstring) = &function.docstring {
        out.push_str(&format!(" docstring {}", quote(text, docstring.clone(), WHOLE)));
    }
    if function.body.is_none() {
        out.push_str(&format!(" signature {}", quote(text, function.signature.clone(), WHOLE)));
    }
    out.push('\n');
}

/// Returns the text as a string literal; without its middle if it is longer than `whole`.
fn quote(text: &str, range: Range<usize>, whole: usize) -> String {
    let chars: Vec<char> = text[range].chars().collect();
    if chars.len() <= whole {
        return format!("{:?}", chars.iter().collect::<String>());
    }
    let (head, tail) = (&chars[..whole / 2], &chars[chars.len() - whole / 2..]);
    format!("{:?}", [head, &['…'], tail].concat().iter().collect::<String>())
}
