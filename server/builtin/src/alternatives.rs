//! What else could be written, for somebody who asks for it: a choice of texts that differ.
//!
//! ```text
//! first completion ─┬─ what the plainer methods write
//!                   └─ its likeliest rivals: other first tokens, each written on from
//! ```
//!
//! Each is written as the first one is, ends by the same rules and has to be likely enough to be worth a look. It costs as many
//! completions as there are, so that nobody who only types pays for it.

use crate::cursor::Typed;
use crate::decode::{self, Writer, Written};
use crate::predict::{self, Guess, Model, Sharpness};
use crate::settings::{Completion, Method, Settings};
use crate::view::View;
use crate::vocabulary::TokenId;

/// Alternatives to the first completion at most; more nobody looks through.
const MOST: usize = 4;
/// Less likely first tokens are not written on from, and texts with a less likely token are not offered. On rests of lines of ten
/// repositories the first text is right for 29.0 of 100, and one of the choice for 35.5; bounds down to 0.5 % find half a point more
/// among half as many texts again.
const LEAST: f64 = 0.05;

/// Texts that differ from `first` and from each other, best first.
pub(crate) fn alternatives(
    view: &View,
    settings: &Settings,
    first: &Completion,
    keep_going: &mut dyn FnMut() -> bool,
) -> Vec<Completion> {
    if first.text.trim().is_empty() || settings.method != Method::Hybrid {
        return Vec::new();
    }
    let mut known = vec![first.text.trim_end().to_owned()];
    let mut alternatives = Vec::new();
    for method in [Method::LongestMatch, Method::NearestLine] {
        if alternatives.len() == MOST || !keep_going() {
            break;
        }
        let settings = Settings { method, ..*settings };
        add(decode::complete(view, &settings, keep_going), &mut known, &mut alternatives);
    }
    for opening in openings(view) {
        if alternatives.len() == MOST || !keep_going() {
            break;
        }
        let written = opening.written(view, keep_going);
        add(decode::completion(view, written, first.continuation), &mut known, &mut alternatives);
    }
    alternatives
}

/// Adds a text that is likely enough and not known yet.
fn add(completion: Completion, known: &mut Vec<String>, alternatives: &mut Vec<Completion>) {
    let text = completion.text.trim_end();
    let is_new = !text.trim_start().is_empty() && !known.iter().any(|known| known == text);
    if is_new && completion.min_probability >= LEAST {
        known.push(text.to_owned());
        alternatives.push(completion);
    }
}

/// A first token with what stands before it.
struct Opening {
    context: Vec<TokenId>,
    first: Guess,
    /// Whether it is the token at the cursor, which is typed in part.
    ends_typed: bool,
}

const MODEL: Model = Model::Hybrid(Sharpness::Sharp);

/// The likeliest first tokens.
fn openings(view: &View) -> Vec<Opening> {
    let typed = &view.cursor.typed;
    let context = &view.cursor.context;
    let mut openings = Vec::new();
    if *typed != Typed::None {
        let guesses = predict::guesses(view, MODEL, context);
        let goes_on =
            |guess: &Guess| typed.missing(view.text(guess.token)).is_some_and(|missing| !missing.is_empty());
        let fitting: Vec<Guess> = guesses.into_iter().filter(goes_on).collect();
        let all: f64 = fitting.iter().map(|guess| guess.probability).sum();
        openings.extend(fitting.into_iter().map(|guess| Opening {
            context: context.clone(),
            first: Guess { probability: guess.probability / all, ..guess },
            ends_typed: true,
        }));
    }
    if let Some(context) = behind_typed(view) {
        // A sign is rarely wanted twice, and often seen where only the classes of the tokens are alike.
        let doubles = |guess: &Guess| context.last() == Some(&guess.token);
        let guesses = predict::guesses(view, MODEL, &context).into_iter().filter(|guess| !doubles(guess));
        openings.extend(guesses.map(|first| Opening { context: context.clone(), first, ends_typed: false }));
    }
    openings.retain(|opening| opening.first.probability >= LEAST);
    openings.sort_by(|a, b| b.first.probability.total_cmp(&a.first.probability));
    openings.truncate(MOST + 1);
    openings
}

