//! Extraction of the code from an answer.

use crate::ScoringRules;
use crate::fences::fenced_blocks;

/// Returns the code of an answer, or an empty text without an answer: its first code block, or all of it, without `#include`
/// lines and without a `main` function and everything after it; with a line feed at the end.
///
/// [`ScoringRules::Faithful`] knows no fences but three backticks anywhere, gives `-` for an unclosed block, and removes a leading `cpp`,
/// `c++`, `c` or `++` also from code: `char` loses its first letter.
pub fn read_generation(answer: Option<&str>, rules: ScoringRules) -> String {
    let Some(answer) = answer else { return String::new() };
    let code = match rules {
        ScoringRules::Paper => fenced_blocks(answer).first().copied().unwrap_or(answer),
        ScoringRules::Faithful => without_language(between_backticks(answer)),
    };
    let lines = code.split('\n').filter(|line| !line.starts_with("#include"));
    let lines: Vec<&str> = lines.take_while(|line| !is_main(line)).collect();
    lines.join("\n") + "\n"
}

/// Whether the code is no attempt at an answer: blank, or the hyphen of an unclosed block. It counts as not built.
pub fn is_bad_generation(code: &str) -> bool {
    matches!(text::python::strip(code), "" | "-")
}

fn is_main(line: &str) -> bool {
    ["void main(", "int main("].iter().any(|start| line.starts_with(start))
}

fn between_backticks(answer: &str) -> &str {
    let mut pieces = answer.split("```");
    match (pieces.next(), pieces.next(), pieces.next()) {
        (_, Some(code), Some(_)) => code,
        (_, Some(_), None) => "-",
        (whole, None, _) => whole.unwrap_or_default(),
    }
}

fn without_language(code: &str) -> &str {
    ["cpp", "c++", "c", "++"].iter().fold(code, |code, name| code.strip_prefix(name).unwrap_or(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, paper: &str, faithful: &str) {
        assert_eq!(read_generation(Some(answer), ScoringRules::Paper), paper, "paper");
        assert_eq!(read_generation(Some(answer), ScoringRules::Faithful), faithful, "faithful");
    }

    #[test]
    fn includes_and_main_are_no_part_of_the_function() {
        check("#include <a>\nint f();\nint main() {\n}", "int f();\n", "int f();\n");
        check("Sure:\n```cpp\nint f();\n```\n", "int f();\n\n", "\nint f();\n\n");
    }

    #[test]
    fn original_damages_code_without_fences_and_unclosed_blocks() {
        check("char *f();", "char *f();\n", "har *f();\n");
        check("```cxx\nint f();\n```", "int f();\n\n", "xx\nint f();\n\n");
        check("```c\nint f();", "int f();\n", "-\n");
        assert_eq!(read_generation(None, ScoringRules::Faithful), "");
    }

    #[test]
    fn blank_and_hyphen_are_bad() {
        assert!(is_bad_generation("-\n") && is_bad_generation(" \n") && !is_bad_generation("--"));
    }
}
