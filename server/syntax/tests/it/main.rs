//! What each language's queries find, on one small fixture per construct.

mod c;
mod check;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod python;
mod rust;
mod tsx;
mod typescript;
