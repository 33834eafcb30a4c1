//! A Python wheel with nothing but the program: pip, pipx and uv put it beside Python's own programs.
//!
//! `maturin` makes the same layout, but compiles the program for it; here the binary of the other packages is packed.

use std::path::{Path, PathBuf};

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::Source;
use super::archive::write_zip;
use super::contents::PackageFile;
use super::product::Product;

/// The oldest Python whose pip knows the tags.
const OLDEST_PYTHON: &str = ">=3.8";

/// Writes the wheel and returns its path.
pub(super) fn write(source: &Source, out: &Path) -> Result<PathBuf> {
    let tags = source.platform.python_tags(&source.contents.program.bytes);
    let version = source.product.python_version();
    let path = out.join(format!("ghostbench-{version}-py3-none-{}.whl", tags.join(".")));
    write_zip(&path, &files(source, &tags))?;
    Ok(path)
}

fn files(source: &Source, tags: &[String]) -> Vec<PackageFile> {
    let name = format!("ghostbench-{}", source.product.python_version());
    let (data, information) = (format!("{name}.data"), format!("{name}.dist-info"));
    let contents = &source.contents;
    let mut files = vec![contents.program.below(&format!("{data}/scripts"))];
    files.extend(contents.manual.iter().map(|page| page.below(&format!("{data}/data/share/man/man1"))));
    files.extend(contents.licences.iter().map(|file| file.below(&format!("{information}/licenses"))));
    files.push(PackageFile::data(format!("{information}/sboms/ghostbench.cdx.json"), source.sbom.clone()));
    let licences: Vec<_> = contents.licences.iter().map(|file| file.path.as_str()).collect();
    files.push(PackageFile::data(format!("{information}/METADATA"), metadata(&source.product, &licences)));
    files.push(PackageFile::data(format!("{information}/WHEEL"), wheel(tags)));
    let record = record(&files, &format!("{information}/RECORD"));
    files.push(record);
    files
}

/// What an index shows.
fn metadata(product: &Product, licences: &[&str]) -> String {
    let Product { description, repository, licence, .. } = product;
    let version = product.python_version();
    let licences: String = licences.iter().map(|file| format!("License-File: {file}\n")).collect();
    format!(
        "Metadata-Version: 2.4\nName: ghostbench\nVersion: {version}\nSummary: {description}\n\
         License-Expression: {licence}\n{licences}Project-URL: Homepage, {repository}\n\
         Project-URL: Changelog, {repository}/blob/main/CHANGELOG.md\nRequires-Python: {OLDEST_PYTHON}\n\
         Description-Content-Type: text/markdown\n\n# Ghostbench\n\n{description}.\n\n\
         ```console\n$ uvx ghostbench try .\n```\n\nSee <{repository}>.\n"
    )
}

/// How installers read the wheel.
fn wheel(tags: &[String]) -> String {
    let tags: String = tags.iter().map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: ghostbench-xtask\nRoot-Is-Purelib: false\n{tags}")
}

/// The list of all files with their hashes, which names itself without one.
pub(super) fn record(files: &[PackageFile], path: &str) -> PackageFile {
    let row = |file: &PackageFile| {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes));
        format!("{},sha256={hash},{}\n", file.path, file.bytes.len())
    };
    let rows: String = files.iter().map(row).collect();
    PackageFile::data(path, format!("{rows}{path},,\n"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::package::product::tests::product;

    #[test]
    fn metadata_names_version_and_licences() {
        expect![[r#"
            Metadata-Version: 2.4
            Name: ghostbench
            Version: 0.1.0rc1
            Summary: Measures engines
            License-Expression: MIT OR Apache-2.0
            License-File: LICENSE-MIT
            Project-URL: Homepage, https://example.org/ghostbench
            Project-URL: Changelog, https://example.org/ghostbench/blob/main/CHANGELOG.md
            Requires-Python: >=3.8
            Description-Content-Type: text/markdown

            # Ghostbench

            Measures engines.

            ```console
            $ uvx ghostbench try .
            ```

            See <https://example.org/ghostbench>.
        "#]]
        .assert_eq(&metadata(&product("0.1.0-rc.1"), &["LICENSE-MIT"]));
    }

    #[test]
    fn record_has_hash_and_length_of_every_file() {
        let record = record(&[PackageFile::data("a.txt", "text")], "b/RECORD");
        expect![[r#"
            a.txt,sha256=mC2ePrmW9VnmM_TRlN7zdh2Qn1o7ZH0ahR_q1nwyydE,4
            b/RECORD,,
        "#]]
        .assert_eq(&String::from_utf8(record.bytes).expect("it is text"));
    }
}
