//! Runs a target of the package `fuzz` under libFuzzer: the one that the variable `GHOSTBENCH_FUZZ_TARGET` names.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fuzz_target!(|input: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("GHOSTBENCH_FUZZ_TARGET").unwrap_or_default();
        fuzz::target(&name).unwrap_or_else(|| panic!("no target has the name {name:?}"))
    });
    target(input);
});
