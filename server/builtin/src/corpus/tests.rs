//! A changed corpus equals a rebuilt one, for any order of changes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use syntax::Language;

use super::*;
use crate::BuiltinSettings;
use crate::candidates::{self, Candidate, TokenPosition};
use crate::layer::LayerText;
use crate::match_order::MinimaTree;
use crate::suffix_array::SuffixArray;

/// Lines of random files. There are few of them, so that files are similar.
const LINES: [&str; 5] = ["for i in all:", "    a += i.x", "    b += i.y", "if a > b:", "    raise Wrong(a)"];
/// Two directories, and a file of another family.
const PATHS: [&str; 6] = ["a.py", "b.py", "lib/c.py", "lib/d.py", "lib/e.py", "lib/f.rs"];

/// Texts by path.
type Files = BTreeMap<&'static str, String>;

fn file(path: &str, text: &str) -> SourceFile {
    let language = Language::from_path(path).expect("a language");
    SourceFile { path: path.into(), language, text: text.into() }
}

fn files(texts: &Files) -> Vec<SourceFile> {
    texts.iter().map(|(path, text)| file(path, text)).collect()
}

fn text() -> impl Strategy<Value = String> {
    // Some files have more equally good matches than the limit for candidates.
    let count = prop_oneof![3 => 0..3_usize, 1 => 50..90_usize];
    let lines = count.prop_flat_map(|count| prop::collection::vec(prop::sample::select(&LINES[..]), count));
    lines.prop_map(|lines| lines.join("\n") + "\n")
}

fn texts() -> impl Strategy<Value = Files> {
    prop::collection::btree_map(prop::sample::select(&PATHS[..]), text(), 0..PATHS.len())
}

/// Several rounds of changed and removed files.
fn changes() -> impl Strategy<Value = Vec<(Files, BTreeSet<&'static str>)>> {
    let removed = prop::collection::btree_set(prop::sample::select(&PATHS[..]), 0..2);
    let changed = prop::collection::btree_map(prop::sample::select(&PATHS[..]), text(), 0..3);
    prop::collection::vec((changed, removed), 0..4)
}

fn open<'a>(before: &'a str, hidden: &'a [&'a str]) -> OpenFile<'a> {
    OpenFile { hidden, ..OpenFile::new("lib/c.py", Language::Python, before, "\n") }
}

/// All candidates in order: hash of the text, offset in it, nearness and length of the match.
fn candidate_positions(corpus: &Corpus, open: &OpenFile) -> Vec<(Hash, u32, String)> {
    let view = corpus.view(open);
    let mut found = candidates::exact_matches(&view, &view.cursor.context);
    candidates::add_class_matches(&view, &view.cursor.context, &mut found);
    let shard = &corpus.shards[LanguageFamily::Python as usize];
    let place = |Candidate { position: place, nearness, match_len: matched }| {
        let TokenPosition::Corpus(position) = place else { return None };
        let layer = view.layers.iter().rposition(|layer| layer.first <= position).expect("a layer");
        let local = position - view.layers[layer].first;
        let sorted = shard.layers[layer].sorted();
        let text = sorted.texts.partition_point(|text| text.start <= local) - 1;
        let LayerText { start, .. } = sorted.texts[text];
        let hash = shard.layers[layer]
            .entries()
            .find(|entry| entry.text == Some(text as u32))
            .expect("masked texts are never found")
            .hash;
        Some((hash, local - start, format!("{nearness:?} {matched}")))
    };
    found.into_iter().filter_map(place).collect()
}

