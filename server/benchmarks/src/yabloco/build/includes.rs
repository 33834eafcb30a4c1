//! Which files a file includes.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use syntax::SourceFile;

use crate::yabloco::compile_commands::CompileCommands;

/// The files that each file includes, directly or not.
pub(super) struct Includes<'a> {
    direct: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Includes<'a> {
    pub(super) fn new(files: &'a [SourceFile], commands: &CompileCommands) -> Includes<'a> {
        let paths: HashSet<&str> = files.iter().map(|file| &*file.path).collect();
        let folders = commands.folders();
        let direct = |file: &'a SourceFile| {
            let found = included_names(&file.text).filter_map(|name| {
                let own = commands.include_targets(&file.path, name);
                // A header has no command: it looks where the files that include it do.
                let of_others = folders.iter().map(|folder| [folder, name].join("/"));
                own.chain(of_others).find_map(|path| paths.get(path.trim_start_matches('/')).copied())
            });
            (&*file.path, found.collect())
        };
        Includes { direct: files.par_iter().map(direct).collect() }
    }

    /// Whether `from` includes `to`, directly or not.
    pub(super) fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut left: Vec<&str> = vec![from];
        while let Some(path) = left.pop() {
            for &next in self.direct.get(path).into_iter().flatten() {
                if next == to {
                    return true;
                }
                if seen.insert(next) {
                    left.push(next);
                }
            }
        }
        false
    }
}

/// Returns the names in `#include "name"` and `#include <name>`.
fn included_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let close = if rest.starts_with('<') { '>' } else { '"' };
        let name = rest.strip_prefix(['<', '"'])?;
        name.split(close).next().filter(|name| !name.is_empty())
    })
}
