//! Reads the index that clangd keeps of a repository.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::yabloco::{ClangdIndex, MAX_INDEX_BYTES};

use crate::args::BuildArgs;
use crate::exit::UsageError;
use crate::output::{self, count, print_message};

/// Place of the index below a project.
const FOLDER: &str = ".cache/clangd/index";

/// Ending of its files.
const ENDING: &str = "idx";

/// Limit of its files. LLVM has 20,000.
const MAX_FILES: usize = 200_000;

/// Reads the named index, or the one at a usual place; `None` without a usable one.
pub(crate) fn clangd_index(args: &BuildArgs) -> anyhow::Result<Option<ClangdIndex>> {
    let Some(folder) = folder(args)? else { return Ok(None) };
    let shown = output::path(&folder);
    let root = args.path.canonicalize().with_context(|| output::path(&args.path))?;
    let root = workspace::path_text(&root);
    let paths = index_files(&folder).with_context(|| format!("cannot read {shown}"))?;
    let mut index = ClangdIndex::default();
    let mut unusable: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths.iter().take(MAX_FILES) {
        let added = read(path).and_then(|bytes| index.add(&bytes, &root).map_err(|error| error.to_string()));
        if let Err(reason) = added {
            *unusable.entry(reason).or_default() += 1;
        }
    }
    if paths.len() > MAX_FILES {
        unusable.insert(format!("more than {MAX_FILES} files"), paths.len() - MAX_FILES);
    }
    for (reason, files) in &unusable {
        print_message(&format!("{shown}: ignored {}: {reason}", count(*files, "file")));
    }
    if index.is_empty() {
        print_message(&format!("{shown} has no reference in {}; it is ignored", output::path(&args.path)));
        return Ok(None);
    }
    Ok(Some(index))
}

/// Returns the folder of the index.
fn folder(args: &BuildArgs) -> anyhow::Result<Option<PathBuf>> {
    if let Some(named) = &args.clangd_index {
        if !named.is_dir() {
            return Err(UsageError(format!("{} is not a folder", output::path(named))).into());
        }
        return Ok(Some(named.clone()));
    }
    let beside = args.compile_commands.as_deref().and_then(Path::parent);
    let projects =
        [Some(args.path.as_path()), Some(&args.path.join("build")), beside].map(|it| it.map(Path::to_owned));
    Ok(projects.into_iter().flatten().map(|project| project.join(FOLDER)).find(|folder| folder.is_dir()))
}

/// Returns the files of a folder, sorted.
fn index_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let paths: std::io::Result<Vec<PathBuf>> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // One byte more than allowed, so that longer files are refused.
    file.take(MAX_INDEX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
