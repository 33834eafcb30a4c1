//! Reads module names from `tsconfig.json`, `jsconfig.json` and `package.json`.

use serde_json::Value;

use crate::language::Manifest;
use crate::module_resolution::{Package, PathAlias, folder, join, join_folder};

/// Maximum length of a chain of `extends`.
const MAX_EXTENDS: usize = 8;

/// Returns the mappings of a `tsconfig.json` or a similar file; `all` contains the files that it may extend.
pub(crate) fn tsconfig(manifest: &Manifest, all: &[Manifest]) -> Vec<PathAlias> {
    let mut aliases = Vec::new();
    let mut current = Some(manifest);
    let mut has_paths = false;
    for _ in 0..MAX_EXTENDS {
        let Some(config) = current else { break };
        let Some(settings) = parse(&config.text) else { break };
        let options = &settings["compilerOptions"];
        let here = folder(&config.path);
        let base = options["baseUrl"].as_str().and_then(|base| join(here, base));
        // A file's own settings override those of the file that it extends.
        if !has_paths {
            aliases.extend(paths(&options["paths"], base.as_deref().unwrap_or(here), folder(&manifest.path)));
            has_paths = options["paths"].is_object();
        }
        aliases.extend(base.map(|base| PathAlias {
            folder: folder(&manifest.path).into(),
            before: "".into(),
            after: Some("".into()),
            paths: vec![join_folder(&base, "*").into()],
        }));
        current = extended(&settings, here, all);
    }
    aliases
}

/// Returns the manifest that `settings` extends, if it is in the workspace.
fn extended<'m>(settings: &Value, here: &str, all: &'m [Manifest]) -> Option<&'m Manifest> {
    let extends = &settings["extends"];
    let path = extends.as_str().or_else(|| extends.get(0)?.as_str()).filter(|path| path.starts_with('.'))?;
    let path = join(here, path)?;
    all.iter().find(|manifest| *manifest.path == *path || manifest.path.strip_suffix(".json") == Some(&path))
}

fn paths(paths: &Value, base: &str, folder: &str) -> Vec<PathAlias> {
    let Some(paths) = paths.as_object() else { return Vec::new() };
    paths
        .iter()
        .filter_map(|(name, places)| {
            let places = places.as_array()?.iter().filter_map(|place| join(base, place.as_str()?));
            Some(alias(folder, name, places.map(Into::into).collect()))
        })
        .collect()
}

/// Returns the mapping of `name`, which may contain a `*`.
fn alias(folder: &str, name: &str, paths: Vec<Box<str>>) -> PathAlias {
    let (before, after) = name.split_once('*').map_or((name, None), |(before, after)| (before, Some(after)));
    PathAlias { folder: folder.into(), before: before.into(), after: after.map(Into::into), paths }
}

/// Returns the package named in a `package.json`, and the mappings of its exports and of its own names (`#name`).
pub(crate) fn package_json(manifest: &Manifest) -> (Option<Package>, Vec<PathAlias>) {
    let Some(settings) = parse(&manifest.text) else { return (None, Vec::new()) };
    let folder = folder(&manifest.path);
    let name = settings["name"].as_str().filter(|name| !name.is_empty());
    let package = name.map(|name| Package { folder: folder.into(), name: name.into() });
    let mut aliases = exported(&settings["imports"], folder, |name| (folder.into(), name.to_owned()));
    if let Some(name) = name {
        aliases.extend(exported(&settings["exports"], folder, |export| {
            (String::new(), format!("{name}{}", export.trim_start_matches('.')))
        }));
        let main = ["source", "types", "module", "main"].into_iter().filter_map(|key| settings[key].as_str());
        let main: Vec<Box<str>> = main.flat_map(|path| sources(folder, path)).collect();
        aliases.extend((!main.is_empty()).then(|| alias("", name, main)));
    }
    (package, aliases)
}

/// Returns the mappings in `exports` or `imports`; `named` returns the folder that an entry applies to and its import name.
fn exported(entries: &Value, folder: &str, named: impl Fn(&str) -> (String, String)) -> Vec<PathAlias> {
    let alias = |export: &str, value: &Value| {
        let paths: Vec<Box<str>> = places(value).into_iter().flat_map(|path| sources(folder, path)).collect();
        let (holds_for, name) = named(export);
        (!paths.is_empty()).then(|| alias(&holds_for, &name, paths))
    };
    match entries {
        Value::Object(entries) if entries.keys().all(|key| key.starts_with(['.', '#'])) => {
            entries.iter().filter_map(|(export, value)| alias(export, value)).collect()
        }
        Value::Null => Vec::new(),
        whole => alias(".", whole).into_iter().collect(),
    }
}

/// Returns the paths under all conditions of an entry.
fn places(value: &Value) -> Vec<&str> {
    match value {
        Value::String(path) => vec![path],
        Value::Object(conditions) => conditions.values().flat_map(places).collect(),
        Value::Array(some) => some.iter().flat_map(places).collect(),
        _ => Vec::new(),
    }
}

/// Output folders of compilers for sources in `src`.
const BUILD_FOLDERS: [&str; 6] = ["dist/", "build/", "lib/", "out/", "esm/", "cjs/"];

/// Returns a path in the folder of a package, and the possible source paths if it is a build output. Other folders between the
/// package and the file distinguish kinds of builds.
fn sources(folder: &str, path: &str) -> Vec<Box<str>> {
    let path = path.trim_start_matches("./");
    let mut places: Vec<String> = Vec::new();
    let mut rest = path;
    while let Some(shorter) = BUILD_FOLDERS.iter().find_map(|build| rest.strip_prefix(build)) {
        rest = shorter;
        places.push(format!("src/{rest}"));
    }
    places.reverse();
    places.push(path.to_owned());
    let without_types = |place: &str| place.strip_suffix(".d.ts").unwrap_or(place).to_owned();
    places.iter().filter_map(|place| join(folder, &without_types(place))).map(Into::into).collect()
}

/// Parses lenient JSON, as common in settings: with comments and with commas before closing brackets.
fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(&strict(text)).ok()
}

/// Returns `text` without its comments and without commas before closing brackets.
fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |(_, after)| after);
                continue;
            }
            ']' | '}' => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
                1
            }
            other => other.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Returns the length of the string at the start of `text`, its quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return offset + 1,
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    text.len()
}
