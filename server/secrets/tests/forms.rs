//! Measures precision and recall over forms of secrets in ten languages. The docs of each test say whether rules were written
//! with its list known. The only figure of forms that no rule had seen is that of [`finds_forms_written_after_rules_without_false_positives`]:
//! 95.5 % recall at 100 % precision.

use std::io::Write;

use secrets::find_secrets;

/// A form and the ranges of its secrets.
struct Form {
    language: String,
    text: String,
    secrets: Vec<std::ops::Range<usize>>,
}

/// Parses forms: a line `== language` starts the forms of a language, then one form a line, each secret between brackets. A dot
/// in the middle of a token, which is removed, keeps other scanners from reporting the token as real; `⏎` is a line end.
fn forms(file: &str) -> Vec<Form> {
    let mut language = "";
    let mut forms = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("== ") {
            language = name;
            continue;
        }
        let (mut text, mut secrets, mut start) = (String::new(), Vec::new(), 0);
        for character in line.chars() {
            match character {
                '⟦' => start = text.len(),
                '⟧' => secrets.push(start..text.len()),
                '·' => {}
                '⏎' => text.push('\n'),
                character => text.push(character),
            }
        }
        text.push('\n');
        forms.push(Form { language: language.to_owned(), text, secrets });
    }
    forms
}

#[derive(Default)]
struct Counts {
    found: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
    harmless: usize,
}

/// Counts the findings. A secret is found if all its bytes are covered; a form without secrets must have no findings.
fn count(positive: &str, negative: &str) -> Counts {
    let mut counts = Counts::default();
    for form in forms(positive) {
        let findings = find_secrets(&form.text);
        for secret in &form.secrets {
            let is_found = findings
                .iter()
                .any(|finding| finding.range.start <= secret.start && secret.end <= finding.range.end);
            if is_found {
                counts.found += 1
            } else {
                counts.missed.push(format!("{}: {}", form.language, form.text))
            }
        }
    }
    for form in forms(negative) {
        let findings = find_secrets(&form.text);
        if findings.is_empty() {
            counts.harmless += 1
        } else {
            counts.wrong.push(format!("{}: {} {findings:?}", form.language, form.text.trim()))
        }
    }
    counts
}

#[track_caller]
fn check(positive: &str, negative: &str, least: f64) {
    let Counts { found, missed, wrong, harmless } = count(positive, negative);
    let recall = found as f64 / (found + missed.len()) as f64;
    let precision = found as f64 / (found + wrong.len()) as f64;
    let report = format!(
        "recall {:.1} % of {}, precision {:.1} % beside {} harmless forms\nmissed:\n{}wrong:\n{}",
        recall * 1e2,
        found + missed.len(),
        precision * 1e2,
        harmless + wrong.len(),
        missed.concat(),
        wrong.join("\n")
    );
    // Shown with `--no-capture`.
    let _ = writeln!(std::io::stderr(), "{report}");
    assert!(recall >= least && wrong.is_empty(), "{report}");
}

#[test]
fn finds_tuned_forms_without_false_positives() {
    check(include_str!("forms/tuned_positive.txt"), include_str!("forms/tuned_negative.txt"), 0.98);
}

#[test]
fn finds_plain_passwords_without_false_positives() {
    check(include_str!("forms/plain_positive.txt"), include_str!("forms/plain_negative.txt"), 0.98);
}

/// Written before the rules for plain passwords: 82.6 % recall then, 90.9 % with them, and more after the misses were read.
#[test]
fn finds_forms_written_before_rules_without_false_positives() {
    check(
        include_str!("forms/written_first_positive.txt"),
        include_str!("forms/written_first_negative.txt"),
        0.96,
    );
}

/// 95.5 % recall at 100 % precision (111 forms), measured before the misses were read and rules changed: the only figure of forms
/// that no rule had seen.
#[test]
fn finds_forms_written_after_rules_without_false_positives() {
    check(include_str!("forms/outside_positive.txt"), include_str!("forms/outside_negative.txt"), 0.98);
}

/// The former held-out list: 93.9 % recall before the rules for plain passwords. It is no longer held out: later rules were
/// written with its results known, so its recall is no figure of unseen forms.
#[test]
fn finds_once_held_out_forms_without_false_positives() {
    check(include_str!("forms/held_out_positive.txt"), include_str!("forms/held_out_negative.txt"), 0.97);
}
