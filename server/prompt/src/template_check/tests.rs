//! Verdicts on fake models, each with one habit.

use super::*;

fn shown(answer: impl Fn(&ProbeHole) -> String) -> Vec<(usize, AnswerFindings)> {
    PROBES.iter().enumerate().map(|(place, probe)| (place, examine_answer(probe, &answer(probe)))).collect()
}

fn tried(form: PromptForm, answer: impl Fn(&ProbeHole) -> String) -> FormResult {
    FormResult { form, answers: shown(answer) }
}

fn template(name: &str) -> PromptForm {
    PromptForm::Template(Template::parse(name).unwrap())
}

fn right(probe: &ProbeHole) -> String {
    probe.truth.to_owned()
}

/// Answer of a model that sees only the prefix.
fn continued(probe: &ProbeHole) -> String {
    match probe.needs_suffix {
        true => " f:\n        return f.read()\n\n\ndef save(path):".to_owned(),
        false => format!("{}{}\nmore()\n", probe.truth, probe.suffix),
    }
}

fn noise(_: &ProbeHole) -> String {
    "q9 %% ,,x lorem".to_owned()
}

fn prose(_: &ProbeHole) -> String {
    "Sure, here is the completed code for you:\n\n```python\nreturn a\n```\n".to_owned()
}

/// A model that solves every third hole in any form.
fn weak(probe: &ProbeHole) -> String {
    if probe.truth == " handle" || probe.truth == ")" { right(probe) } else { noise(probe) }
}

#[test]
fn probes_are_well_formed_and_accept_their_truth() {
    for probe in &PROBES {
        assert!(!probe.prefix.ends_with(' ') && !probe.truth.trim().is_empty(), "{probe:?}");
        assert_eq!(examine_answer(probe, probe.truth), AnswerFindings { share: 1.0, symptoms: Vec::new() });
    }
    assert_eq!(PROBES.iter().filter(|probe| probe.needs_suffix).count(), 3);
    assert_eq!((PROBES[0].prefix, PROBES[0].suffix == PROBES[1].suffix), (PROBES[1].prefix, false));
}

#[test]
fn answer_is_examined_for_truth_share_and_symptoms() {
    let add = &PROBES[2];
    for (answer, share, symptoms) in [
        ("a+b\n", 1.0, vec![]),
        (" a + b<|endoftext|>import os", 1.0, vec![Symptom::Tokens]),
        (" a + b\n\n\nprint(add(1, 2))", 0.5, vec![Symptom::SuffixAgain, Symptom::GoesOn]),
        (" a + bc", 0.0, vec![]),
        (" a - b", 0.0, vec![]),
        ("<fim_middle> a + b", 0.0, vec![Symptom::Tokens]),
        ("def add(a, b):\n    return a + b", 0.0, vec![Symptom::PrefixAgain]),
        ("The sum of both is what belongs there.", 0.0, vec![Symptom::Prose]),
        ("```python\na + b\n```", 0.0, vec![Symptom::Fence]),
        ("", 0.0, vec![]),
    ] {
        assert_eq!(examine_answer(add, answer), AnswerFindings { share, symptoms }, "{answer:?}");
    }
}

#[test]
fn template_that_fills_holes_is_right() {
    assert_eq!(compare_forms(Some(&tried(template("starcoder"), right)), &[]), TemplateVerdict::Right);
    let prefix = tried(PromptForm::Prefix, continued);
    let with_ends = tried(template("starcoder"), |probe| format!("{}\nmore", probe.truth));
    assert_eq!(
        compare_forms(Some(&with_ends), &[prefix]),
        TemplateVerdict::Right,
        "it fills holes, and nothing does better"
    );
}

#[test]
fn other_form_is_suggested_only_if_clearly_better() {
    let better = tried(template("qwen2.5-coder"), right);
    let named = TemplateVerdict::Better(template("qwen2.5-coder"));
    for wrong in [noise, continued, weak] {
        let chosen = tried(template("starcoder"), wrong);
        let others =
            [tried(PromptForm::Prefix, continued), tried(template("codellama"), noise), better.clone()];
        assert_eq!(compare_forms(Some(&chosen), &others), named);
    }
    assert_eq!(compare_forms(None, std::slice::from_ref(&better)), named, "where none could be chosen");
    let half = tried(template("starcoder"), |probe| format!("{} +", probe.truth));
    let little = tried(template("qwen2.5-coder"), |probe| {
        if probe.needs_suffix { right(probe) } else { format!("{} +", probe.truth) }
    });
    assert_eq!(compare_forms(Some(&half), &[little]), TemplateVerdict::Right, "a quarter more is chance");
    let chosen = tried(template("starcoder"), noise);
    assert_eq!(
        compare_forms(Some(&chosen), &[tried(PromptForm::Chat, right)]),
        TemplateVerdict::Better(PromptForm::Chat)
    );
}

#[test]
fn model_that_answers_in_prose_is_a_chat_model() {
    let chosen = tried(template("starcoder"), prose);
    let others = [tried(PromptForm::Prefix, prose), tried(template("codellama"), prose)];
    assert_eq!(compare_forms(Some(&chosen), &others), TemplateVerdict::Chats);
}

#[test]
fn model_that_only_continues_the_prefix_fills_no_holes() {
    let prefix = tried(PromptForm::Prefix, continued);
    assert!(prefix.ignores_suffix());
    for wrong in [noise, continued] {
        let chosen = tried(template("starcoder"), wrong);
        assert_eq!(compare_forms(Some(&chosen), std::slice::from_ref(&prefix)), TemplateVerdict::NoHoles);
    }
}

#[test]
fn weak_model_gets_an_unclear_verdict() {
    for answer in [noise, weak] {
        let chosen = tried(template("starcoder"), answer);
        let others = [
            tried(PromptForm::Prefix, answer),
            tried(template("codellama"), answer),
            tried(PromptForm::Chat, weak),
        ];
        assert_eq!(compare_forms(Some(&chosen), &others), TemplateVerdict::Unclear);
    }
    assert_eq!(compare_forms(None, &[]), TemplateVerdict::Unclear);
    let one_less = tried(template("starcoder"), weak);
    assert_eq!(
        compare_forms(Some(&one_less), &[tried(PromptForm::Prefix, continued)]),
        TemplateVerdict::Unclear
    );
}

#[test]
fn each_layout_is_tried_once_and_the_likely_one_first() {
    let parsed = |name: &str| Template::parse(name).unwrap();
    let templates = layouts(Some(&parsed("codegemma")), Some(&parsed("granite")));
    let names: Vec<_> = templates.iter().map(Template::name).collect();
    assert_eq!(names[0], "codegemma");
    for other in ["qwen2.5-coder", "granite-3", "starcoder2"] {
        assert!(!names.contains(&other), "{other} asks as one of the two: {names:?}");
    }
    for other in ["codellama", "codellama-spm", "codestral", "mellum", "mercury"] {
        assert!(names.contains(&other), "{names:?}");
    }
}
