//! Results of each language's queries, on one small fixture per construct; and invariants of every text.

mod bounds;
mod c;
mod check;
mod cpp;
mod csharp;
mod go;
mod golden;
mod hostile;
mod invariants;
mod java;
mod javascript;
mod languages;
mod names;
mod names_c;
mod names_csharp;
mod names_ecmascript;
mod names_go;
mod names_java;
mod names_python;
mod names_rust;
mod python;
mod rust;
mod scaling;
mod tokens;
mod tsx;
mod typescript;
