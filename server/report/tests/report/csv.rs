//! CSV: every row has the columns of its header, names cannot be formulas, and numbers are those of the summary.

use std::collections::BTreeMap;

use benchmarks::codev_bench::{CodevFile, CodevItem};
use benchmarks::{ScoringRules, run_tables};
use cases::{Case, Prediction, Status};
use report::CsvTable;
use scoring::{ComparedRuns, VerdictSettings};

use crate::fixture::{Fixture, cross_file, fixture, many_engines};

/// Returns the rows of each table as maps from column to cell.
fn tables(fixture: &Fixture) -> BTreeMap<&'static str, Vec<BTreeMap<String, String>>> {
    let rows = fixture.report();
    let benchmarks = run_tables(rows.cases, rows.predictions, ScoringRules::Paper);
    parsed(report::csv_tables(&rows.summary(), &ComparedRuns::new(&[rows]), &benchmarks))
}

/// Returns the rows of tables by file.
fn parsed(tables: Vec<CsvTable>) -> BTreeMap<&'static str, Vec<BTreeMap<String, String>>> {
    tables
        .into_iter()
        .map(|table| {
            let mut reader = csv::Reader::from_reader(table.text.as_bytes());
            let rows = reader.deserialize().map(|row| row.expect("a row with the columns of the header"));
            (table.file, rows.collect())
        })
        .collect()
}

#[test]
fn tables_hold_the_numbers_of_the_summary() {
    let fixture = many_engines(120, 8);
    let summary = fixture.report().summary();
    let tables = tables(&fixture);
    assert_eq!(tables["engines.csv"].len(), 8);
    assert_eq!(tables["engines.csv"][3]["without_copies_of"], summary.engines[2].name);
    assert_eq!(tables["costs.csv"].len(), 6);
    let section = &summary.sections[0];
    let pairs = section.verdict.pairs.len() + section.verdict.copies.len();
    let mined = |row: &&BTreeMap<String, String>| row["origin"] == "mined" && row["exposure"] == "none";
    assert_eq!(tables["pairs.csv"].iter().filter(mined).count(), pairs);
    let value = section.overall.lines[0].metrics[&cases::Metric::EditSimilarity].value.expect("enough cases");
    let row = tables["metrics.csv"]
        .iter()
        .filter(mined)
        .find(|row| {
            let is_whole =
                ["scenario", "block_kind", "language"].iter().all(|column| row[*column].is_empty());
            is_whole && row["metric"] == "edit_similarity" && row["engine"] == summary.engines[0].name
        })
        .expect("a row");
    assert_eq!(row["value"].parse(), Ok(value));
    assert!(tables["contexts.csv"].is_empty());
    assert!(!self::tables(&cross_file(20))["contexts.csv"].is_empty());
}

#[test]
fn verdict_tables_hold_margins_resolution_and_curves() {
    let fixture = many_engines(120, 6);
    let rows = fixture.report();
    let runs = ComparedRuns::new(&[rows]);
    let question = VerdictSettings { margin: Some(0.05), ..VerdictSettings::new(1) };
    let summary = rows.summary_with(&runs, &question).expect("a verdict");
    let tables = parsed(report::csv_tables(&summary, &runs, &[]));
    let verdict = &summary.sections[0].verdict;
    let (pair, row) = (&verdict.pairs[0], &tables["pairs.csv"][0]);
    let (size, margin) = pair.sample_size.zip(pair.margin).expect("enough cases");
    assert_eq!(row["resolution"].parse().ok(), size.resolution);
    assert_eq!(row["power"].parse(), Ok(size.power));
    assert_eq!((&*row["margin"], row["p_equivalent"].parse()), ("0.05", Ok(margin.p_equivalent)));
    let is_first = |row: &&BTreeMap<String, String>| {
        (&*row["origin"], &row["engine"]) == ("mined", &summary.engines[0].name)
    };
    let curve = tables["right_over_time.csv"].iter().filter(is_first);
    let shares: Vec<f64> = curve.map(|row| row["share"].parse().expect("a number")).collect();
    assert!(shares.len() > 20 && shares.is_sorted(), "{shares:?}");
}

