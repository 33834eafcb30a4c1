//! The rules of the languages: one file each, next to its queries.

#[path = "languages/c/rules.rs"]
mod c;
#[path = "languages/csharp/rules.rs"]
mod csharp;
#[path = "languages/ecmascript/rules.rs"]
mod ecmascript;
#[path = "languages/go/rules.rs"]
mod go;
#[path = "languages/java/rules.rs"]
mod java;
#[path = "languages/python/rules.rs"]
mod python;
#[path = "languages/rust/rules.rs"]
mod rust;

pub(crate) use c::C;
pub(crate) use csharp::CSharp;
pub(crate) use ecmascript::{EcmaScript, package_json, tsconfig};
pub(crate) use go::{Go, go_module};
pub(crate) use java::Java;
pub(crate) use python::Python;
pub(crate) use rust::{Rust, cargo_packages};