/// Applies changes, some of them followed by compaction. Returns the corpus and the texts that it should hold.
fn changed(first: Files, changes: Vec<(Files, BTreeSet<&'static str>)>) -> (Corpus, Files) {
    let (mut corpus, mut texts) = (Corpus::build(&files(&first)), first);
    for (number, (changed, removed)) in changes.into_iter().enumerate() {
        let removed: Vec<Arc<str>> =
            removed.into_iter().filter(|path| !changed.contains_key(path)).map(Arc::from).collect();
        corpus = corpus.with_changes(&files(&changed), &removed);
        if number % 2 == 0 {
            corpus = corpus.compacted();
        }
        texts.retain(|path, _| !removed.iter().any(|removed| &**removed == *path));
        texts.extend(changed);
    }
    (corpus, texts)
}

/// Returns the completion, its alternatives and its origins.
fn completed(corpus: &Corpus, open: &OpenFile) -> String {
    let view = corpus.view(open);
    let completion = view.complete(&BuiltinSettings::for_replay(), &mut || true);
    let others = view.alternatives(&BuiltinSettings::for_replay(), &completion, &mut || true);
    let others: Vec<String> = others.into_iter().map(|other| other.text).collect();
    let tokens = completion.tokens.iter().map(|token| (token.text.clone(), token.probability));
    format!("{:?} {others:?} {:?}", tokens.collect::<Vec<_>>(), view.origins(&completion))
}

/// Returns the paths of the files whose tokens are stored.
fn stored_paths(corpus: &Corpus) -> BTreeSet<String> {
    let entries = corpus.shards.iter().flat_map(|shard| &shard.layers).flat_map(Layer::entries);
    entries.filter(|entry| entry.text.is_some()).map(|entry| entry.path.to_string()).collect()
}

fn limit(tokens: usize, near: &[&str]) -> CorpusLimit {
    CorpusLimit { tokens, near: near.iter().map(|&near| near.into()).collect() }
}

proptest! {
    /// A corpus without room for all files holds the same files for any history.
    #[test]
    fn limited_corpus_stores_the_same_files_for_any_history(
        first in texts(),
        changes in changes(),
        max_tokens in 1_usize..120,
        near in prop::sample::select(vec![&[][..], &["lib"], &["elsewhere"]]),
    ) {
        let (mut corpus, mut texts) = (Corpus::build_within(limit(max_tokens, &[]), &files(&first)), first);
        corpus = corpus.with_limit(limit(max_tokens, near)).synced_to(&files(&texts));
        for (changed, removed) in changes {
            let removed: Vec<Arc<str>> = removed.into_iter().map(Arc::from).collect();
            texts.retain(|path, _| !removed.iter().any(|removed| &**removed == *path));
            texts.extend(changed.clone());
            let removed: Vec<Arc<str>> = removed.into_iter().filter(|path| !texts.contains_key(&**path)).collect();
            corpus = corpus.updated_for(&files(&changed), &removed, &files(&texts));
            let anew = Corpus::build_within(limit(max_tokens, near), &files(&texts));
            prop_assert_eq!(stored_paths(&corpus), stored_paths(&anew));
            let open = open("for i in all:\n    a += i.", &[]);
            prop_assert_eq!(completed(&corpus, &open), completed(&anew, &open));
            prop_assert_eq!(corpus.synced_to(&files(&texts)).changed_tokens(), corpus.changed_tokens());
        }
    }

    #[test]
    fn completions_do_not_depend_on_the_history_of_changes(first in texts(), changes in changes()) {
        let (corpus, texts) = changed(first, changes);
        let anew = Corpus::build(&files(&texts));
        for hidden in [&[][..], &["a.py"]] {
            for before in ["for i in all:\n    a += i.", "if a > b:\n    raise Wrong("] {
                let open = open(before, hidden);
                prop_assert_eq!(candidate_positions(&corpus, &open), candidate_positions(&anew, &open));
                prop_assert_eq!(completed(&corpus, &open), completed(&anew, &open));
            }
        }
        let renewed = corpus.rebuilt(&[]);
        prop_assert_eq!(renewed.image().concat(), anew.image().concat(), "renewed without its files");
        prop_assert_eq!((renewed.stats(), renewed.changed_tokens()), (anew.stats(), 0));
    }

    #[test]
    fn synced_corpus_equals_a_fresh_build(first in texts(), then in texts()) {
        let brought = Corpus::build(&files(&first)).synced_to(&files(&then));
        let anew = Corpus::build(&files(&then));
        let open = open("for i in all:\n    a += i.", &[]);
        prop_assert_eq!(candidate_positions(&brought, &open), candidate_positions(&anew, &open));
        prop_assert_eq!(brought.rebuilt(&[]).image().concat(), anew.image().concat());
    }
}

#[test]
fn sync_lexes_only_changed_files() {
    let all = files(&PATHS.iter().map(|&path| (path, format!("{path} = 1\n"))).collect());
    let corpus = Corpus::build(&all);
    assert_eq!(corpus.synced_to(&all).shards[0].layers.len(), 1);
    let mut one = all.clone();
    one[2] = file("lib/c.py", "new = 1\n");
    let brought = corpus.synced_to(&one);
    let layers = &brought.shards[LanguageFamily::Python as usize].layers;
    assert_eq!(layers[1..].iter().map(Layer::live_counts).collect::<Vec<_>>(), [(5, 1)]);
}

#[test]
fn text_is_kept_while_any_file_has_it() {
    let text = "def area(self):\n    return self.width * self.height\n";
    let corpus = Corpus::build(&[file("a.py", text), file("b.py", text)]);
    let complete = |corpus: &Corpus| {
        let open = open("def area(self):\n    return self.", &[]);
        corpus.view(&open).complete(&BuiltinSettings::for_replay(), &mut || true).text
    };
    let without_one = corpus.with_changes(&[file("a.py", "x = 1\n")], &[]);
    assert_eq!(complete(&without_one), "width * self.height");
    assert!(!complete(&without_one.with_changes(&[], &["b.py".into()])).contains("width"));
    assert_eq!(complete(&corpus), "width * self.height", "the former corpus is unchanged");
}

#[test]
fn text_has_the_nearness_of_its_nearest_file() {
    let text = "for i in all:\n    a += i.x\n";
    let corpus = Corpus::build(&[file("a.py", text), file("lib/b.py", text)]);
    let nearness = |corpus: &Corpus| {
        let open = open("for i in all:\n    a += i.", &[]);
        let found = candidate_positions(corpus, &open).into_iter().map(|(.., how)| how);
        let words: BTreeSet<String> =
            found.filter_map(|how| Some(how.split_once(' ')?.0.to_owned())).collect();
        words.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(nearness(&corpus), ["Directory"]);
    assert_eq!(nearness(&corpus.with_changes(&[], &["lib/b.py".into()])), ["Workspace"]);
    assert_eq!(
        nearness(&corpus.with_changes(&[file("lib/b.py", "b += i.y\n")], &[])),
        ["Directory", "Workspace"]
    );
}

#[test]
fn the_open_file_is_masked_in_every_layer() {
    let text = "def area(self):\n    return self.width * self.height\n";
    // The base has the same text as `a.py`, and the layer behind it as `lib/c.py`.
    let corpus = Corpus::build(&[file("a.py", text)]).with_changes(&[file("lib/c.py", text)], &[]);
    let open = open("def area(self):\n    return self.", &[]);
    assert_eq!(corpus.view(&open).complete(&BuiltinSettings::for_replay(), &mut || true).text, "");
}

#[test]
fn layer_count_stays_bounded_after_many_changes() {
    let mut corpus = Corpus::build(&[file("a.py", "a = 1\n")]);
    for number in 0..300 {
        corpus =
            corpus.with_changes(&[file(&format!("{}.py", number % 100), "x = [1, 2, 3]\n")], &[]).compacted();
    }
    let layers = corpus.shards[LanguageFamily::Python as usize].layers.len();
    assert!(layers <= 8, "{layers}");
    assert!(corpus.needs_rebuild() && !corpus.rebuilt(&[]).needs_rebuild());
}

#[test]
fn vendored_and_large_files_are_excluded_first() {
    let large = "large = 1\n".repeat(50);
    let all = [
        file("vendor/a.py", "vendored = 1\n"),
        file("large.py", &large),
        file("small.py", "small = 1\n"),
        file("b.rs", "fn b() {}\n"),
    ];
    let held = |max_tokens: usize| {
        let corpus = Corpus::build_within(limit(max_tokens, &[]), &all);
        let entries = corpus.shards.iter().flat_map(|shard| &shard.layers).flat_map(Layer::entries);
        let held: Vec<String> =
            entries.filter(|entry| entry.text.is_some()).map(|entry| entry.path.to_string()).collect();
        (corpus.stats().excluded_files, held.join(" "))
    };
    assert_eq!(held(1000), (0, "large.py small.py vendor/a.py b.rs".to_owned()));
    assert_eq!(held(100), (2, "small.py b.rs".to_owned()));
    assert_eq!(held(8), (3, "b.rs".to_owned()));
    let corpus = Corpus::build_within(limit(100, &[]), &all);
    assert_eq!(corpus.synced_to(&all).changed_tokens(), 0, "excluded files are known");
    assert_eq!(corpus.rebuilt(&all).stats(), corpus.stats());
}

#[test]
fn code_near_the_user_is_held_first() {
    let all = [("a/x.py", "left = other(1, 2)\n"), ("b/y.py", "rest = other(1, 2)\n")]
        .map(|(path, line)| file(path, &line.repeat(4)));
    for (near, excluded) in [("a", "b"), ("b", "a")] {
        let corpus = Corpus::build_within(limit(40, &[near]), &all);
        let stored: Vec<String> = stored_paths(&corpus).into_iter().collect();
        assert!(stored.len() == 1 && stored[0].starts_with(near), "{stored:?}");
        assert!(!corpus.lacks_code_near(&[near.into()]), "{near}");
        assert!(corpus.lacks_code_near(&[near.into(), excluded.into()]), "{near}");
        let unchanged = corpus.with_limit(limit(40, &[near, excluded]));
        assert!(!unchanged.lacks_code_near(&[excluded.into()]), "another build holds the same");
        let corpus = unchanged;
        let TokenCoverage { held, total, excluded_files } = corpus.coverage(&all);
        assert_eq!((total, excluded_files), (2 * held, 1));
    }
    let whole = Corpus::build(&all);
    let tokens = whole.stats().tokens;
    assert_eq!(whole.coverage(&all), TokenCoverage { held: tokens, total: tokens, excluded_files: 0 });
}

#[test]
fn counted_starts_and_binary_search_find_the_same_ranges() {
    let corpus = Corpus::build(&[file("a.py", &(LINES.join("\n") + "\n").repeat(20))]);
    let shard = &corpus.shards[LanguageFamily::Python as usize];
    let (sorted, words) = (shard.layers[0].sorted(), &shard.words);
    assert!(sorted.starts.iter().all(|starts| !starts.is_empty()), "there are more tokens than words");
    let check = |positions: &[u32], starts: &[u32], token_at: &dyn Fn(usize) -> u32| {
        for token in 0..words.limit() + 2 {
            let minima = &MinimaTree::default();
            let climb = |starts| {
                SuffixArray { positions, starts, minima }.match_context([token].into_iter(), token_at)
            };
            let [searched, counted] = [&[], starts].map(|starts| format!("{:?}", climb(starts).ranges));
            assert_eq!(searched, counted, "{token}");
        }
    };
    check(&sorted.exact, &sorted.starts[0], &|at| sorted.tokens[at]);
    check(&sorted.abstracted, &sorted.starts[1], &|at| words.abstracted(sorted.tokens[at]));
}
