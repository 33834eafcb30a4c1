//! Checks the licences of all dependencies against a list of those that may be shipped in our binary.

use std::iter::Peekable;
use std::str::SplitWhitespace;

use super::{Finding, Package};

/// SPDX identifiers of permissive licences.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Finds the dependencies that may not be shipped.
pub(crate) fn check(packages: &[Package]) -> Vec<Finding> {
    let refused = packages.iter().filter(|package| !package.licence.as_deref().is_some_and(is_allowed));
    refused.map(refusal).collect()
}

fn refusal(package: &Package) -> Finding {
    let licence = package.licence.as_deref().unwrap_or("none");
    let name = format!("`{}` {}", package.name, package.version);
    let message = format!(
        "the licence of {name} is {licence}: do without it, or add the licence to xtask/src/tidy/licences.rs"
    );
    Finding::new("Cargo.lock", message)
}

/// Whether an SPDX expression can be satisfied with allowed licences only. A slash is the former notation of `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words) && words.next().is_none()
}

/// `a OR b`, which binds weaker than `AND`.
fn any_of(words: &mut Peekable<SplitWhitespace<'_>>) -> bool {
    let mut is_allowed = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        is_allowed |= all_of(words);
    }
    is_allowed
}

/// `a AND b`.
fn all_of(words: &mut Peekable<SplitWhitespace<'_>>) -> bool {
    let mut is_allowed = licence_or_group(words);
    while words.next_if_eq(&"AND").is_some() {
        is_allowed &= licence_or_group(words);
    }
    is_allowed
}

/// A licence, with or without an exception, or an expression in parentheses. An exception only adds permissions.
fn licence_or_group(words: &mut Peekable<SplitWhitespace<'_>>) -> bool {
    let Some(word) = words.next() else { return false };
    if word == "(" {
        return any_of(words) & words.next_if_eq(&")").is_some();
    }
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    ALLOWED.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_evaluated_as_spdx() {
        for allowed in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "GPL-3.0-only OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "GPL-2.0-only AND MIT OR ISC",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR ISC",
            "MIT ISC",
            "GPL-2.0-only AND (MIT OR ISC)",
        ] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }

    #[test]
    fn a_package_without_a_licence_is_refused() {
        let package = Package {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            folder: None,
            licence: None,
            dependencies: Vec::new(),
        };
        let findings = check(&[package]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].to_string().contains("`a` 1.0.0 is none"));
    }
}
