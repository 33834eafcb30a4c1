//! What the records of other tools have in common: a document around a cursor, one answer, and what became of it.

use super::{ArmAnswer, ArmRole, OfferOutcome, Opportunity, OpportunityCursor, OutcomeKind, Trigger};
use crate::Exposure;
use crate::prediction::{EngineIdentity, PredictionTimings, Status};

/// The place of a file that another tool names by a URI or a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPlace {
    /// Path, relative to the workspace.
    pub path: String,
    /// Name of the language.
    pub language: String,
}

/// A completion that another tool recorded. It is an opportunity without a truth.
pub(super) struct ImportedEvent<'a> {
    /// Name of the tool.
    pub(super) tool: &'static str,
    /// The tool's own id of the completion.
    pub(super) id: &'a str,
    /// RFC 3339 in UTC.
    pub(super) opened_at: String,
    pub(super) developer: &'a str,
    pub(super) place: ImportedPlace,
    pub(super) prefix: &'a str,
    pub(super) suffix: &'a str,
    /// Kind of the engine, if known.
    pub(super) provider: Option<&'a str>,
    /// Name of the model, if known.
    pub(super) model: Option<&'a str>,
    pub(super) completion: &'a str,
    /// Time until the answer, in ms.
    pub(super) total_ms: f64,
    pub(super) cached: bool,
    pub(super) outcome: OutcomeKind,
    pub(super) accepted_chars: usize,
}

impl ImportedEvent<'_> {
    pub(super) fn into_opportunity(self) -> Opportunity {
        let id = blake3::hash([self.tool, self.id, &self.opened_at].join("\n").as_bytes());
        let id = id.to_hex()[..32].to_owned();
        let exposure = match self.outcome {
            OutcomeKind::Accepted => Exposure::Accepted,
            OutcomeKind::NotShown => Exposure::None,
            _ => Exposure::Shown,
        };
        Opportunity {
            developer: self.developer.to_owned(),
            session: self.tool.to_owned(),
            outcome: OfferOutcome {
                kind: self.outcome,
                arm: Some(self.arm().to_owned()),
                accepted_chars: count(self.accepted_chars),
                ..OfferOutcome::not_shown()
            },
            exposure,
            answers: vec![self.answer()],
            opened_at: self.opened_at.clone(),
            ..Opportunity::new(id, Trigger::Automatic, cursor_between(self.place, self.prefix, self.suffix))
        }
    }

    fn arm(&self) -> &str {
        self.model.unwrap_or(self.tool)
    }

    fn answer(&self) -> ArmAnswer {
        let arm = self.arm().to_owned();
        let engine = EngineIdentity {
            name: arm.clone(),
            kind: self.provider.unwrap_or(self.tool).to_owned(),
            model: arm.clone(),
            fingerprint: String::new(),
        };
        let status = if self.completion.is_empty() { Status::Silent } else { Status::Ok };
        ArmAnswer {
            raw: self.completion.to_owned(),
            text: self.completion.to_owned(),
            ms: PredictionTimings { gather: 0.0, first: None, total: self.total_ms },
            cached: self.cached,
            ..ArmAnswer::empty(arm, engine, ArmRole::Shown, status)
        }
    }
}

/// Returns the cursor between the two parts of a document.
pub(super) fn cursor_between(place: ImportedPlace, prefix: &str, suffix: &str) -> OpportunityCursor {
    let line_start = prefix.rfind('\n').map_or(0, |end| end + 1);
    OpportunityCursor {
        language: place.language,
        path: place.path,
        offset: prefix.len(),
        line: count(prefix.matches('\n').count()),
        character: count(prefix[line_start..].encode_utf16().count()),
        prefix: prefix.to_owned(),
        suffix: suffix.to_owned(),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
