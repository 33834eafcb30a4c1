//! Decides which documents are processed at all: secret, ignored and too large files are neither sent to an engine nor recorded.
//!
//! The verdict follows the disk: it is checked at every request and recomputed as soon as an ignore file, a folder or the file
//! itself changes. A link is checked twice, by its own path and by its target.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use completion::PathGate;
use workspace::{Admission, DiskReader, RealPath, SkipReason};

use crate::document_location::DocumentLocation;
use crate::document_session::DocumentSession;
use crate::locks::lock;
use crate::open_document::OpenDocument;

/// Reason to refuse a document whose verdict cannot be determined.
const UNKNOWN_VERDICT: &str = "cannot find out whether it is ignored";

/// Maximum number of cached verdicts per document: the files that some hundred requests take their context from.
const MAX_ADMISSIONS: usize = 1_000;

/// Returns why a document must not be sent or recorded, if so.
pub async fn refusal(document: &OpenDocument, home: &DocumentLocation) -> Option<String> {
    if let Some(reason) = refusal_without_disk(document) {
        return Some(reason);
    }
    let judged = document.session.fast_disk_check.check(refusal_now(document, home)).await;
    judged.unwrap_or_else(|| Some(UNKNOWN_VERDICT.to_owned()))
}

/// Returns a function that checks, at the time of the call, why a document's file must not be sent or recorded. It waits for the
/// disk.
pub fn refusal_now(
    document: &OpenDocument,
    home: &DocumentLocation,
) -> impl Fn() -> Option<String> + Send + Sync + 'static {
    let check = disk_check(document, home);
    move || check(&mut DiskReader::new())
}

/// Returns the check of the document's own file. It waits for the disk.
fn disk_check(
    document: &OpenDocument,
    home: &DocumentLocation,
) -> impl Fn(&mut DiskReader) -> Option<String> + Send + Sync + 'static {
    let path = document.path.clone();
    let in_folder = home.folder.as_ref().filter(|_| home.is_inside);
    let in_folder = in_folder.map(|folder| (folder.root.clone(), Arc::clone(&home.path)));
    let session = Arc::clone(&document.session);
    move |disk| {
        let in_folder = in_folder.as_ref().map(|(root, name)| (root.as_path(), &**name));
        refusal_on_disk(&session, path.as_deref()?, in_folder, disk)
    }
}

/// Returns the check for the document's own file and for the files its context comes from, by their paths in the folder.
pub fn path_gate(document: &OpenDocument, home: &DocumentLocation) -> PathGate {
    let own = disk_check(document, home);
    let own_path = Arc::clone(&home.path);
    let root = home.folder.as_ref().map(|folder| folder.root.clone());
    let session = Arc::clone(&document.session);
    PathGate::new(move |paths| {
        let mut disk = DiskReader::new();
        let may_leave = |path: &&str| match &root {
            _ if **path == *own_path => own(&mut disk).is_none(),
            Some(root) => skip_reason_in(&session, root, path, &mut disk).is_none(),
            None => true,
        };
        paths.iter().map(may_leave).collect()
    })
}

/// Checks that do not need the disk.
fn refusal_without_disk(document: &OpenDocument) -> Option<String> {
    if document.path.as_deref().is_some_and(is_secret_like) {
        return Some("it is named like secrets".to_owned());
    }
    if document.language.is_none() {
        return Some("its language is not supported".to_owned());
    }
    let is_too_large = document.rope.len() > completion::MAX_DOCUMENT_BYTES;
    is_too_large.then(|| completion::Gate::DocumentTooLarge.to_string())
}

fn is_secret_like(path: &Path) -> bool {
    path.file_name().is_some_and(|name| workspace::is_secret_like(&name.to_string_lossy()))
}

/// Checks on disk for the document at `path`, which the workspace folder `in_folder` may contain under the given name. Waits for
/// the disk.
fn refusal_on_disk(
    session: &DocumentSession,
    path: &Path,
    in_folder: Option<(&Path, &str)>,
    disk: &mut DiskReader,
) -> Option<String> {
    if let Some((root, name)) = in_folder
        && let Some(reason) = skip_reason_in(session, root, name, disk)
    {
        return Some(format!("it is left out of the workspace: {}", reason.name()));
    }
    // A path that is not on disk is not a link.
    let Some(RealPath::Existing(real)) = workspace::real_path(path) else { return None };
    if real == path {
        return None;
    }
    if is_secret_like(&real) {
        return Some("it links to a file that is named like secrets".to_owned());
    }
    let within = in_folder.and_then(|(root, _)| {
        let name = real.strip_prefix(root.canonicalize().ok()?).map(workspace::path_text).ok()?;
        Some((root.to_owned(), name))
    });
    let (root, name) = within.or_else(|| enclosing_repository(&real))?;
    let reason = skip_reason_in(session, &root, &name, disk)?;
    Some(format!("the file that it links to is left out of the workspace: {}", reason.name()))
}

/// Returns why the walk of the folder at `root` skips the file called `name`, if that reason applies to engines.
fn skip_reason_in(
    session: &DocumentSession,
    root: &Path,
    name: &str,
    disk: &mut DiskReader,
) -> Option<SkipReason> {
    let key = (root.to_owned(), name.to_owned());
    let known = lock(&session.admissions).get(&key).cloned();
    let admission = known.filter(|known| known.is_current(disk)).unwrap_or_else(|| {
        let judged = Arc::new(Admission::judge(root, name, disk));
        let mut admissions = lock(&session.admissions);
        if admissions.len() == MAX_ADMISSIONS {
            admissions.clear();
        }
        admissions.insert(key, Arc::clone(&judged));
        judged
    });
    admission.refusal.filter(|reason| applies_to_engines(*reason))
}

/// The repository that contains a file, otherwise its folder, and the file's name in it.
fn enclosing_repository(path: &Path) -> Option<(PathBuf, String)> {
    let folder = path.parent()?;
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    Some((root.to_owned(), workspace::path_text(path.strip_prefix(root).ok()?)))
}

/// Whether a reason to keep a file out of the index also keeps its document from engines. Hidden files, nested checkouts and
/// files behind links are the user's own code.
fn applies_to_engines(reason: SkipReason) -> bool {
    use SkipReason as R;
    matches!(
        reason,
        R::Ignored | R::SecretLike | R::Special | R::Oversized | R::Dependencies | R::BuildOutput | R::Run
    )
}
