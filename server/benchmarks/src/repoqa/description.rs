//! Descriptions of functions by a chat model.
//!
//! A description must not name the function, nor anything in it whose name is more than a plain word: such a name would be found by a
//! search for text. A model that names one is asked again, with the names to avoid; then the function is left out.

use std::collections::BTreeSet;

use syntax::Language;

/// Passes a prompt to a model and returns its answer; `None` if there is none.
pub type Describer<'a> = dyn FnMut(&str) -> Option<String> + 'a;

/// Requests for one description.
const ATTEMPTS: usize = 3;

/// Words that a description needs to describe a function.
pub(super) const MIN_WORDS: usize = 5;

/// Limit of a description in bytes; a longer one is a manual.
pub(super) const MAX_BYTES: usize = 2000;

/// Names that a model is asked to avoid; more would hide the task.
const MAX_NAMED: usize = 20;

/// Returns a description of a function by a model.
///
/// # Errors
///
/// The model gives no description without names; the reason.
pub(super) fn describe(
    language: Language,
    name: &str,
    code: &str,
    ask: &mut Describer<'_>,
) -> Result<String, &'static str> {
    let mut avoid: BTreeSet<String> = BTreeSet::new();
    let mut reason = "the engine gave no description";
    for _ in 0..ATTEMPTS {
        let Some(answer) = ask(&prompt(language, code, &avoid)) else { continue };
        let description = answer.trim();
        if description.split_whitespace().count() < MIN_WORDS || description.len() > MAX_BYTES {
            reason = "the engine's description has fewer than 5 words or more than 2000 bytes";
            continue;
        }
        let leaked = leaked_names(description, name, code);
        if leaked.is_empty() {
            return Ok(description.to_owned());
        }
        reason = "the engine's description names the function or something in it";
        avoid.extend(leaked);
    }
    Err(reason)
}

fn prompt(language: Language, code: &str, avoid: &BTreeSet<String>) -> String {
    let names: Vec<&str> = avoid.iter().take(MAX_NAMED).map(String::as_str).collect();
    let avoid =
        if names.is_empty() { String::new() } else { format!("Avoid these: {}.\n", names.join(", ")) };
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "Describe the function below, for a search without knowledge of its name: its purpose, its input, its output, \
         and its steps. Write at most ten plain sentences and no code. Do not use the name of the function, or any other name \
         in its code.\n{avoid}\n{fence}{}\n{code}\n{fence}\n",
        language.name()
    )
}

/// Returns the names of the function and of things in its code that a description has. Plain lower-case words in the code are words
/// of the language, too.
fn leaked_names(description: &str, name: &str, code: &str) -> BTreeSet<String> {
    let names: BTreeSet<&str> = words(code).filter(|word| is_name(word)).collect();
    let is_leaked = |word: &&str| word.eq_ignore_ascii_case(name) || names.contains(word);
    words(description).filter(is_leaked).map(str::to_owned).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Whether a word in code can be nothing but a name: it has an underscore, or letters of both cases beyond its first one.
fn is_name(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let mut rest = word.chars().skip(1);
    let has_lower = word.chars().any(char::is_lowercase);
    let is_mixed = has_lower && rest.any(char::is_uppercase);
    !is_number && (is_mixed || word.trim_matches('_').contains('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str =
        "def area(radius, unit_name):\n    outerRing = 3.14e2 * radius\n    return outerRing\n";

    /// Returns the description, and the prompts.
    fn describe_with(answers: &[Option<&str>]) -> (Result<String, &'static str>, Vec<String>) {
        let mut prompts = Vec::new();
        let mut answers = answers.iter();
        let described = describe(Language::Python, "area", CODE, &mut |prompt| {
            prompts.push(prompt.to_owned());
            answers.next().copied().flatten().map(str::to_owned)
        });
        (described, prompts)
    }

    #[test]
    fn plain_words_of_the_code_are_allowed() {
        let text = "Multiplies the radius by a constant to size a disc.";
        let (described, prompts) = describe_with(&[Some(&format!("\n {text}\n"))]);
        assert_eq!(described.as_deref(), Ok(text));
        assert!(prompts.len() == 1 && prompts[0].contains(CODE) && !prompts[0].contains("Avoid"));
    }

    #[test]
    fn names_are_asked_to_be_avoided_twice() {
        let right = "It computes the size of a disc.";
        let leaking = [
            Some("Area of a disc in `unit_name`, as always."),
            Some("The outerRing of a disc is sized here."),
        ];
        let (described, prompts) = describe_with(&[leaking[0], leaking[1], Some(right)]);
        assert_eq!(described.as_deref(), Ok(right));
        assert!(prompts[2].contains("Avoid these: Area, outerRing, unit_name.\n"), "{}", prompts[2]);
        let (described, prompts) = describe_with(&[leaking[0], leaking[1], leaking[0], Some(right)]);
        assert_eq!(described, Err("the engine's description names the function or something in it"));
        assert_eq!(prompts.len(), 3);
    }

    #[test]
    fn missing_and_short_answers_are_no_descriptions() {
        assert_eq!(describe_with(&[None, None, None]).0, Err("the engine gave no description"));
        let long = "word ".repeat(500);
        let (described, _) = describe_with(&[Some("Too short."), Some(&long), None]);
        assert!(described.is_err_and(|reason| reason.contains("fewer than 5 words")));
    }

    #[test]
    fn code_cannot_end_its_block() {
        assert!(
            prompt(Language::Rust, "a ```` b", &BTreeSet::new()).contains("\n`````rust\na ```` b\n`````\n")
        );
    }

    #[test]
    fn names_are_told_from_words_and_numbers() {
        for name in ["unit_name", "outerRing", "HashMap", "__init_x__"] {
            assert!(is_name(name), "{name}");
        }
        for word in ["radius", "The", "HTTP", "3e2", "_", "_private", "1_000"] {
            assert!(!is_name(word), "{word}");
        }
    }
}
