//! The weights of the features. Written by `cargo xtask fit`.

use super::features::COUNT;

/// In the order of [`super::FEATURES`].
pub(super) const WEIGHTS: [f32; COUNT] = [
    1.61,  // receiver
    2.47,  // in_window
    0.37,  // defined_in_window
    -1.61, // private
    0.62,  // base_expected
    1.03,  // recency
    -0.06, // mentions
    1.19,  // unused_import
    0.30,  // imported
    0.46,  // function
    -1.05, // member
    -1.57, // constructor
    0.91,  // constant
    0.73,  // type
    0.22,  // field
    1.43,  // name_overlap
    1.45,  // owner_overlap
    0.94,  // parameter_overlap
    0.99,  // last_lines_overlap
    -1.82, // special
    -2.46, // in_prefix
    0.66,  // in_suffix
    0.96,  // near_in_suffix
    0.28,  // owner_in_suffix
    0.25,  // variable
    -0.02, // base
    0.12,  // field_type
    -1.03, // hop
    -1.10, // fresh
    -1.61, // other_owner
    -0.02, // popularity
    2.81,  // trailing
    2.00,  // begun
    -2.00, // not_begun
];
