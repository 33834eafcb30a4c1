//! The HTML page: its contents, and isolation of code inside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cases::{Judgement, Metric, Rename, SchemaVersion, Span, SpanSource, TestVerdict};
use flate2::read::GzDecoder;
use scoring::ComparedRuns;
use scoring::compared_runs::SectionKey;
use scoring::run_summary::RunNote;
use scoring::verdict::right_over_time;
use serde_json::Value;

use crate::fixture::{Fixture, HOSTILE, fixture, many_engines};

fn page(fixture: &Fixture) -> String {
    fixture.html()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).expect(start);
    rest.split_once(end).expect(end).0
}

fn index_of(page: &str) -> &str {
    between(page, "<script type=\"text/plain\" id=\"case-index\">", "</script>")
}

fn blocks_of(page: &str) -> Vec<&str> {
    let blocks = page.split("<script type=\"text/plain\" class=\"case-block\">").skip(1);
    blocks.map(|block| block.split_once("</script>").expect("an end").0).collect()
}

fn unpacked(packed: &str) -> Value {
    let packed = STANDARD.decode(packed).expect("base64");
    serde_json::from_reader(GzDecoder::new(packed.as_slice())).expect("gzip of JSON")
}

/// Returns the embedded cases in the order of the suite, as the script reads them: with each text in its place.
pub(crate) fn embedded_cases(page: &str) -> Vec<Value> {
    let index = unpacked(index_of(page));
    let mut placed = Vec::new();
    for mut block in blocks_of(page).into_iter().map(unpacked) {
        let texts = block["texts"].take();
        for case in block["cases"].as_array_mut().expect("cases") {
            resolve_texts(case, &texts);
            placed.push(case.take());
        }
    }
    let column = |name: &str| index[name].as_array().cloned().expect("a column");
    let place = |place: &Value| placed[place.as_u64().expect("a number") as usize].clone();
    column("places")
        .iter()
        .zip(column("ids"))
        .map(|(place_of, id)| {
            let mut case = place(place_of);
            case["id"] = id;
            case
        })
        .collect()
}

fn resolve_texts(case: &mut Value, texts: &Value) {
    let resolve = |value: &mut Value| {
        if let Some(index) = value.as_u64() {
            *value = texts[index as usize].clone();
        }
    };
    resolve(&mut case["truth"]);
    for part in ["before", "after"] {
        resolve(&mut case[part]["text"]);
    }
    for list in ["context", "answers"] {
        for row in case[list].as_array_mut().expect("a list") {
            resolve(&mut row["text"]);
            if list == "answers" {
                resolve(&mut row["raw"]);
            }
        }
    }
}

#[test]
fn answers_have_the_verdict_of_their_tests_and_the_output() {
    let mut fixture = fixture(2);
    let answer = &fixture.predictions[0];
    let judgement = Judgement {
        schema: SchemaVersion::CURRENT,
        case: answer.case.clone(),
        engine: answer.engine.name.clone(),
        repetition: answer.repetition,
        patch: String::new(),
        verdict: TestVerdict::Failed,
        not_passed: (0..7).map(|number| format!("test_{number}")).collect(),
        seconds: 1.0,
        output: HOSTILE.to_owned(),
    };
    fixture.judgements.push(judgement);
    let page = fixture.html();
    let blocks: Vec<Value> = blocks_of(&page).into_iter().map(unpacked).collect();
    let answers = |block: &Value| {
        block["cases"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|case| case["answers"].as_array().unwrap().clone())
            .collect::<Vec<_>>()
    };
    let judged: Vec<(&Value, Value)> = blocks
        .iter()
        .flat_map(|block| answers(block).into_iter().map(move |answer| (block, answer["tests"].clone())))
        .filter(|(_, tests)| !tests.is_null())
        .collect();
    let [(block, tests)] = &judged[..] else { panic!("one answer is judged: {judged:?}") };
    assert_eq!(tests["verdict"], "failed");
    assert_eq!(tests["not_passed"].as_array().map(Vec::len), Some(5));
    assert_eq!(tests["further"], 2);
    assert_eq!(block["texts"][tests["output"].as_u64().unwrap() as usize], HOSTILE);
}

