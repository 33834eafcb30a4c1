//! The retriever in small repositories, given as `//- /path` sections, and against a naive one in random ones.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::{Language, SourceFile};

use super::*;
use text::python;

fn files(fixture: &str) -> Vec<SourceFile> {
    test_fixture::files(fixture).into_iter().map(|(path, text)| file(path, text)).collect()
}

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.into(), language: Language::Python, text: text.into() }
}

fn numbered(name: &str, lines: usize) -> String {
    (0..lines).map(|number| format!("{name}_{number}\n")).collect()
}

const REPOSITORY: &str = "\
//- /shop/users.py
import json


def load_user(path):
    with open(path) as file:
        return parse_user(file.read())

def save_user(path, user):
    with open(path, 'w') as file:
        file.write(json.dumps(user))

class User:
    def __init__(self, name):
        self.name = name

    def greet(self):
        return f'Hello {self.name}'
//- /shop/orders/order.py
def total(order):
    return sum(line.price for line in order.lines)
//- /main.py
print('nothing')
//- /shop/page.py
";

const PREFIX: &str = "import users\n\ndef show(path):\n    user = users.load_user(path)\n    return ";

const RG1: ChunkQuery<'static> =
    ChunkQuery { prefix: PREFIX, setting: RetrievalSetting::Rg1, ranking: ChunkRanking::Bm25 };

fn candidates(files: &[SourceFile], path: &str) -> ChunkCandidates {
    let nearest = nearest(path, Language::Python, files.iter().map(|file| (&*file.path, file)));
    ChunkCandidates::new(
        nearest.into_iter().map(|file| Arc::new(FileChunks::new(file.path.clone(), &file.text))),
    )
}

#[track_caller]
fn check(query: &ChunkQuery<'_>, expected: Expect) {
    let hits = candidates(&files(REPOSITORY), "shop/page.py").hits(query);
    expected.assert_eq(
        &hits
            .into_iter()
            .map(|hit| {
                let (path, start, end) = (hit.path, hit.start_line, hit.end_line);
                format!("{path}:{start}..{end} {:.9} {}\n{}\n", hit.score, hit.reason, hit.text)
            })
            .collect::<String>(),
    );
}

