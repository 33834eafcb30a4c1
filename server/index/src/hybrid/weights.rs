//! The weights of the features. Written by `cargo xtask fit`.

use super::features::COUNT;

/// In the order of [`super::FEATURES`].
pub(super) const WEIGHTS: [f32; COUNT] = [
    1.43,  // receiver
    2.63,  // in_window
    0.42,  // defined_in_window
    -1.48, // private
    0.97,  // base_expected
    1.47,  // recency
    -0.22, // mentions
    0.98,  // unused_import
    0.23,  // imported
    0.37,  // function
    -0.68, // member
    -1.28, // constructor
    0.92,  // constant
    0.75,  // type
    0.16,  // field
    1.22,  // name_overlap
    1.30,  // owner_overlap
    1.15,  // parameter_overlap
    1.22,  // last_lines_overlap
    -1.29, // special
    -2.47, // in_prefix
    0.64,  // in_suffix
    0.59,  // near_in_suffix
    0.08,  // owner_in_suffix
    0.10,  // variable
    0.21,  // base
    0.13,  // field_type
    -1.03, // hop
    -0.95, // fresh
    -1.43, // other_owner
    -0.03, // popularity
    2.75,  // trailing
    2.00,  // begun
    -2.00, // not_begun
];