#[test]
fn texts_that_several_rows_share_are_stored_once_in_a_block() {
    let mut fixture = fixture(60);
    let shared = "shared = \"text of every answer\"\n".repeat(20);
    for prediction in &mut fixture.predictions {
        prediction.text.clone_from(&shared);
    }
    let page = page(&fixture);
    let blocks = blocks_of(&page);
    assert_eq!(blocks.len(), 1);
    let block = unpacked(blocks[0]);
    let texts = block["texts"].as_array().expect("texts");
    assert_eq!(texts.iter().filter(|text| *text == &Value::from(shared.as_str())).count(), 1);
    assert!(blocks[0].len() * 8 < block.to_string().len(), "{} bytes", blocks[0].len());
}

#[test]
fn page_stays_small_with_many_cases_and_engines() {
    let page = page(&many_engines(640, 8));
    assert_eq!(blocks_of(&page).len(), 642_usize.div_ceil(64));
    assert!(page.len() < 640 * 1_400, "{} bytes for 640 cases", page.len());
}

#[test]
fn embedded_cases_equal_the_cases_of_the_run() {
    let fixture = fixture(60);
    let cases = embedded_cases(&page(&fixture));
    assert_eq!(cases.len(), fixture.cases.len());
    for (embedded, case) in cases.iter().zip(&fixture.cases) {
        assert_eq!(embedded["id"], case.id);
        assert_eq!(embedded["truth"], case.truth);
        assert!(case.prefix.ends_with(embedded["before"]["text"].as_str().expect("text")));
        assert!(case.suffix.starts_with(embedded["after"]["text"].as_str().expect("text")));
        let answers = embedded["answers"].as_array().expect("answers");
        let texts = fixture.predictions.iter().filter(|prediction| prediction.case == case.id);
        let texts: Vec<&str> = texts.map(|prediction| prediction.text.as_str()).collect();
        assert_eq!(
            answers.iter().map(|answer| answer["text"].as_str().expect("text")).collect::<Vec<_>>(),
            texts
        );
    }
}