#[test]
fn rg1_retrieves_the_chunks_after_the_best_matches() {
    check(
        &RG1,
        expect![[r#"
        shop/users.py:15..17 4.474304872 follows lines that share path, user, import
            def greet(self):
                return f'Hello {self.name}'
        shop/orders/order.py:0..2 0.385739999 shares def, return
        def total(order):
            return sum(line.price for line in order.lines)
        main.py:0..1 0.000000000 shares nothing
        print('nothing')
    "#]],
    );
}

#[test]
fn oracle_retrieves_the_best_matching_chunks() {
    let setting = RetrievalSetting::Oracle { truth: "user.greet()" };
    check(
        &ChunkQuery { setting, ..RG1 },
        expect![[r#"
        shop/users.py:0..14 5.285116222 shares path, user, import
        import json
        def load_user(path):
            with open(path) as file:
                return parse_user(file.read())
        def save_user(path, user):
            with open(path, 'w') as file:
                file.write(json.dumps(user))
        class User:
            def __init__(self, name):
                self.name = name
        shop/users.py:15..17 1.516862354 shares greet, def, return
            def greet(self):
                return f'Hello {self.name}'
        shop/orders/order.py:0..2 0.385739999 shares def, return
        def total(order):
            return sum(line.price for line in order.lines)
        main.py:0..1 0.000000000 shares nothing
        print('nothing')
    "#]],
    );
}

#[test]
fn jaccard_ranking_scores_common_words() {
    check(
        &ChunkQuery { ranking: ChunkRanking::Jaccard, ..RG1 },
        expect![[r#"
        shop/users.py:15..17 0.250000000 follows lines that share path, user, import
            def greet(self):
                return f'Hello {self.name}'
        shop/orders/order.py:0..2 0.125000000 shares def, return
        def total(order):
            return sum(line.price for line in order.lines)
        main.py:0..1 0.000000000 shares nothing
        print('nothing')
    "#]],
    );
}

/// The numbers of rank_bm25 0.2.2 in Python on the same chunks.
#[test]
fn bm25_scores_equal_rank_bm25() {
    let chunks = [
        "def load(path):\n    return read(path)",
        "def save(path, user):\n    write(path, user)",
        "class User:\n    def name(self):\n        return self.first",
        "def area(width, height):\n    return width * height",
    ];
    let files: Vec<SourceFile> =
        chunks.iter().enumerate().map(|(number, text)| file(&format!("{number}.py"), text)).collect();
    let prefix = "def load_user(path):\n    user = read(path)";
    let candidates = candidates(&files, "query.py");
    let ranking = candidates.ranking(&ChunkQuery { prefix, ..RG1 }, 9);
    let found: Vec<(&str, f64)> = ranking.iter().map(|ranked| (ranked.text, ranked.score)).collect();
    assert_eq!(
        found,
        [
            (chunks[1], 1.3349622296405848),
            (chunks[0], 1.0386018360797682),
            (chunks[3], 0.12453671480172224),
            (chunks[2], 0.11701436290094708),
        ]
    );
}

#[test]
fn query_is_the_last_ten_nonblank_lines() {
    let prefix = numbered("line", 12) + "\n \t\u{1c}\n    last = ";
    let query = ChunkQuery { prefix: &prefix, ..RG1 };
    let ten: Vec<String> =
        (3..12).map(|number| format!("line_{number}")).chain(["    last = ".into()]).collect();
    assert_eq!(query.text(), ten.join("\n"));
    let setting = RetrievalSetting::Oracle { truth: "one(\n\n  two)" };
    let text = ChunkQuery { setting, ..query }.text();
    assert_eq!(text, [&ten[2..], &["one(".into(), "  two)".into()]].concat().join("\n"));
    assert_eq!(ChunkQuery { prefix: "", ..RG1 }.text(), "");
}

#[test]
fn blank_lines_are_left_out_of_chunks_but_counted() {
    let text = format!("\n\n{}\n \u{1f}\n{}", numbered("a", 9), numbered("b", 2));
    let chunks = FileChunks::new("a.py".into(), &text);
    assert_eq!(chunks.len(), 2);
    assert_eq!((chunks.lines(0), chunks.lines(1)), (2..14, 14..15));
    assert_eq!(chunks.text(0), numbered("a", 9) + "b_0");
    assert_eq!(chunks.text(1), "b_1");
}

#[test]
fn chunks_without_words_are_skipped() {
    let text = format!("{}{}", "}\n".repeat(10), numbered("a", 1));
    let chunks = FileChunks::new("a.py".into(), &text);
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks.text(0), chunks.lines(0)), ("a_0", 10..11));
    assert!(FileChunks::new("a.py".into(), " \n(\n").is_empty());
}

#[test]
fn equal_scores_sort_ids_and_texts_separately() {
    // Every chunk has one query word and one of its own, so that all scores are equal.
    let files = files("//- /a.py\nword z\n//- /b.py\nword y\n//- /c.py\nword x\n");
    let candidates = candidates(&files, "q.py");
    let query = ChunkQuery {
        prefix: "word",
        setting: RetrievalSetting::Oracle { truth: "" },
        ranking: ChunkRanking::Jaccard,
    };
    let ranking = candidates.ranking(&query, 3);
    let places: Vec<(&str, &str)> = ranking.iter().map(|ranked| (&*ranked.id, ranked.text)).collect();
    assert_eq!(places, [("c.py|0", "word z"), ("b.py|0", "word y"), ("a.py|0", "word x")]);
    let found = candidates.retrieve(&query);
    let names: Vec<(&str, &str)> = found.iter().map(|hit| (&*hit.reported_path, &**hit.path())).collect();
    assert_eq!(names, [("c.py", "a.py"), ("b.py", "b.py"), ("a.py", "c.py")]);
}

#[test]
fn chunk_ids_are_compared_as_strings() {
    let text: String = (0..11).map(|number| format!("word unique{number}\n") + &"(\n".repeat(9)).collect();
    let candidates = candidates(&[file("a.py", &text)], "q.py");
    let ranking = candidates.ranking(&ChunkQuery { prefix: "word", ..RG1 }, 4);
    let ids: Vec<&str> = ranking.iter().map(|ranked| &*ranked.id).collect();
    assert_eq!(ids, ["a.py|9", "a.py|8", "a.py|7", "a.py|6"]);
    assert_eq!(candidates.ranking(&RG1, 99).last().unwrap().id, "a.py|0");
    assert_eq!(candidates.ranking(&RG1, 99)[8].id, "a.py|10");
}

#[test]
fn duplicate_chunk_text_is_retrieved_once() {
    let files = files("//- /a.py\nsame\n//- /b.py\nsame\n//- /c.py\nother\n");
    let query = ChunkQuery { prefix: "same", ranking: ChunkRanking::Jaccard, ..RG1 };
    let found = candidates(&files, "q.py").retrieve(&query);
    let texts: Vec<&str> = found.iter().map(ChunkHit::text).collect();
    assert_eq!(texts, ["same", "other"]);
}

#[test]
fn chunk_after_the_last_ranked_one_is_retrieved() {
    let far: String = (0..1001).map(|number| format!("word{number}\n").repeat(10)).collect();
    let files = [file("a.py", &far), file("b.py", "needle\n")];
    let candidates = candidates(&files, "q.py");
    assert_eq!(candidates.len(), 1000);
    let query = ChunkQuery { prefix: "word999 needle", ..RG1 };
    let best = &candidates.retrieve(&query)[0];
    assert_eq!(best.text().lines().next(), Some("word1000"));
    assert_eq!(best.lines(), 10_000..10_010);
}

#[test]
fn no_candidates_no_hits_and_empty_query_scores_zero() {
    assert!(candidates(&[], "a.py").retrieve(&RG1).is_empty());
    assert!(candidates(&[file("a.py", PREFIX)], "a.py").retrieve(&RG1).is_empty());
    let found = candidates(&files(REPOSITORY), "shop/page.py").retrieve(&ChunkQuery { prefix: "", ..RG1 });
    assert!(found.iter().all(|hit| hit.score == 0.0));
    assert_eq!(found.len(), 3);
}

/// BM25 by its formula, without an index.
fn naive_bm25(chunks: &[&str], query: &str) -> Vec<f64> {
    let tokens: Vec<Vec<&str>> = chunks.iter().map(|chunk| tokenize(chunk)).collect();
    let mut vocabulary: Vec<&str> = Vec::new();
    for token in tokens.iter().flatten() {
        if !vocabulary.contains(token) {
            vocabulary.push(token);
        }
    }
    let count = chunks.len() as f64;
    let weight = |word: &&str| {
        let having = tokens.iter().filter(|chunk| chunk.contains(word)).count() as f64;
        (count - having + 0.5).ln() - (having + 0.5).ln()
    };
    let mean_weight = vocabulary.iter().map(weight).sum::<f64>() / vocabulary.len() as f64;
    let mean_length = tokens.iter().map(Vec::len).sum::<usize>() as f64 / count;
    let score = |chunk: &Vec<&str>| {
        let gain = |word: &str| {
            let weight = if weight(&word) < 0.0 { 0.25 * mean_weight } else { weight(&word) };
            let having = chunk.iter().filter(|&&other| other == word).count() as f64;
            let length = chunk.len() as f64 / mean_length;
            if having > 0.0 { weight * having * 2.5 / (having + 1.5 * (0.25 + 0.75 * length)) } else { 0.0 }
        };
        tokenize(query).into_iter().map(gain).sum()
    };
    tokens.iter().map(score).collect()
}

/// Code with few distinct words, so that chunks share some of them.
fn code() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-e]( [a-h]{1,2}){0,4}|", 0..40).prop_map(|lines| lines.join("\n"))
}

fn repository() -> impl Strategy<Value = Vec<SourceFile>> {
    let path = "([ab]/)?([ab]/)?[a-d]";
    prop::collection::btree_map(path, code(), 0..7)
        .prop_map(|files| files.iter().map(|(path, text)| file(&format!("{path}.py"), text)).collect())
}

proptest! {
    #[test]
    fn tokens_concatenate_to_all_word_characters(text in "(\\PC|[\n\t']|can't|cannot|wanna|'tis){0,30}") {
        let words: String = text.chars().filter(|&c| python::is_word(c)).collect();
        prop_assert_eq!(tokenize(&text).concat(), words);
    }

    #[test]
    fn bm25_scores_equal_the_formula(files in repository(), prefix in code()) {
        let candidates = candidates(&files, "q.py");
        let query = ChunkQuery { prefix: &prefix, ..RG1 };
        let ranking = candidates.ranking(&ChunkQuery { setting: RetrievalSetting::Oracle { truth: "" }, ..query }, 999);
        let texts: Vec<&str> = ranking.iter().map(|ranked| ranked.text).collect();
        let mut expected = naive_bm25(&texts, &query.text());
        expected.sort_by(|one, other| other.total_cmp(one));
        for (ranked, expected) in ranking.iter().zip(expected) {
            prop_assert!((ranked.score - expected).abs() < 1e-9, "{} is not {expected}", ranked.score);
        }
    }
}
