//! Formats the results of a check: table cells, remarks with remedies, JSON.

use std::time::Duration;

use crate::views::engines::EngineCheckRow;
use ::engines::check::{CancellationResult, EngineCheck, GenerationSpeed, StreamingMode};
use ::engines::{EngineError, PromptMode, RegisteredEngine};
use config::{Config, EngineKind};
use prompt::template_check::{FormResult, PROBES, PromptForm, Symptom, TemplateVerdict};
use prompt::{TemplateChoice, TemplateSource};
use serde_json::{Value, json};

/// The results of one engine.
pub(super) struct CheckRow<'a> {
    candidate: &'a RegisteredEngine,
    /// `None` for an unavailable engine.
    check: Option<&'a EngineCheck>,
    /// Location of its definition in the settings.
    place: Option<String>,
}

impl<'a> CheckRow<'a> {
    pub(super) fn new(
        candidate: &'a RegisteredEngine,
        check: Option<&'a EngineCheck>,
        config: &Config,
    ) -> CheckRow<'a> {
        let named = config.engines.iter().find(|engine| engine.name == candidate.name);
        CheckRow { candidate, check, place: named.map(|engine| engine.origin.location.to_string()) }
    }

    /// Returns whether the engine was available but gave no answer.
    pub(super) fn has_failed(&self) -> bool {
        let fault = self.check.and_then(|check| check.fault.as_ref());
        fault.is_some_and(|fault| !matches!(fault, EngineError::NoTemplate { .. }))
            || self.check.is_none() && self.candidate.obstacle().is_none()
    }

    /// Returns whether the check found a problem.
    pub(super) fn has_finding(&self) -> bool {
        let Some(check) = self.check else { return false };
        check.fault.is_some()
            || matches!(
                check.verdict,
                Some(TemplateVerdict::Better(_) | TemplateVerdict::Chats | TemplateVerdict::NoHoles)
            )
            || matches!(check.streaming, Some(StreamingMode::HeldBack(_)))
            || matches!(
                check.cancellation,
                Some(CancellationResult::StillBusy(_) | CancellationResult::NextLate(_))
            )
    }

    pub(super) fn cells(&self) -> EngineCheckRow {
        let name = self.candidate.name.clone();
        let Some(check) = self.check else {
            return EngineCheckRow { name, reached: "not asked", ..EngineCheckRow::default() };
        };
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        EngineCheckRow {
            name,
            reached: if self.has_failed() { "no" } else { "yes" },
            model: self.model(check),
            prompt_format: check.info.prompt_mode.as_ref().map(template_note).unwrap_or_default(),
            holes: holes_cell(check),
            streams: check.streaming.map(streaming_name).unwrap_or_default().to_owned(),
            cancels: check.cancellation.map(cancellation_name).unwrap_or_default(),
            first: check.times.map(|times| ms(times.first)),
            total: check.times.map(|times| ms(times.total)),
            speed: check.speed.map(speed_cell).unwrap_or_default(),
            window: check.info.metadata.context_window,
        }
    }

    /// Returns the model's name as reported by the server, or as configured. Only the file name of a path.
    fn model(&self, check: &EngineCheck) -> String {
        let reported = check.info.metadata.names.first().map(String::as_str);
        let model = reported.or(self.candidate.model()).unwrap_or_default();
        model.rsplit(['/', '\\']).next().unwrap_or(model).to_owned()
    }

    /// Returns the remarks with their remedies, one line each.
    pub(super) fn remarks(&self) -> Vec<String> {
        let remark_of = |remark: String| format!("{}: {remark}", self.candidate.name);
        let Some(check) = self.check else {
            return vec![remark_of(match self.candidate.obstacle() {
                Some(obstacle) => format!("not asked: {obstacle}"),
                None => "its check panicked".to_owned(),
            })];
        };
        let verdict = check.verdict.as_ref().and_then(|verdict| self.verdict(check, verdict));
        let fault = match &check.fault {
            // The verdict already names the template to configure.
            Some(EngineError::NoTemplate { .. }) if verdict.is_some() => None,
            fault => fault.as_ref().map(without_name),
        };
        let remarks = [
            fault,
            verdict,
            check.streaming.and_then(held_back_message),
            check.cancellation.and_then(not_freed_message),
        ];
        remarks.into_iter().flatten().map(remark_of).collect()
    }

    fn verdict(&self, check: &EngineCheck, verdict: &TemplateVerdict) -> Option<String> {
        let here = self.place.as_ref().map(|place| format!(" (defined at {place})")).unwrap_or_default();
        let now = chosen_result(check);
        Some(match verdict {
            TemplateVerdict::Right => return None,
            TemplateVerdict::Better(form) => {
                let found = check
                    .other_forms
                    .iter()
                    .find(|tried| tried.form == *form)
                    .map_or(0, FormResult::filled_holes);
                let line = remedy(form, self.candidate.kind);
                let why = match (form, check.chosen_form.as_ref().is_some_and(FormResult::ignores_suffix)) {
                    (PromptForm::Chat, _) => "this is a chat model: ",
                    (_, true) => "the text after the cursor is ignored: ",
                    (_, false) => "the template is wrong: ",
                };
                format!("{why}{now}, {} {found}; write {line}{here}", form_name(form))
            }
            TemplateVerdict::Chats => format!(
                "this is a chat model: {now}, and its answers are prose; use `kind = \"openai-chat\"` if its server supports it, or a base \
                 model{here}"
            ),
            TemplateVerdict::NoHoles => format!(
                "this model does not support fill-in-the-middle: it continues the text before the cursor, and no template makes it use the text \
                 after the cursor; use a model trained for fill-in-the-middle{here}"
            ),
            // Without a template there is no verdict on it.
            TemplateVerdict::Unclear => {
                check.chosen_form.as_ref()?;
                format!("the template cannot be judged: {now}, and no other form does clearly better")
            }
        })
    }

    pub(super) fn json(&self) -> Value {
        let mut row = json!({
            "name": self.candidate.name,
            "kind": self.candidate.kind.map(EngineKind::name),
            "asked": self.check.is_some(),
            "reason": self.candidate.obstacle(),
            "remarks": self.remarks(),
        });
        let Some(check) = self.check else { return row };
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let introduction = &check.info;
        let more = json!({
            "reachable": !self.has_failed(),
            "fault": check.fault.as_ref().map(EngineError::cause),
            "model": self.model(check),
            "names": introduction.metadata.names,
            "window": introduction.metadata.context_window,
            "form": introduction.prompt_mode.as_ref().map(prompt_mode_name),
            "chosen_by": introduction.prompt_mode.as_ref().map(chosen_by),
            "ms": check.times.map(|times| json!({"first": ms(times.first), "total": ms(times.total)})),
            "tokens_per_second": check.speed.map(|speed| speed.tokens_per_second),
            "tokens_are_counted": check.speed.map(|speed| speed.is_counted),
            "streaming": check.streaming.map(json_streaming),
            "cancelling": check.cancellation.map(json_cancelling),
            "verdict": check.verdict.as_ref().map(verdict_name),
            "better": match &check.verdict {
                Some(TemplateVerdict::Better(form)) => Value::from(form_name(form)),
                _ => Value::Null,
            },
            "tried": check.chosen_form.iter().chain(&check.other_forms).map(json_form_result).collect::<Vec<_>>(),
        });
        if let (Some(row), Value::Object(mut more)) = (row.as_object_mut(), more) {
            row.append(&mut more);
        }
        row
    }
}

