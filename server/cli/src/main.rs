//! The `ghostbench` binary.

fn main() {}
