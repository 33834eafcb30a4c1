//! Compares tests and intervals with the values of published implementations, named in the file of the values.

use serde_json::Value;

use super::beta::{student_quantile, student_tail};
use super::confidence_sequence::NormalMixture;
use super::holm;
use super::mcnemar::mcnemar;
use super::paired_sample::{Estimate, PairedCase, PairedSample};
use super::sign_flip::sign_flip;
use super::tango::PairedProportions;
use crate::Counts;

fn rows(test: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../tests/data/statistics.json")).expect("JSON");
    file[test].as_array().expect("rows").clone()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{row}: no number `{key}`"))
}

fn numbers(row: &Value, key: &str) -> Vec<f64> {
    row[key].as_array().expect("numbers").iter().map(|it| it.as_f64().expect("a number")).collect()
}

#[track_caller]
fn check(row: &Value, ours: f64, theirs: f64, precision: f64) {
    assert!((ours - theirs).abs() <= precision, "{ours} instead of {theirs}: {row}");
}

#[test]
fn mcnemar_agrees_with_statsmodels() {
    for row in rows("mcnemar") {
        let result = mcnemar(number(&row, "wins") as usize, number(&row, "losses") as usize);
        check(&row, result.p, number(&row, "p"), 1e-10);
        check(&row, result.mid_p, number(&row, "mid_p"), 1e-10);
    }
}

#[test]
fn holm_agrees_with_statsmodels() {
    for row in rows("holm") {
        let ours = holm::corrected(&numbers(&row, "p"));
        for (ours, theirs) in ours.into_iter().zip(numbers(&row, "corrected")) {
            check(&row, ours.p, theirs, 1e-12);
        }
    }
}

#[test]
fn sign_flips_agree_with_scipy() {
    for row in rows("sign_flip") {
        check(&row, sign_flip(&numbers(&row, "differences"), 0, 1).p, number(&row, "p"), 1e-12);
    }
}

#[test]
fn tango_agrees_with_propcis_and_with_the_likelihood() {
    for row in rows("tango").into_iter().chain(rows("tango_likelihood")) {
        let [wins, losses, cases] = ["wins", "losses", "cases"].map(|key| number(&row, key));
        let (low, high) = PairedProportions { wins, losses, cases }.interval(number(&row, "outside"));
        check(&row, low, number(&row, "low"), number(&row, "precision"));
        check(&row, high, number(&row, "high"), number(&row, "precision"));
    }
}

#[test]
fn student_agrees_with_scipy() {
    for row in rows("student") {
        let (degrees, t, tail) = (number(&row, "degrees"), number(&row, "t"), number(&row, "tail"));
        check(&row, student_tail(t, degrees), tail, 1e-9);
        check(&row, student_quantile(degrees, 2.0 * tail.min(1.0 - tail)), t.abs(), 1e-6);
    }
}

#[test]
fn variance_of_files_agrees_with_full_matrices() {
    for row in rows("cr2") {
        let [files, baseline, engine] = ["files", "baseline", "engine"].map(|key| numbers(&row, key));
        let cases =
            files.into_iter().zip(baseline).zip(engine).map(|((file, baseline), engine)| PairedCase {
                file: file as usize,
                baseline: Counts { num: baseline, den: 1.0 },
                engine: Counts { num: engine, den: 1.0 },
            });
        match PairedSample::new(cases).student_estimate() {
            Some(Estimate::Student { error, degrees, .. }) => {
                check(&row, error, number(&row, "error"), 1e-9);
                check(&row, degrees, number(&row, "degrees"), 1e-6);
            }
            other => panic!("{other:?}: {row}"),
        }
    }
}

#[test]
fn limits_of_confidence_sequences_agree_with_confseq() {
    for row in rows("normal_mixture") {
        let [alpha, optimum, time] = ["alpha", "optimum", "time"].map(|key| number(&row, key));
        let mixture = NormalMixture::narrowest_at(optimum, 0.05);
        check(&row, mixture.limit(time, alpha), number(&row, "bound"), 1e-9);
    }
}
