//! What each language's queries find, on one small fixture per construct; and what holds for every text.

mod c;
mod check;
mod cpp;
mod csharp;
mod go;
mod golden;
mod invariants;
mod java;
mod javascript;
mod languages;
mod python;
mod rust;
mod tokens;
mod tsx;
mod typescript;
