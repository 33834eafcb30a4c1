//! Statements after which the following statement is unreachable.

use crate::Language;

/// Whether control never continues after `statement`, the last one of a body: it returns, throws or jumps, or is the value of a
/// Rust block.
pub fn is_jump(language: Language, statement: &str) -> bool {
    let is_value = language == Language::Rust && !statement.ends_with([';', '}']);
    is_value
        || language.spec().jumps.iter().any(|word| {
            let rest = statement.strip_prefix(*word);
            rest.is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '!'))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_leave_a_body_are_jumps() {
        for (language, statement) in [
            (Language::Python, "return"),
            (Language::Python, "raise Broken(1)"),
            (Language::JavaScript, "throw new Broken();"),
            (Language::CSharp, "yield break;"),
            (Language::Go, "fallthrough"),
            (Language::C, "goto out;"),
            (Language::Rust, "Ok(())"),
            (Language::Rust, "break 'outer;"),
        ] {
            assert!(is_jump(language, statement), "{statement}");
        }
    }

    #[test]
    fn other_statements_are_not_jumps() {
        for (language, statement) in [
            (Language::Python, "returned = 1"),
            (Language::Python, "raises(1)"),
            (Language::CSharp, "yield return 1;"),
            (Language::Rust, "store(1);"),
            (Language::Rust, "for a in b {}"),
            (Language::C, "gotos(1);"),
        ] {
            assert!(!is_jump(language, statement), "{statement}");
        }
    }
}
