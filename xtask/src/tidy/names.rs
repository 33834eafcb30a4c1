//! Checks of names: a public type name means one thing in the whole workspace.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Ident, ItemEnum, ItemStruct, ItemTrait, ItemType, Visibility};

use super::rust::is_test_file;
use super::{Finding, TextFile};

/// Names that mean exactly the same in each crate that has them, with the meaning.
const SAME_MEANING: &[(&str, &str)] = &[("Error", "why an operation of the crate failed")];

/// All findings in the sources of the server's crates.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut crates: BTreeMap<String, BTreeMap<&str, &str>> = BTreeMap::new();
    for file in files {
        let Some(name) = crate_of(&file.path) else { continue };
        for found in public_types(&file.text) {
            crates.entry(found).or_default().entry(name).or_insert(&file.path);
        }
    }
    let clashes = crates
        .into_iter()
        .filter(|(name, places)| places.len() > 1 && !SAME_MEANING.iter().any(|(same, _)| same == name));
    let finding = |(name, places): (String, BTreeMap<&str, &str>)| {
        let crates: Vec<_> = places.keys().copied().collect();
        let message = format!("`{name}` is a public type of {}: give each its own name", crates.join(", "));
        Some(Finding::new(places.values().next()?, message))
    };
    clashes.filter_map(finding).collect()
}

/// The crate of a source file of the server; none for tests.
fn crate_of(path: &str) -> Option<&str> {
    let (name, rest) = path.strip_prefix("server/")?.split_once('/')?;
    (rest.starts_with("src/") && rest.ends_with(".rs") && !is_test_file(path)).then_some(name)
}

fn public_types(text: &str) -> BTreeSet<String> {
    let mut types = PublicTypes::default();
    if let Ok(file) = syn::parse_file(text) {
        types.visit_file(&file);
    }
    types.names
}

#[derive(Default)]
struct PublicTypes {
    names: BTreeSet<String>,
}

impl PublicTypes {
    fn add(&mut self, visibility: &Visibility, name: &Ident) {
        if matches!(visibility, Visibility::Public(_)) {
            self.names.insert(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for PublicTypes {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_trait(self, item);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn public_type_name_in_two_crates_is_reported() {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file(
                "server/a/src/lib.rs",
                "pub struct Place; pub struct Error; pub(crate) struct Row; struct One;",
            ),
            file("server/b/src/lib.rs", "pub enum Place {} pub enum Error {} pub struct Row; struct One;"),
            file("server/c/src/tests.rs", "pub struct Place;"),
        ];
        let expected = expect![[r#"
            server/a/src/lib.rs: `Place` is a public type of a, b: give each its own name
        "#]];
        expected.assert_eq(&lines(&check(&files)));
    }
}
