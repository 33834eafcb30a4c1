//! The order of a repository's files in a context: imported files first.

use std::collections::{HashMap, HashSet};

/// Returns the files in depth-first order of `imports`, which lists each file with the files it imports: a file follows the files
/// that it imports. Cycles are cut where they close. Imported files without a row of their own are included.
pub fn dependency_order<'a>(imports: &'a [(String, Vec<String>)]) -> Vec<&'a str> {
    // The last row of a file counts, as in a JSON object.
    let rows: HashMap<&str, &[String]> =
        imports.iter().map(|(file, imported)| (file.as_str(), imported.as_slice())).collect();
    let mut visited = HashSet::new();
    let mut order = Vec::new();
    // An explicit stack of files with the number of imports already visited: chains of imports are of any length.
    let mut pending: Vec<(&'a str, usize)> = Vec::new();
    for (file, _) in imports {
        if visited.insert(file.as_str()) {
            pending.push((file, 0));
        }
        while let Some((file, next)) = pending.pop() {
            match rows.get(file).and_then(|imported| imported.get(next)) {
                None => order.push(file),
                Some(imported) => {
                    pending.push((file, next + 1));
                    if visited.insert(imported.as_str()) {
                        pending.push((imported, 0));
                    }
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(rows: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        rows.iter()
            .map(|(file, imported)| {
                ((*file).to_owned(), imported.iter().map(|&name| name.to_owned()).collect())
            })
            .collect()
    }

    #[test]
    fn imported_files_come_first_and_cycles_end() {
        let rows = graph(&[("a", &["b", "x"]), ("b", &["a", "c"]), ("c", &["c"])]);
        assert_eq!(dependency_order(&rows), ["c", "b", "x", "a"]);
    }

    #[test]
    fn long_chains_need_no_recursion() {
        let rows: Vec<_> = (0..200_000).map(|i| (i.to_string(), vec![(i + 1).to_string()])).collect();
        assert_eq!(dependency_order(&rows).last(), Some(&"0"));
    }
}