/// Describes the result of the chosen form.
fn chosen_result(check: &EngineCheck) -> String {
    let Some(tried) = &check.chosen_form else { return "none is known for it".to_owned() };
    let odd = Symptom::ALL.into_iter().map(|symptom| (tried.count_with(symptom), symptom));
    let odd: Vec<String> = odd
        .filter(|(count, _)| count * 2 >= tried.answers.len())
        .map(|(_, symptom)| format!(" (answers {})", symptom.name()))
        .take(1)
        .collect();
    format!(
        "{} fills {} of {} holes{}",
        form_name(&tried.form),
        tried.filled_holes(),
        tried.answers.len(),
        odd.concat()
    )
}

/// Returns the lines to add to the settings.
fn remedy(form: &PromptForm, kind: Option<EngineKind>) -> String {
    match form {
        PromptForm::Template(template) if kind == Some(EngineKind::OpenAiChat) => {
            format!("`kind = \"openai\"` and `fim = \"{}\"`", template.name())
        }
        PromptForm::Template(template) => format!("`fim = \"{}\"`", template.name()),
        PromptForm::Server => format!("`fim = \"{}\"`", ::engines::FimSetting::SERVER),
        PromptForm::Chat => "`kind = \"openai-chat\"` and no `fim`".to_owned(),
        PromptForm::Prefix => "nothing".to_owned(),
    }
}

fn form_name(form: &PromptForm) -> String {
    match form {
        PromptForm::Template(template) => template.name().to_owned(),
        PromptForm::Server => "the server's own prompt".to_owned(),
        PromptForm::Chat => "a conversation".to_owned(),
        PromptForm::Prefix => "the prefix alone".to_owned(),
    }
}

fn prompt_mode_name(way: &PromptMode) -> &str {
    match way {
        PromptMode::Rendered(TemplateChoice { template, .. }) => template.name(),
        PromptMode::Infill => "server",
        PromptMode::Chat => "chat",
    }
}

fn chosen_by(way: &PromptMode) -> &'static str {
    match way {
        PromptMode::Rendered(TemplateChoice { by: TemplateSource::Configuration, .. }) => "configuration",
        PromptMode::Rendered(TemplateChoice { by: TemplateSource::Metadata, .. }) => "metadata",
        PromptMode::Rendered(TemplateChoice { by: TemplateSource::Name, .. }) => "name",
        PromptMode::Infill => "server",
        PromptMode::Chat => "kind",
    }
}