#[test]
fn cutoffs_have_a_row_for_each_side() {
    let mut fixture = fixture(60);
    for (number, case) in fixture.cases.iter_mut().enumerate() {
        let date = if number % 2 == 0 { "2025-01-01" } else { "2025-12-01" };
        case.tags.insert(cases::DATE_TAG.to_owned(), date.to_owned());
    }
    fixture.run.engines[0].cutoff = Some("2025-06".to_owned());
    let tables = tables(&fixture);
    let of_metric =
        tables["cutoffs.csv"].iter().filter(|row| row["metric"] == "token_exact" && row["origin"] == "mined");
    let sides: Vec<(&str, &str)> = of_metric.map(|row| (&*row["is_after"], &*row["has_cutoff"])).collect();
    assert_eq!(sides, [("false", "true"), ("false", "false"), ("true", "true"), ("true", "false")]);
}

/// Returns a run of two engines over cases of a public benchmark: one leaves the empty completions empty, the other does not.
fn public_benchmark() -> Fixture {
    let mut fixture = fixture(0);
    let case = |number: usize| -> Case {
        let line = format!(
            r#"{{"func_name":"{number}.py#L1-L3","block_key":"{number}.py#L2-L2","block_type":"IF","prompt":"","prefix":"if x:\n    y","suffix":"\n","middle":""}}"#
        );
        let item: CodevItem = cases::parse_line(&line, 1).expect("an item");
        item.case(CodevFile::InnerBlockEmpty).expect("a case")
    };
    fixture.cases = (0..6).map(case).collect();
    let engines: Vec<_> = fixture.run.engines.iter().map(|config| config.engine.clone()).collect();
    let answers = fixture.cases.iter().flat_map(|case| {
        engines.iter().zip(["", "z = 1"]).map(|(engine, text)| Prediction {
            text: text.to_owned(),
            ..Prediction::empty(case.id.clone(), engine.clone(), Status::Ok)
        })
    });
    (fixture.predictions, fixture.scores) = (answers.collect(), Vec::new());
    fixture
}

#[test]
fn cells_of_public_benchmarks_have_a_row_each() {
    let fixture = public_benchmark();
    let expected = run_tables(&fixture.cases, &fixture.predictions, ScoringRules::Paper);
    let rows = &tables(&fixture)["benchmarks.csv"];
    let cells = expected.iter().flat_map(|benchmark| &benchmark.tables).flat_map(|table| {
        let of_row = |(name, values): &(String, Vec<Option<f64>>)| {
            let named = table.columns.iter().zip(values.clone());
            named
                .map(|(column, value)| (table.name.clone(), name.clone(), column.clone(), value))
                .collect::<Vec<_>>()
        };
        table.rows.iter().flat_map(of_row).collect::<Vec<_>>()
    });
    let cells: Vec<_> = cells.collect();
    let read = |row: &BTreeMap<String, String>| {
        (row["table"].clone(), row["row"].clone(), row["column"].clone(), row["value"].parse().ok())
    };
    assert_eq!(rows.iter().map(read).collect::<Vec<_>>(), cells);
    assert!(rows.iter().all(|row| row["benchmark"] == "codev-bench"));
    // The silent engine is right in all six, the other in none.
    let similarities: Vec<&str> = rows
        .iter()
        .filter(|row| row["row"].ends_with(": edit_sim"))
        .map(|row| row["value"].as_str())
        .collect();
    assert!(similarities.contains(&"100") && similarities.contains(&"0"), "{similarities:?}");
}

#[test]
fn names_cannot_be_formulas_or_break_rows() {
    let mut fixture = fixture(20);
    let name = "=HYPERLINK(\"x\",\"y\")\n,end";
    let old = fixture.run.engines[0].engine.name.clone();
    fixture.run.engines[0].engine.name = name.to_owned();
    for prediction in fixture.predictions.iter_mut().filter(|row| row.engine.name == old) {
        prediction.engine.name = name.to_owned();
    }
    for score in fixture.scores.iter_mut().filter(|row| row.engine == old) {
        score.engine = name.to_owned();
    }
    let shown = format!("'{name}");
    let tables = tables(&fixture);
    for file in ["engines.csv", "standings.csv", "metrics.csv", "latencies.csv"] {
        assert!(tables[file].iter().any(|row| row["engine"] == shown), "{file}");
    }
    assert!(tables.values().flatten().flat_map(|row| row.values()).all(|cell| !cell.starts_with('=')));
}