#[test]
fn code_in_cases_is_escaped_in_the_page() {
    let fixture = fixture(60);
    assert!(fixture.cases.iter().any(|case| case.truth == HOSTILE), "the fixture holds hostile text");
    let page = page(&fixture);
    assert!(!index_of(&page).contains('<') && !blocks_of(&page).concat().contains('<'));
    assert_eq!(page.matches("</script").count(), 3, "the index's, the block's and the script's own");
    assert_eq!(page.matches("<script").count(), 3);
    assert!(!page.contains("<!--"));
    assert_eq!(page.find(|character| matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')), None, "the file contains no unescaped bidirectional control");
}

#[test]
fn names_are_escaped_and_control_characters_made_visible() {
    let mut fixture = fixture(12);
    fixture.run.name = "<img src=x onerror=alert(1)>\u{202e}".to_owned();
    for config in &mut fixture.run.engines {
        config.engine.name.push_str("<b>&\"");
    }
    fixture.notes.push(RunNote::Late {
        engine: "</ul><script>".to_owned(),
        late: 1.0,
        answers: 1,
        exact: None,
        in_time: None,
    });
    let page = page(&fixture);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;[U+202E]"));
    assert!(page.contains("builtin&lt;b&gt;&amp;&quot;"));
    assert!(!page.contains("<img") && !page.contains("<b>&"));
    assert_eq!(page.matches("<script").count(), 3);
}

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    let page = page(&fixture(60));
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    let nonce = between(policy, "style-src 'nonce-", "'");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(policy.contains(&format!("script-src 'nonce-{nonce}'")), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.matches(&format!(" nonce=\"{nonce}\">")).count(), 2, "style and script");
    let data = [index_of(&page)].into_iter().chain(blocks_of(&page));
    let shell = data.fold(page.clone(), |shell, data| shell.replace(data, ""));
    for reference in ["src=", "url(", "@import", "http:", "https:", "<link", "style=\""] {
        assert!(!shell.contains(reference), "{reference}");
    }
    assert!(!shell.contains(" onclick="), "the policy forbids handlers in attributes");
}

#[test]
fn nonce_depends_on_the_run() {
    let nonce = |mined| between(&page(&fixture(mined)), "'nonce-", "'").to_owned();
    assert_ne!(nonce(12), nonce(13));
    assert_eq!(nonce(12), nonce(12));
}

#[test]
fn scoreboard_and_plots_need_no_script() {
    let fixture = fixture(60);
    let summary = fixture.report().summary();
    let page = page(&fixture);
    let (shell, _) = page.split_once("<script").expect("a script");
    for line in &summary.sections[0].overall.lines {
        let value = line.metrics[&Metric::EditSimilarity].value.expect("enough cases");
        assert!(shell.contains(&format!("<b>{:.1}</b>", value * 100.0)), "{value}");
    }
    assert_eq!(shell.matches("<figure>").count(), 4, "plots of the mined cases only; the others are too few");
    assert!(shell.matches("<rect class=\"bar\"").count() > 10);
    assert!(
        shell.contains("href=\"#origin=mined&amp;engine=0&amp;scenario=full_block&amp;block_kind=function\"")
    );
    assert!(shell.contains("<section id=\"cases\" aria-labelledby=\"cases-title\" hidden>"));
}

#[test]
fn histogram_bars_add_up_to_all_scored_answers() {
    let fixture = fixture(60);
    let page = page(&fixture);
    let plots = page.split("aria-label=\"Histogram of edit similarity of ").skip(1);
    let plots = plots.map(|plot| plot.split_once("</svg>").expect("an end").0);
    let titles = plots.flat_map(|plot| plot.split("<title>").skip(1));
    let counts = titles.map(|title| {
        let title = title.split_once("</title>").expect("an end").0;
        let count = title.rsplit_once(": ").expect("a count").1;
        count.split_once(' ').expect("a noun").0.parse::<usize>().expect("a number")
    });
    let mined = |id: &str| {
        fixture.cases.iter().any(|case| case.id == id && case.origin.kind == cases::OriginKind::Mined)
    };
    let scored = fixture
        .scores
        .iter()
        .filter(|score| mined(&score.case) && score.metrics.contains_key(&Metric::EditSimilarity));
    assert_eq!(counts.sum::<usize>(), scored.count());
}

#[test]
fn long_files_are_cut_around_the_cursor() {
    let mut fixture = fixture(1);
    let case = &mut fixture.cases[0];
    case.prefix = (0..10_000).map(|line| format!("before {line}\n")).collect::<String>() + "cursor ";
    case.suffix = (0..10_000).map(|line| format!(" after {line}\n")).collect();
    let page = page(&fixture);
    let kept = unpacked(index_of(&page))["lines_kept"].as_u64().expect("a number");
    let cases = embedded_cases(&page);
    let before = &cases[0]["before"];
    assert_eq!(before["text"].as_str().map(|text| text.lines().count() as u64), Some(kept + 1));
    assert_eq!(before["first_line"], 10_000 - kept);
    assert!(before["text"].as_str().expect("text").ends_with("before 9999\ncursor "));
    let after = &cases[0]["after"];
    assert!(after["text"].as_str().expect("text").starts_with(" after 0\n after 1\n"));
    assert_eq!(after["text"].as_str().map(|text| text.lines().count() as u64), Some(kept + 1));
    assert_eq!(after["hidden_lines"], 10_000 - kept);
}

#[test]
fn huge_lines_are_cut_at_character_boundaries() {
    let mut fixture = fixture(1);
    for text in ["ä", "a🎉", "🎉"] {
        fixture.cases[0].prefix = text.repeat(400_000);
        fixture.cases[0].suffix = text.repeat(400_000);
        fixture.predictions[0].raw = text.repeat(400_000);
        let page = page(&fixture);
        assert!(page.len() < 400_000, "{} bytes", page.len());
        let before = &embedded_cases(&page)[0]["before"];
        assert_eq!((&before["first_line"], &before["hidden_lines"]), (&0.into(), &0.into()));
        assert!(before["text"].as_str().is_some_and(|kept| fixture.cases[0].prefix.ends_with(kept)));
    }
}

/// Returns a part of an answer that was copied from a file with a hostile name.
fn span(range: std::ops::Range<usize>) -> Span {
    let renamed = vec![Rename { there: "<b>".to_owned(), here: "\u{202e}".to_owned() }];
    Span {
        range,
        from: SpanSource::File,
        path: HOSTILE.to_owned(),
        line: Some(5),
        character: None,
        same: 3,
        alike: 7,
        probability: 0.25,
        renamed,
    }
}

#[test]
fn answer_spans_are_embedded_in_utf16_units() {
    let mut fixture = fixture(1);
    fixture.predictions[0].text = "é = '🎉' + x".to_owned();
    fixture.predictions[0].spans = vec![span(0..2), span(5..15)];
    let spans = |page: &str| {
        let cases = embedded_cases(page);
        let mut answers =
            cases.iter().flat_map(|case| case["answers"].as_array().cloned().unwrap_or_default());
        answers.find(|answer| answer.get("spans").is_some()).map(|answer| answer["spans"].clone())
    };
    let reported = spans(&page(&fixture)).expect("one answer has parts");
    assert_eq!(
        (&reported[0]["range"], &reported[1]["range"]),
        (&serde_json::json!([0, 1]), &serde_json::json!([4, 12]))
    );
    assert_eq!((&reported[0]["path"], &reported[0]["line"]), (&HOSTILE.into(), &5.into()));
    // Parts outside of the kept text are left out.
    fixture.predictions[0].text = "x".repeat(100_000);
    fixture.predictions[0].spans = vec![span(1..2), span(5..90_000)];
    assert_eq!(spans(&page(&fixture)).and_then(|spans| spans.as_array().map(Vec::len)), Some(1));
}

#[test]
fn empty_run_renders_a_page() {
    let mut fixture = fixture(0);
    fixture.cases.clear();
    fixture.predictions.clear();
    let page = page(&fixture);
    assert!(page.contains("No answers yet."));
    assert!(embedded_cases(&page).is_empty());
}

/// Returns what the links `better` and `worse` of two engines lead to, as `filters.js` counts them.
fn cases_of_pair(page: &str, engine: usize, baseline: usize) -> (usize, usize) {
    let index = unpacked(index_of(page));
    let values = |engine: usize| index["answers"][engine]["values"].as_array().cloned().expect("a column");
    let (ours, theirs) = (values(engine), values(baseline));
    let pairs = || ours.iter().zip(&theirs).filter_map(|(one, other)| Some((one.as_f64()?, other.as_f64()?)));
    (pairs().filter(|(one, other)| one > other).count(), pairs().filter(|(one, other)| one < other).count())
}

#[test]
fn links_of_a_pair_lead_to_as_many_cases_as_the_verdict_counts() {
    let fixture = many_engines(120, 6);
    let summary = fixture.report().summary();
    let page = page(&fixture);
    let verdict = &summary.sections[0].verdict;
    assert!(verdict.pairs.len() > 5);
    for pair in &verdict.pairs {
        let counted = (pair.difference.better, pair.difference.worse);
        assert_eq!(cases_of_pair(&page, pair.engine, pair.baseline), counted);
    }
}

#[test]
fn ranking_comes_first_and_copies_follow_their_engine() {
    let fixture = many_engines(120, 8);
    let summary = fixture.report().summary();
    let page = page(&fixture);
    let (head, rest) = page.split_once("<h3>Quality, latency and cost</h3>").expect("the second view");
    assert!(head.contains("difference from the next, points") && !head.contains("All metrics"));
    let best = summary.sections[0].verdict.standings[0].engine;
    assert!(head.contains(&format!("<tr data-engine=\"{best}\"")));
    let board = between(rest, "aria-label=\"Scoreboard, mined cases\"", "</table>");
    for copy in [3, 7] {
        let row = format!("<tr data-engine=\"{copy}\" class=\"copy\">");
        let (before, _) = board.split_once(&row).expect(&row);
        let last = before.rsplit("<tr data-engine=\"").next().expect("a row before it");
        assert!(last.starts_with(&format!("{}\"", copy - 1)), "the row before {copy}");
    }
}

#[test]
fn right_answers_over_time_agree_with_the_standings() {
    let fixture = many_engines(120, 6);
    let report = fixture.report();
    let summary = report.summary();
    let section = &summary.sections[0];
    let key = SectionKey { origin: section.origin, exposure: section.exposure };
    let curves = right_over_time(&ComparedRuns::new(&[report]), key, &section.verdict);
    assert_eq!(curves.len(), section.verdict.standings.len());
    for (curve, standing) in curves.iter().zip(&section.verdict.standings) {
        assert_eq!(curve.engine, standing.engine);
        for quality in &standing.exact_within {
            let until = quality.deadline.unwrap_or(f64::INFINITY);
            let share =
                curve.points.iter().take_while(|(ms, _)| *ms <= until).last().map(|(_, share)| *share);
            let expected = quality.value.expect("enough cases");
            assert!((share.expect("a point") - expected).abs() < 1e-9, "{quality:?}, {share:?}");
        }
    }
}
