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

pub(crate) use c::CRules;
pub(crate) use csharp::CSharpRules;
pub(crate) use ecmascript::{EcmaScriptRules, package_json, tsconfig};
pub(crate) use go::{GoRules, go_module};
pub(crate) use java::JavaRules;
pub(crate) use python::PythonRules;
pub(crate) use rust::{RustRules, cargo_packages};
