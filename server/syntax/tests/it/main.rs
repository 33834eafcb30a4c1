//! What each language's queries find, on one small fixture per construct.

mod check;
mod python;
mod rust;