/// The context of a token that begins at the cursor; `None` where what is typed is sure to go on.
fn behind_typed(view: &View) -> Option<Vec<TokenId>> {
    let mut context = view.cursor.context.clone();
    match view.cursor.typed {
        Typed::None => {}
        Typed::Word { token, .. } if view.near_words.contains(token) => context.push(token),
        Typed::Word { .. } | Typed::String { .. } => return None,
    }
    Some(context)
}

impl Opening {
    fn written(self, view: &View, keep_going: &mut dyn FnMut() -> bool) -> Written {
        let Opening { mut context, first, ends_typed } = self;
        let mut writer = Writer::new(view, decode::mode(view, MODEL, &context));
        if ends_typed {
            writer.write(first);
            writer.ends_typed = true;
            context.push(first.token);
        } else if let Some(token) = writer.step(&[first]) {
            context.push(token);
        }
        decode::go_on(view, MODEL, &mut writer, context, keep_going);
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use syntax::{Language, SourceFile};

    use super::*;
    use crate::{Corpus, OpenFile};

    const UNGATED: Settings =
        Settings { method: Method::Hybrid, min_probability: None, min_continuation: None };

    /// The completion at `$0`, and what else could be written.
    fn choice(other: &str, fixture: &str, settings: &Settings) -> Vec<String> {
        let (before, after) = fixture.split_once("$0").expect("a cursor");
        let file = SourceFile { path: "b.py".into(), language: Language::Python, text: other.into() };
        let corpus = Corpus::build(&[file]);
        let language = Language::Python;
        let open = OpenFile { path: "a.py", language, before, after, hints: &[], hidden: &[], typing: None };
        let view = corpus.view(&open);
        let first = view.complete(settings, &mut || true);
        let alternatives = view.alternatives(settings, &first, &mut || true);
        std::iter::once(first).chain(alternatives).map(|completion| completion.text).collect()
    }

    #[track_caller]
    fn check(other: &str, fixture: &str, expected: Expect) {
        expected.assert_eq(&format!("{:?}", choice(other, fixture, &UNGATED)));
    }

    const CALLS: &str = "a = f(1)\na = f(1)\na = g(2)\na = h(3)\n";

    #[test]
    fn rivals_of_the_first_token_are_written_on_from() {
        check(CALLS, "a = $0\n", expect![[r#"["f(1)", "h(3)", "g(2)", "(1)"]"#]]);
    }

    #[test]
    fn a_typed_word_may_go_on_in_several_ways() {
        check(
            "print(total)\nprint(total)\nprices = 1\nprepare(x)\n",
            "pr$0\n",
            expect![[r#"["int(total)", "ices = 1", "epare(x)"]"#]],
        );
        check(
            "total = 1\ntotal += 2\ntotals = 3\n",
            "total = 0\ntotal$0\n",
            expect![[r#"[" += 2", "s = 3", " = 0"]"#]],
        );
        check("f('one')\nf('only')\nf('two')\n", "f('o$0')\n", expect![[r#"["ne", "nly"]"#]]);
    }

    #[test]
    fn there_is_no_choice_where_nothing_is_written() {
        check("a = 1\n", "# a $0\n", expect![[r#"[""]"#]]);
        let plain = Settings { method: Method::LongestMatch, ..UNGATED };
        assert_eq!(choice(CALLS, "a = $0\n", &plain).len(), 1, "it is there to be measured");
    }

    #[test]
    fn who_has_enough_gets_what_there_is() {
        let (before, language) = ("a = ", Language::Python);
        let file = SourceFile { path: "b.py".into(), language, text: CALLS.into() };
        let corpus = Corpus::build(&[file]);
        let open =
            OpenFile { path: "a.py", language, before, after: "\n", hints: &[], hidden: &[], typing: None };
        let view = corpus.view(&open);
        let first = view.complete(&UNGATED, &mut || true);
        assert_eq!(view.alternatives(&UNGATED, &first, &mut || false), Vec::new());
    }
}