/// Returns the template and how it was chosen.
pub(in crate::commands::engines) fn template_note(way: &PromptMode) -> String {
    match way {
        PromptMode::Rendered(_) => format!("{} ({})", prompt_mode_name(way), chosen_by(way)),
        PromptMode::Infill => "the server's prompt".to_owned(),
        PromptMode::Chat => "a chat".to_owned(),
    }
}

fn holes_cell(check: &EngineCheck) -> String {
    let found = check.chosen_form.as_ref().map(|tried| format!("{}/{}", tried.filled_holes(), PROBES.len()));
    let verdict = check.verdict.as_ref().map(verdict_name);
    [found.as_deref(), verdict].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn verdict_name(verdict: &TemplateVerdict) -> &'static str {
    match verdict {
        TemplateVerdict::Right => "right",
        TemplateVerdict::Better(PromptForm::Chat) | TemplateVerdict::Chats => "chat model",
        TemplateVerdict::Better(_) => "wrong template",
        TemplateVerdict::NoHoles => "no fill-in-the-middle",
        TemplateVerdict::Unclear => "unclear",
    }
}

fn streaming_name(streaming: StreamingMode) -> &'static str {
    match streaming {
        StreamingMode::Pieces(_) => "yes",
        StreamingMode::HeldBack(_) => "held back",
        StreamingMode::Whole => "no",
    }
}

fn cancellation_name(cancelling: CancellationResult) -> String {
    match cancelling {
        CancellationResult::Freed(after) => format!("yes, {} ms", after.as_millis()),
        CancellationResult::NextInTime(_) => "likely".to_owned(),
        CancellationResult::StillBusy(_) | CancellationResult::NextLate(_) => "no".to_owned(),
        CancellationResult::NotTried(_) => String::new(),
    }
}

fn speed_cell(speed: GenerationSpeed) -> String {
    format!("{}{:.0}", if speed.is_counted { "" } else { "~" }, speed.tokens_per_second)
}

fn held_back_message(streaming: StreamingMode) -> Option<String> {
    match streaming {
        StreamingMode::HeldBack(pieces) => Some(format!(
            "all {pieces} pieces arrived at the end: something between here and the model buffers them, such as a proxy; answers cannot be \
             stopped early"
        )),
        StreamingMode::Pieces(_) | StreamingMode::Whole => None,
    }
}

fn not_freed_message(cancelling: CancellationResult) -> Option<String> {
    match cancelling {
        CancellationResult::StillBusy(after) => Some(format!(
            "a cancelled request was still running {:.0} s later; requests pile up during typing",
            after.as_secs_f64()
        )),
        CancellationResult::NextLate(wait) => Some(format!(
            "after a cancelled request the next one waited {} ms; requests pile up during typing",
            wait.as_millis()
        )),
        CancellationResult::Freed(_)
        | CancellationResult::NextInTime(_)
        | CancellationResult::NotTried(_) => None,
    }
}

/// Removes the engine's name, which the remark already has.
fn without_name(fault: &EngineError) -> String {
    let message = fault.to_string();
    match message.strip_prefix("engine `").and_then(|rest| rest.split_once("`: ")) {
        Some((_, rest)) => rest.to_owned(),
        None => message,
    }
}

fn json_streaming(streaming: StreamingMode) -> Value {
    match streaming {
        StreamingMode::Pieces(pieces) => json!({"pieces": pieces, "is_held_back": false}),
        StreamingMode::HeldBack(pieces) => json!({"pieces": pieces, "is_held_back": true}),
        StreamingMode::Whole => json!({"pieces": 1, "is_held_back": false}),
    }
}

fn json_cancelling(cancelling: CancellationResult) -> Value {
    let found = |found: &str, after: Duration| json!({"found": found, "ms": after.as_secs_f64() * 1e3});
    match cancelling {
        CancellationResult::Freed(after) => found("freed", after),
        CancellationResult::StillBusy(after) => found("still_busy", after),
        CancellationResult::NextInTime(wait) => found("next_in_time", wait),
        CancellationResult::NextLate(wait) => found("next_late", wait),
        CancellationResult::NotTried(reason) => json!({"found": "not_tried", "reason": reason}),
    }
}

fn json_form_result(tried: &FormResult) -> Value {
    let symptoms = Symptom::ALL.into_iter().filter(|symptom| tried.count_with(*symptom) > 0);
    let symptoms: serde_json::Map<String, Value> =
        symptoms.map(|symptom| (symptom.name().to_owned(), tried.count_with(symptom).into())).collect();
    json!({
        "form": form_name(&tried.form),
        "filled": tried.filled_holes(),
        "asked": tried.answers.len(),
        "score": tried.score(),
        "symptoms": symptoms,
    })
}
