//! Every target gets the inputs in its folder of `corpus`, and damaged forms of them.

use std::fs;
use std::path::Path;

use text::SplitMix64;

/// Damaged forms of each input.
const DAMAGED: usize = 20;

#[test]
fn inputs_of_the_corpus_break_nothing() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut random = SplitMix64::new(1);
    for (name, run) in fuzz::TARGETS {
        let entries =
            fs::read_dir(corpus.join(name)).unwrap_or_else(|error| panic!("the corpus of {name}: {error}"));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder of ours").path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{name} has no inputs");
        for path in paths {
            let input = fs::read(&path).expect("a file of ours");
            run(&input);
            for _ in 0..DAMAGED {
                run(&damaged(&input, &mut random));
            }
        }
    }
}

/// Returns the input with a few bytes changed, or without its end.
fn damaged(input: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut damaged = input.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(damaged.len().max(1));
        if let Some(byte) = damaged.get_mut(place) {
            *byte = random.below(256) as u8;
        }
    }
    if random.below(4) == 0 {
        damaged.truncate(random.below(damaged.len().max(1)));
    }
    damaged
}

#[test]
fn every_folder_of_the_corpus_is_that_of_a_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for entry in fs::read_dir(corpus).expect("the corpus") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(fuzz::target(&name).is_some(), "no target has the name {name}");
    }
}

#[test]
fn workflow_of_the_night_names_every_target() {
    let workflow = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows/fuzz.yml");
    let workflow = fs::read_to_string(workflow).expect("the workflow");
    let names: Vec<&str> = fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
    assert!(workflow.contains(&format!("target: [{}]", names.join(", "))), "{names:?}");
}
