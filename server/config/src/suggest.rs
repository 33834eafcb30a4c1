//! Suggestions for misspelled names.

use strsim::damerau_levenshtein;

/// Returns the candidate most similar to a word, with at most one wrong letter in three.
pub(crate) fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = snake_case(word);
    let rated = candidates.into_iter().map(|candidate| (damerau_levenshtein(&word, candidate), candidate));
    let limit = |candidate: &str| (word.chars().count().max(candidate.chars().count()) / 3).max(1);
    rated.filter(|&(slips, candidate)| slips <= limit(candidate)).min().map(|(_, candidate)| candidate)
}

/// Converts `deadlineMs`, `deadline-ms` and `DEADLINE_MS` to `deadline_ms`.
pub(crate) fn snake_case(word: &str) -> String {
    let mut snake = String::new();
    let mut was_lower = false;
    for c in word.chars() {
        if c.is_uppercase() && was_lower {
            snake.push('_');
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        snake.extend(if c == '-' { '_' } else { c }.to_lowercase());
    }
    snake
}

/// Returns ", did you mean ...?" or the list of known words, for the end of a message.
pub(crate) fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match suggest(word, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", backquoted_list(known)),
    }
}

/// Joins words in backquotes.
pub(crate) fn backquoted_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_get_suggestions_and_unrelated_words_do_not() {
        let known = ["model", "name", "url", "max_tokens", "extra_body"];
        for (word, expected) in [
            ("modle", Some("model")),
            ("maxTokens", Some("max_tokens")),
            ("max-token", Some("max_tokens")),
            ("uri", Some("url")),
            ("temperature", None),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(suggest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn camel_case_names_become_snake_case() {
        for (name, expected) in
            [("deadlineMs", "deadline_ms"), ("apiKeyEnv", "api_key_env"), ("url", "url"), ("", "")]
        {
            assert_eq!(snake_case(name), expected);
        }
    }
}
