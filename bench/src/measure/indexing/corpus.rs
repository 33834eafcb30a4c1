//! Folders of a given size, built from the pinned repositories: the same share for every language, as far as there is code. A larger
//! folder than that has copies of the files with other names, so that the index has as many more names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syntax::{Language, SourceFile};
use workspace::{ReadLimits, Snapshot};

use crate::measure::builtin::scale::rename_identifiers;
use crate::measure::repositories::Repo;

/// A folder of code.
pub(super) struct BenchCorpus {
    pub(super) folder: PathBuf,
}

/// The code of one language, repository by repository.
struct LanguageShare<'a> {
    language: Language,
    files: Vec<(&'a str, &'a SourceFile)>,
    lines: usize,
}

impl BenchCorpus {
    /// Creates a corpus with about this number of lines. An existing corpus is reused.
    pub(super) fn new(repos: &[Repo], lines: usize) -> Result<BenchCorpus> {
        let folder = Path::new("target/bench-repos").join(format!("corpus-{lines}"));
        if !folder.is_dir() {
            let unfinished = folder.with_extension("unfinished");
            if unfinished.exists() {
                fs::remove_dir_all(&unfinished)?;
            }
            write(repos, lines, &unfinished)?;
            fs::rename(&unfinished, &folder)?;
        }
        Ok(BenchCorpus { folder: folder.canonicalize()? })
    }
}

fn write(repos: &[Repo], lines: usize, folder: &Path) -> Result<()> {
    let snapshots: Vec<Snapshot> = repos
        .iter()
        .map(|repo| workspace::load(&repo.root, &ReadLimits::standard(), &|_| {}))
        .collect::<Result<_, _>>()?;
    let mut shares: Vec<LanguageShare<'_>> = Vec::new();
    for (repo, snapshot) in repos.iter().zip(&snapshots) {
        let language = repo.pinned.language;
        let known = shares.iter().position(|share| share.language == language);
        let share = known.unwrap_or_else(|| {
            shares.push(LanguageShare { language, files: Vec::new(), lines: 0 });
            shares.len() - 1
        });
        let files = snapshot.files().iter().filter(|file| repo.pinned.measures(file.language));
        shares[share].files.extend(files.map(|file| (repo.pinned.name, file)));
        for manifest in snapshot.manifests().iter() {
            write_file(&folder.join(repo.pinned.name).join(&*manifest.path), &manifest.text)?;
        }
    }
    shares.iter_mut().for_each(|share| share.lines = share.files.iter().map(|(_, file)| count(file)).sum());
    shares.sort_by_key(|share| share.lines);
    let mut left = lines;
    for copy in 0.. {
        let mut written = 0;
        for (number, share) in shares.iter().enumerate() {
            let lines = (left - written) / (shares.len() - number);
            written += write_share(share, lines, copy, folder)?.min(left - written);
        }
        left -= written;
        // The lines that one pass leaves over are fewer than those of another copy of any size.
        if written == 0 || left < lines / MIN_COPY_SHARE {
            break;
        }
    }
    Ok(())
}

/// A further copy has more than one line in this many of the folder.
const MIN_COPY_SHARE: usize = 20;

/// Writes files until this number of lines is reached, with other names in copies but the first; returns the actual number.
fn write_share(share: &LanguageShare<'_>, lines: usize, copy: usize, folder: &Path) -> Result<usize> {
    let folder = if copy == 0 { folder.to_owned() } else { folder.join(format!("copy-{copy}")) };
    let mut written = 0;
    for (repo, file) in &share.files {
        if written >= lines {
            break;
        }
        let path = folder.join(repo).join(&*file.path);
        match copy {
            0 => write_file(&path, &file.text)?,
            _ => write_file(&path, &rename_identifiers(file, copy))?,
        }
        written += count(file);
    }
    Ok(written)
}

/// Writes a file and the folders above it.
pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    Ok(fs::write(path, text)?)
}

fn count(file: &SourceFile) -> usize {
    file.text.lines().count()
}
