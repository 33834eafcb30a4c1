//! Retrieved context and its scores, for the terminal.

use expect_test::expect;
use report::terminal::Style;
use scoring::{Interval, IntervalMethod, Latency, MetricCell};

use super::*;

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

fn item(path: &str, kind: &'static str, score: f64, text: &str) -> RetrievalItem {
    RetrievalItem {
        path: path.to_owned(),
        start_line: 8,
        end_line: 8 + text.lines().count() as u32,
        kind,
        score,
        tokens: 1 + text.len() / 4,
        reason: "defines load".to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn items_show_kind_score_and_tokens() {
    let items = vec![
        item("shop/store.py", "definition", 0.071, "def load(path)"),
        item("shop/new\nline.py", "window", 76.1, "rows = load(path)\nprint(rows)"),
    ];
    let strategies = [
        RetrievalView { strategy: "hybrid".to_owned(), budget: 512, ms: 4.25, items },
        RetrievalView { strategy: "functions".to_owned(), budget: 512, ms: 120_000.0, items: Vec::new() },
    ];
    expect![[r#"
        hybrid · 2 items, 12 of 512 tokens, 4.2 ms

          shop/store.py:9  definition 0.071  defines load  4 tokens
            def load(path)

          shop/new[U+000A]line.py:9–10  window 76.100  defines load  8 tokens
            rows = load(path)
            print(rows)

        functions · 0 items, 0 of 512 tokens, 120 s

        A score follows the kind of each item; higher is nearer, and only scores of one
        kind are comparable. definition: probability that the first definition is used
        next. use: the same, times the similarity of the surroundings. window, chunk,
        function: weight of the shared words (for embeddings, similarity). visit: 1 for
        the latest, then less. Tokens count paths and comment signs.
    "#]]
    .assert_eq(&retrieval_text(&strategies, PLAIN));
}

fn row(strategy: &str, questions: usize) -> StrategyRow {
    let cell = |cases: usize, value: f64| {
        let interval = Interval {
            low: value - 0.1,
            high: value + 0.1,
            method: IntervalMethod::ClopperPearson { effective_cases: 1.0 },
        };
        let value = (cases >= scoring::metric_table::MIN_CASES).then_some(value);
        Some(MetricCell {
            cases,
            clusters: cases,
            num: 3.0,
            den: cases as f64,
            value,
            interval: value.map(|_| interval),
        })
    };
    let cell_of = |mean: f64| {
        Some(MetricCell {
            cases: questions,
            clusters: 1,
            num: mean * questions as f64,
            den: questions as f64,
            value: Some(mean),
            interval: None,
        })
    };
    StrategyRow {
        strategy: strategy.to_owned(),
        questions,
        items: cell_of(9.5),
        tokens: cell_of(508.25),
        new_identifiers: cell(questions / 2, 0.5),
        any_new: cell(questions / 2, 0.75),
        definition_hit: cell(questions / 6, 0.5),
        copy: cell(questions, 0.25),
        latency: Some(Latency { count: questions, timeouts: 0, p50: 4.0, p95: 12.0, p99: 20.0 }),
    }
}

#[test]
fn table_shows_shares_with_their_denominators() {
    let rows = [row("hybrid", 132), row("bm25-chunks", 132)];
    let style = Style { width: 100, ..PLAIN };
    expect![[r#"
        retrieval results
          strategy       n  items  tokens  new ids   95 %  any new  of  def hit  of  copy      ms
          hybrid       132    9.5   508.2     50.0  40–60     75.0  66     50.0  22  25.0  4.0/12
          bm25-chunks  132    9.5   508.2     50.0  40–60     75.0  66     50.0  22  25.0  4.0/12

        names that the language's rules do not resolve (unresolved)
          strategy   n  items  tokens  new ids  95 %  any new  of  def hit  of  copy      ms
          hybrid    12    9.5   508.2      3/6            3/6   6      3/2   2  25.0  4.0/12

        n: requests, one for each hole. items, tokens: sent on average. new ids: share of the truths'
        identifiers missing from the file before the cursor that are in the context, with its 95 % interval.
        any new: truths with any such identifier in the context, of those that have one. def hit: names
        whose definition is in the context, of those that the language's rules resolve. copy: edit
        similarity of the best copy from context and file, over all n. ms: median/95th percentile.
    "#]]
    .assert_eq(&retrieval_tables(&rows, &[row("hybrid", 12)], style));
}

#[test]
fn narrow_tables_drop_less_important_columns() {
    let rows = [row("hybrid", 132), row("bm25-chunks", 132)];
    for width in [60, 70, 80, 100] {
        let text = retrieval_tables(&rows, &[], Style { width, ..PLAIN });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        assert!(text.contains("new ids") && text.contains("def hit") && text.contains("copy"), "{text}");
    }
    let wide = retrieval_tables(&rows, &[], Style { width: 100, ..PLAIN });
    assert!(wide.contains("95 %") && wide.contains("items"), "{wide}");
}
