//! Consistency of the table, and errors in templates written by users.

use expect_test::{Expect, expect};

use super::*;
use crate::special_tokens::TOKEN_BREAK;

/// Placeholders allowed in a snippet of context.
const IN_ITEM: &[Placeholder] = &[Placeholder::Path, Placeholder::Language, Placeholder::Text];

#[track_caller]
fn check_error(setting: &str, expect: Expect) {
    let error = Template::parse(setting).err();
    expect.assert_eq(&error.map_or("none".to_owned(), |error| error.to_string()));
}

/// All rows, including the one for chats.
fn rows() -> impl Iterator<Item = &'static ModelFamily> {
    FAMILIES.iter().chain([&chat_prompt::FAMILY])
}

fn layouts(family: &ModelFamily) -> Vec<&'static str> {
    let mut layouts = vec![family.file_layout];
    layouts.extend(family.repository_layout.as_ref().map(|files| files.layout));
    layouts
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = rows()
        .flat_map(|row| row.aliases.iter().chain([&row.name]).map(|name| normalized_name(name)))
        .collect();
    names.sort();
    let count = names.len();
    names.dedup();
    assert_eq!(count, names.len(), "{names:?}");
    for row in rows().filter(|row| row.name != "hole") {
        assert_eq!(ModelFamily::by_name(row.name).map(|row| row.name), Some(row.name));
    }
}

#[test]
fn model_keywords_are_normalized() {
    for word in rows().flat_map(|row| row.models) {
        assert_eq!(normalized_name(word), *word);
    }
}

#[test]
fn layouts_have_prefix_and_suffix_once() {
    for row in rows() {
        for layout in layouts(row) {
            let slots = check_placeholders(layout, IN_PROMPT).unwrap();
            for slot in [Placeholder::Prefix, Placeholder::Suffix] {
                assert_eq!(slots.iter().filter(|found| **found == slot).count(), 1, "{}: {slot:?}", row.name);
            }
        }
        if let Some(item) = row.repository_layout.as_ref().and_then(|files| files.item) {
            assert!(check_placeholders(item, IN_ITEM).unwrap().contains(&Placeholder::Text), "{}", row.name);
        }
    }
}

#[test]
fn tokens_of_layouts_are_special_tokens_of_the_template() {
    for row in rows() {
        let template = Template::Family(if row.name == "hole" { &chat_prompt::FAMILY } else { row });
        let tokens = template.tokens();
        for token in layouts(row).into_iter().flat_map(layout_tokens) {
            assert!(tokens.contains(&token), "{}: {token}", row.name);
        }
        for token in tokens {
            assert!(token.chars().count() > 1 && !token.contains(TOKEN_BREAK), "{}: {token}", row.name);
        }
    }
}

#[test]
fn suffix_comes_first_for_families_that_require_it() {
    let first: Vec<_> = FAMILIES
        .iter()
        .filter(|family| Template::Family(family).is_suffix_first())
        .map(|family| family.name)
        .collect();
    assert_eq!(first, ["codellama-spm", "codestral", "seed-coder", "mellum", "codegeex4", "glm-4.5"]);
}

#[test]
fn layout_is_split_into_slots_and_literals() {
    let found: Vec<_> = pieces("{path}a{prefix}{suffix} {b} {}{").collect();
    let expected = [
        LayoutPiece::Slot(Placeholder::Path),
        LayoutPiece::Literal("a"),
        LayoutPiece::Slot(Placeholder::Prefix),
        LayoutPiece::Slot(Placeholder::Suffix),
        LayoutPiece::Literal(" {b} {}{"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn tokens_are_found_in_layouts() {
    assert_eq!(
        layout_tokens(
            "<｜fim▁begin｜>{prefix}<[fim-suffix]>{suffix} <MID> if a < b { [SUFFIX] x[i] <a b> [lower]"
        ),
        ["<｜fim▁begin｜>", "<[fim-suffix]>", "<MID>", "[SUFFIX]"]
    );
    assert_eq!(last_token("<a>{prefix}<b>\n"), "<b>");
    assert_eq!(last_token("<a>{prefix}"), "");
}

#[test]
fn custom_templates_are_validated() {
    assert!(Template::parse("<PRE> {prefix} <SUF>{suffix} <MID>").is_ok());
    assert!(Template::parse("{context}{path} {repo} {language}\n{prefix}").is_ok());
    check_error("<PRE>{suffix}", expect!["the template needs `{prefix}` exactly once"]);
    check_error("{prefix}{prefix}", expect!["the template needs `{prefix}` exactly once"]);
    check_error("{prefix}{suffix}{suffix}", expect!["the template has `{suffix}` more than once"]);
    check_error(
        "{prefix}{sufix}",
        expect![
            "unknown placeholder `{sufix}` in the template; known here are {prefix}, {suffix}, {context}, {path}, {repo}, {language}"
        ],
    );
    check_error(
        "<P>{{{prefix}}}<S>{{{suffix}}}",
        expect!["the template has double braces; write {prefix} and {suffix} with single ones"],
    );
    check_error(
        "{{ .Prompt }}",
        expect!["the template has double braces; write {prefix} and {suffix} with single ones"],
    );
}

#[test]
fn tokens_of_a_template_written_out() {
    let written = CustomTemplate::new("<b>{prefix}<a>{suffix}<b>").unwrap();
    assert_eq!(written.tokens, ["<a>", "<b>"]);
}
