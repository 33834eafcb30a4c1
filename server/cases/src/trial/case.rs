//! The benchmark cases of an opportunity.

use crate::case::{Case, Origin, OriginKind, Tags};
use crate::task::{CompletionTask, Task};
use crate::{Exposure, SchemaVersion};

use super::{ArmRole, DecisionKind, Opportunity, PrivacyLevel};

/// Tag: share of the truth's bytes that the developer typed, from 0 to 1 with two decimals.
const TYPED_TAG: &str = "typed";
/// Tag: the stage of the truth.
const STAGE_TAG: &str = "stage";
/// Tag: id of the opportunity.
const OPPORTUNITY_TAG: &str = "opportunity";
/// Tag: pseudonym of the developer.
const DEVELOPER_TAG: &str = "developer";
/// Tag: how much of the code is unchanged, if not all.
const PRIVACY_TAG: &str = "privacy";

impl Opportunity {
    /// Returns the case of this opportunity: at its cursor, with its last truth. `None` while there is no truth, and without code. Text
    /// after the cursor that was replaced is part of the hole.
    pub fn to_case(&self) -> Option<Case> {
        let truth = self.truth()?;
        let task = self.task?;
        if self.privacy == PrivacyLevel::Metrics {
            return None;
        }
        let suffix = self.cursor.suffix.strip_prefix(&*truth.deleted)?;
        let mut case = Case {
            schema: SchemaVersion::CURRENT,
            id: String::new(),
            hole: format!("{}:{}", self.cursor.path, self.id),
            task,
            language: self.cursor.language.clone(),
            block_kind: self.block_kind,
            path: self.cursor.path.clone(),
            byte_range: self.cursor.offset..self.cursor.offset + truth.deleted.len(),
            line: self.cursor.line,
            character: self.cursor.character,
            prefix: self.cursor.prefix.clone(),
            suffix: suffix.to_owned(),
            truth: truth.text.clone(),
            context: Vec::new(),
            function: None,
            tests: None,
            origin: self.origin(),
            tags: self.tags(),
        };
        case.id = case.compute_id();
        Some(case)
    }

    /// Returns all cases of this opportunity: [`Opportunity::to_case`], and its twin with the functions that were retrieved at that
    /// moment, if there are any and something was written.
    pub fn to_cases(&self) -> Vec<Case> {
        let Some(case) = self.to_case() else { return Vec::new() };
        let has_twin = !self.similar_functions.is_empty() && !case.truth.is_empty();
        let twin = has_twin.then(|| {
            let task = Task::Complete(CompletionTask::Rag);
            let mut twin = Case { task, context: self.similar_functions.clone(), ..case.clone() };
            twin.id = twin.compute_id();
            twin
        });
        [case].into_iter().chain(twin).collect()
    }

    fn origin(&self) -> Origin {
        let shown = self.answers.iter().find(|answer| answer.role == ArmRole::Shown);
        let is_exposed = self.exposure != Exposure::None;
        let has_holdout = self.decisions.iter().any(|decision| decision.kind == DecisionKind::Holdout);
        Origin {
            commit: self.commit.clone(),
            recorded_at: Some(self.opened_at.clone()),
            exposure: self.exposure,
            exposed_arm: shown.filter(|_| is_exposed).map(|answer| answer.arm.clone()),
            probability: has_holdout.then(|| self.probability()),
            ..Origin::new(OriginKind::Live, &self.tree_hash)
        }
    }

    fn tags(&self) -> Tags {
        let truth = self.truth();
        let tags = [
            (OPPORTUNITY_TAG, Some(self.id.clone())),
            (DEVELOPER_TAG, Some(self.developer.clone())),
            (STAGE_TAG, truth.map(|truth| truth.stage.to_string())),
            (TYPED_TAG, truth.map(|truth| format!("{:.2}", truth.share_typed()))),
            (PRIVACY_TAG, (self.privacy != PrivacyLevel::Full).then(|| self.privacy.to_string())),
        ];
        tags.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
