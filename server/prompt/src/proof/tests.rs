//! Verdicts on fake models, each with one habit.

use super::*;

fn shown(answer: impl Fn(&Probe) -> String) -> Vec<(usize, Shown)> {
    PROBES.iter().enumerate().map(|(place, probe)| (place, look(probe, &answer(probe)))).collect()
}

fn tried(form: Form, answer: impl Fn(&Probe) -> String) -> Tried {
    Tried { form, shown: shown(answer) }
}

fn template(name: &str) -> Form {
    Form::Template(Template::parse(name).unwrap())
}

fn right(probe: &Probe) -> String {
    probe.truth.to_owned()
}

/// Answer of a model that sees only the prefix.
fn continued(probe: &Probe) -> String {
    match probe.needs_suffix {
        true => " f:\n        return f.read()\n\n\ndef save(path):".to_owned(),
        false => format!("{}{}\nmore()\n", probe.truth, probe.suffix),
    }
}

fn noise(_: &Probe) -> String {
    "q9 %% ,,x lorem".to_owned()
}

fn prose(_: &Probe) -> String {
    "Sure, here is the completed code for you:\n\n```python\nreturn a\n```\n".to_owned()
}

/// A model that solves every third hole in any form.
fn weak(probe: &Probe) -> String {
    if probe.truth == " handle" || probe.truth == ")" { right(probe) } else { noise(probe) }
}

#[test]
fn probes_are_whole_and_differ() {
    for probe in &PROBES {
        assert!(!probe.prefix.ends_with(' ') && !probe.truth.trim().is_empty(), "{probe:?}");
        assert_eq!(look(probe, probe.truth), Shown { share: 1.0, symptoms: Vec::new() });
    }
    assert_eq!(PROBES.iter().filter(|probe| probe.needs_suffix).count(), 3);
    assert_eq!((PROBES[0].prefix, PROBES[0].suffix == PROBES[1].suffix), (PROBES[1].prefix, false));
}

#[test]
fn an_answer_shows_how_much_of_the_truth_it_has() {
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
        assert_eq!(look(add, answer), Shown { share, symptoms }, "{answer:?}");
    }
}

#[test]
fn who_fills_the_holes_is_asked_rightly() {
    assert_eq!(judge(Some(&tried(template("starcoder"), right)), &[]), Verdict::Right);
    let prefix = tried(Form::Prefix, continued);
    let with_ends = tried(template("starcoder"), |probe| format!("{}\nmore", probe.truth));
    assert_eq!(judge(Some(&with_ends), &[prefix]), Verdict::Right, "it fills holes, and nothing does better");
}

#[test]
fn another_form_has_to_be_better_beyond_chance() {
    let better = tried(template("qwen2.5-coder"), right);
    let named = Verdict::Better(template("qwen2.5-coder"));
    for wrong in [noise, continued, weak] {
        let chosen = tried(template("starcoder"), wrong);
        let others = [tried(Form::Prefix, continued), tried(template("codellama"), noise), better.clone()];
        assert_eq!(judge(Some(&chosen), &others), named);
    }
    assert_eq!(judge(None, std::slice::from_ref(&better)), named, "where none could be chosen");
    let half = tried(template("starcoder"), |probe| format!("{} +", probe.truth));
    let little = tried(template("qwen2.5-coder"), |probe| {
        if probe.needs_suffix { right(probe) } else { format!("{} +", probe.truth) }
    });
    assert_eq!(judge(Some(&half), &[little]), Verdict::Right, "a quarter more is chance");
    let chosen = tried(template("starcoder"), noise);
    assert_eq!(judge(Some(&chosen), &[tried(Form::Chat, right)]), Verdict::Better(Form::Chat));
}

#[test]
fn who_talks_is_a_model_for_chats() {
    let chosen = tried(template("starcoder"), prose);
    let others = [tried(Form::Prefix, prose), tried(template("codellama"), prose)];
    assert_eq!(judge(Some(&chosen), &others), Verdict::Chats);
}

#[test]
fn who_continues_alone_fills_no_holes() {
    let prefix = tried(Form::Prefix, continued);
    assert!(prefix.ignores_suffix());
    for wrong in [noise, continued] {
        let chosen = tried(template("starcoder"), wrong);
        assert_eq!(judge(Some(&chosen), std::slice::from_ref(&prefix)), Verdict::NoHoles);
    }
}

#[test]
fn nobody_is_accused_for_being_weak() {
    for answer in [noise, weak] {
        let chosen = tried(template("starcoder"), answer);
        let others =
            [tried(Form::Prefix, answer), tried(template("codellama"), answer), tried(Form::Chat, weak)];
        assert_eq!(judge(Some(&chosen), &others), Verdict::Unclear);
    }
    assert_eq!(judge(None, &[]), Verdict::Unclear);
    let one_less = tried(template("starcoder"), weak);
    assert_eq!(judge(Some(&one_less), &[tried(Form::Prefix, continued)]), Verdict::Unclear);
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
