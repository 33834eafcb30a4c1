//! Locations of the modules of TypeScript and JavaScript.

use crate::module_resolution::{ModuleLocation, ModuleTarget, PathAlias, Projects, folder, join};

/// File extensions of a module, best guess first: sources before build outputs.
const ENDINGS: [&str; 10] = [".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".d.mts"];
/// Index files of a folder, best guess first.
const INDEXES: [&str; 6] =
    ["/index.ts", "/index.tsx", "/index.d.ts", "/index.js", "/index.jsx", "/index.mts"];
/// Extensions of compiled files, with those of their sources.
const COMPILED: [(&str, &[&str]); 4] = [
    (".js", &[".ts", ".tsx", ".d.ts", ".js", ".jsx"]),
    (".jsx", &[".tsx", ".jsx"]),
    (".mjs", &[".mts", ".d.mts", ".mjs"]),
    (".cjs", &[".cts", ".d.cts", ".cjs"]),
];
/// Source folders of packages, relative to the package's folder.
const SOURCE_FOLDERS: [&str; 3] = ["src", "", "lib"];

/// Returns possible locations of `module`: next to the file at `from`, mapped by the compiler's settings, or in a package of the
/// workspace.
pub(super) fn targets(from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget> {
    let paths = match module {
        _ if module.starts_with("./") || module.starts_with("../") || matches!(module, "." | "..") => {
            join(folder(from), module).into_iter().collect()
        }
        _ => {
            let mut paths = alias_targets(from, module, &projects.aliases);
            paths.extend(in_packages(module, projects));
            paths
        }
    };
    let mut known: Vec<String> = Vec::new();
    for path in paths {
        if !known.contains(&path) {
            known.push(path);
        }
    }
    let files = known.iter().flat_map(|path| files(path));
    files.map(|path| ModuleLocation::File(path.into()).into()).collect()
}

/// Returns the files that a path with or without an extension may refer to.
fn files(path: &str) -> Vec<String> {
    if let Some((stem, made_from)) = COMPILED
        .iter()
        .find_map(|(ending, made_from)| path.strip_suffix(ending).map(|stem| (stem, made_from)))
    {
        return made_from.iter().map(|ending| format!("{stem}{ending}")).collect();
    }
    if ENDINGS.iter().any(|ending| path.ends_with(ending)) {
        return vec![path.to_owned()];
    }
    let files = ENDINGS.iter().chain(&INDEXES).map(|ending| format!("{path}{ending}"));
    files.map(|file| file.trim_start_matches('/').to_owned()).collect()
}

/// Returns the mapped paths of `module`: mappings of the nearest folder first, and among these the most specific first.
fn alias_targets(from: &str, module: &str, aliases: &[PathAlias]) -> Vec<String> {
    let mut matching: Vec<(&PathAlias, &str)> = aliases
        .iter()
        .filter(|alias| is_in(from, &alias.folder))
        .filter_map(|alias| Some((alias, wildcard_part(alias, module)?)))
        .collect();
    matching.sort_by_key(|(alias, _)| std::cmp::Reverse((alias.folder.len(), alias.before.len())));
    let replaced =
        matching.iter().flat_map(|(alias, rest)| alias.paths.iter().map(|path| path.replacen('*', rest, 1)));
    replaced.filter_map(|path| join("", &path)).collect()
}

/// Returns the part of `module` that matches the `*`, if the mapping applies.
fn wildcard_part<'m>(alias: &PathAlias, module: &'m str) -> Option<&'m str> {
    let rest = module.strip_prefix(&*alias.before)?;
    match &alias.after {
        Some(after) => rest.strip_suffix(&**after),
        None => rest.is_empty().then_some(rest),
    }
}

fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns paths of a package of the workspace, or of a module in it.
fn in_packages(module: &str, projects: &Projects) -> Vec<String> {
    let named = projects.node_packages.iter().filter_map(|package| {
        let rest = module.strip_prefix(&*package.name)?;
        (rest.is_empty() || rest.starts_with('/')).then_some((package, rest.trim_start_matches('/')))
    });
    named
        .flat_map(|(package, rest)| {
            SOURCE_FOLDERS.iter().filter_map(move |source| join(&package.folder, &format!("{source}/{rest}")))
        })
        .collect()
}
