//! Tabby's `/v1/completions`: segments, with the path of the file.

use serde_json::Value;

use super::{FillRequest, text};

pub(super) fn completion(body: &Value) -> Option<FillRequest> {
    let segments = body.get("segments")?;
    Some(FillRequest {
        prefix: text(segments, "prefix")?.to_owned(),
        suffix: text(segments, "suffix").unwrap_or_default().to_owned(),
        path: text(segments, "filepath").map(str::to_owned),
    })
}
