//! Finds the licence of a repository by its file, for datasheets.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Bytes at the beginning of a licence file that name it.
const HEAD_BYTES: u64 = 4096;

/// Words that tell licences apart, the more specific first.
const LICENCES: [(&str, &str); 12] = [
    ("GNU AFFERO GENERAL PUBLIC LICENSE", "AGPL"),
    ("GNU LESSER GENERAL PUBLIC LICENSE", "LGPL"),
    ("GNU GENERAL PUBLIC LICENSE", "GPL"),
    ("Apache License", "Apache-2.0"),
    ("Mozilla Public License", "MPL-2.0"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("MIT License", "MIT"),
    ("Redistributions of source code must retain", "BSD"),
    ("Permission to use, copy, modify, and", "ISC"),
    ("This software is provided 'as-is'", "Zlib"),
    ("The Unlicense", "Unlicense"),
    ("free and unencumbered software", "Unlicense"),
];

/// A licence file and the licence that it names.
pub(crate) struct Licence {
    /// Name of the file.
    pub(crate) file: String,
    /// Short name of the licence; none if it is not a common one.
    pub(crate) name: Option<&'static str>,
}

/// Returns the licence files in a folder, in the order of their names.
pub(crate) fn licences(folder: &Path) -> Vec<Licence> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))?;
            entry.file_name().into_string().ok()
        })
        .filter(|name| {
            let name = name.to_ascii_uppercase();
            ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"].iter().any(|start| name.starts_with(start))
        })
        .collect();
    names.sort();
    names.into_iter().map(|file| Licence { name: named(&folder.join(&file)), file }).collect()
}

/// Returns the licences of a repository: their short names, or the names of files with other ones.
pub(crate) fn licence_names(root: &Path) -> Vec<String> {
    let names = licences(root).into_iter().map(|licence| licence.name.map_or(licence.file, str::to_owned));
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

fn named(path: &Path) -> Option<&'static str> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let words = head.split_whitespace().collect::<Vec<_>>().join(" ");
    LICENCES.iter().find(|(text, _)| words.contains(text)).map(|(_, name)| *name)
}
