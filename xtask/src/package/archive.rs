//! Archives: `.tar.gz`, and `.zip` for Windows. They are named as by cargo-dist, so that tools that install from releases find them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Source;
use super::contents::PackageFile;

/// Permissions of programs.
const PROGRAM_MODE: u32 = 0o755;

/// Permissions of other files.
const DATA_MODE: u32 = 0o644;

/// Time of all files in seconds since 1970: the start of 2000. With the time of packing, the same files would give other bytes.
const FILE_TIME: u64 = 946_684_800;

/// Writes the archive of the platform and the list of linked packages beside it.
pub(super) fn write_packages(source: &Source, out: &Path) -> Result<Vec<PathBuf>> {
    let platform = source.platform;
    let archive = out.join(platform.archive_name());
    if platform.is_windows() {
        write_zip(&archive, &files(source, ""))?;
    } else {
        write_tar_gz(&archive, &files(source, &format!("{}/", platform.archive_stem())))?;
    }
    let sbom = out.join(format!("{}.cdx.json", platform.archive_stem()));
    fs::write(&sbom, &source.sbom)?;
    Ok(vec![archive, sbom])
}

/// The files of an archive, below a folder.
fn files(source: &Source, top: &str) -> Vec<PackageFile> {
    let contents = &source.contents;
    let mut files = vec![contents.program.clone(), contents.changelog.clone()];
    files.extend(contents.licences.iter().cloned());
    files.extend(contents.manual.iter().map(|page| page.below("man/man1")));
    files.extend(contents.completions.iter().map(|file| file.below("completions")));
    files.extend(contents.neovim.iter().map(|file| file.below("neovim")));
    files.into_iter().map(|file| file.at(format!("{top}{}", file.path))).collect()
}

/// Writes files as `.tar.gz`.
pub(super) fn write_tar_gz(path: &Path, files: &[PackageFile]) -> Result<()> {
    let output = BufWriter::new(File::create(path)?);
    let mut archive = Builder::new(GzEncoder::new(output, Compression::best()));
    for file in files {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(mode(file));
        header.set_mtime(FILE_TIME);
        header.set_size(file.bytes.len() as u64);
        archive.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Writes files as `.zip`.
pub(super) fn write_zip(path: &Path, files: &[PackageFile]) -> Result<()> {
    let mut archive = ZipWriter::new(BufWriter::new(File::create(path)?));
    for file in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .unix_permissions(mode(file));
        archive.start_file(&file.path, options)?;
        archive.write_all(&file.bytes)?;
    }
    archive.finish()?.flush()?;
    Ok(())
}

fn mode(file: &PackageFile) -> u32 {
    if file.is_program { PROGRAM_MODE } else { DATA_MODE }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn files() -> [PackageFile; 2] {
        let program = PackageFile { is_program: true, ..PackageFile::data("top/ghostbench", "program") };
        [program, PackageFile::data("top/man/a.1", "page")]
    }

    #[test]
    fn tar_keeps_paths_content_and_permissions() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tar.gz");
        write_tar_gz(&path, &files()).expect("it is written");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(File::open(&path).expect("a file")));
        let entries = archive.entries().expect("an archive").map(|entry| {
            let mut entry = entry.expect("an entry");
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("text");
            let path = entry.path().expect("a path").display().to_string();
            (path, entry.header().mode().expect("a mode"), text)
        });
        let entry = |path: &str, mode, text: &str| (path.to_owned(), mode, text.to_owned());
        assert_eq!(
            entries.collect::<Vec<_>>(),
            [entry("top/ghostbench", 0o755, "program"), entry("top/man/a.1", 0o644, "page")]
        );
    }

    #[test]
    fn zip_keeps_paths_content_and_permissions() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.zip");
        write_zip(&path, &files()).expect("it is written");
        let mut archive = zip::ZipArchive::new(File::open(&path).expect("a file")).expect("an archive");
        let mut program = archive.by_name("top/ghostbench").expect("the program");
        assert_eq!(program.unix_mode().map(|mode| mode & 0o777), Some(0o755));
        let mut text = String::new();
        program.read_to_string(&mut text).expect("text");
        assert_eq!(text, "program");
    }

    #[test]
    fn same_files_give_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second] = ["a", "b"].map(|name| {
            let path = folder.path().join(name);
            write_tar_gz(&path, &files()).expect("it is written");
            let zip = path.with_extension("zip");
            write_zip(&zip, &files()).expect("it is written");
            (fs::read(path).expect("a file"), fs::read(zip).expect("a file"))
        });
        assert!(first == second);
    }
}
