//! What was found out about an engine, in words: cells of a table, remarks with their remedies, JSON.

use std::time::Duration;

use ::engines::check::{Cancelling, Check, Speed, Streaming};
use ::engines::{Error, RegisteredEngine, Way};
use config::{Config, Kind};
use prompt::proof::{Form, PROBES, Symptom, Tried, Verdict};
use prompt::{Choice, ChosenBy};
use report::terminal::CheckedEngine;
use serde_json::{Value, json};

/// One engine.
pub(super) struct Row<'a> {
    candidate: &'a RegisteredEngine,
    /// Absent for an engine that cannot be asked.
    check: Option<&'a Check>,
    /// Where it is named in the settings.
    place: Option<String>,
}

impl<'a> Row<'a> {
    pub(super) fn new(candidate: &'a RegisteredEngine, check: Option<&'a Check>, config: &Config) -> Row<'a> {
        let named = config.engines.iter().find(|engine| engine.name == candidate.name);
        Row { candidate, check, place: named.map(|engine| engine.origin.place.to_string()) }
    }

    /// Whether the engine should have answered and did not.
    pub(super) fn is_unanswered(&self) -> bool {
        let fault = self.check.and_then(|check| check.fault.as_ref());
        fault.is_some_and(|fault| !matches!(fault, Error::NoTemplate { .. }))
            || self.check.is_none() && self.candidate.obstacle().is_none()
    }

    /// Whether something is to be mended.
    pub(super) fn has_finding(&self) -> bool {
        let Some(check) = self.check else { return false };
        check.fault.is_some()
            || matches!(check.verdict, Some(Verdict::Better(_) | Verdict::Chats | Verdict::NoHoles))
            || matches!(check.streaming, Some(Streaming::HeldBack(_)))
            || matches!(check.cancelling, Some(Cancelling::StillBusy(_) | Cancelling::NextLate(_)))
    }

    pub(super) fn cells(&self) -> CheckedEngine {
        let name = self.candidate.name.clone();
        let Some(check) = self.check else {
            return CheckedEngine { name, reached: "not asked", ..CheckedEngine::default() };
        };
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        CheckedEngine {
            name,
            reached: if self.is_unanswered() { "no" } else { "yes" },
            model: self.model(check),
            asked_as: check.introduction.way.as_ref().map(asked_as).unwrap_or_default(),
            holes: holes(check),
            streams: check.streaming.map(streams).unwrap_or_default().to_owned(),
            cancels: check.cancelling.map(cancels).unwrap_or_default(),
            first: check.times.map(|times| ms(times.first)),
            total: check.times.map(|times| ms(times.total)),
            speed: check.speed.map(speed).unwrap_or_default(),
            window: check.introduction.metadata.context_window,
        }
    }

    /// As the server names it; else as the settings do. Of a file, its name.
    fn model(&self, check: &Check) -> String {
        let told = check.introduction.metadata.names.first().map(String::as_str);
        let model = told.or(self.candidate.model()).unwrap_or_default();
        model.rsplit(['/', '\\']).next().unwrap_or(model).to_owned()
    }

    /// What is to be said, a line each, with what to do about it.
    pub(super) fn remarks(&self) -> Vec<String> {
        let said = |remark: String| format!("{}: {remark}", self.candidate.name);
        let Some(check) = self.check else {
            return vec![said(match self.candidate.obstacle() {
                Some(obstacle) => format!("not asked: {obstacle}"),
                None => "it stopped by a defect".to_owned(),
            })];
        };
        let verdict = check.verdict.as_ref().and_then(|verdict| self.verdict(check, verdict));
        let fault = match &check.fault {
            // What to write in the place of nothing is known by now.
            Some(Error::NoTemplate { .. }) if verdict.is_some() => None,
            fault => fault.as_ref().map(without_name),
        };
        let remarks =
            [fault, verdict, check.streaming.and_then(held_back), check.cancelling.and_then(not_freed)];
        remarks.into_iter().flatten().map(said).collect()
    }

    fn verdict(&self, check: &Check, verdict: &Verdict) -> Option<String> {
        let here = self.place.as_ref().map(|place| format!(" (it stands at {place})")).unwrap_or_default();
        let now = chosen(check);
        Some(match verdict {
            Verdict::Right => return None,
            Verdict::Better(form) => {
                let found = check.others.iter().find(|tried| tried.form == *form).map_or(0, Tried::found);
                let line = remedy(form, self.candidate.kind);
                let why = match (form, check.chosen.as_ref().is_some_and(Tried::ignores_suffix)) {
                    (Form::Chat, _) => "this is a model for chats: ",
                    (_, true) => "what follows the cursor is ignored in silence: ",
                    (_, false) => "the template is wrong: ",
                };
                format!("{why}{now}, {} {found}; write {line}{here}", form_name(form))
            }
            Verdict::Chats => format!(
                "this is a model for chats: {now}, and its answers are for people; ask it by `kind = \"openai-chat\"` where its server has that, \
                 or take a base model{here}"
            ),
            Verdict::NoHoles => format!(
                "this model fills no holes: it continues the text before the cursor, and no template makes it see what follows; take a model that \
                 was trained to fill in the middle{here}"
            ),
            // Without a template there is nothing to be unclear about.
            Verdict::Unclear => {
                check.chosen.as_ref()?;
                format!("nothing can be said of its template: {now}, and nothing else does clearly better")
            }
        })
    }

    pub(super) fn json(&self) -> Value {
        let mut row = json!({
            "name": self.candidate.name,
            "kind": self.candidate.kind.map(Kind::name),
            "asked": self.check.is_some(),
            "reason": self.candidate.obstacle(),
            "remarks": self.remarks(),
        });
        let Some(check) = self.check else { return row };
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let introduction = &check.introduction;
        let more = json!({
            "reachable": !self.is_unanswered(),
            "fault": check.fault.as_ref().map(Error::cause),
            "model": self.model(check),
            "names": introduction.metadata.names,
            "window": introduction.metadata.context_window,
            "form": introduction.way.as_ref().map(way_name),
            "chosen_by": introduction.way.as_ref().map(chosen_by),
            "ms": check.times.map(|times| json!({"first": ms(times.first), "total": ms(times.total)})),
            "tokens_per_second": check.speed.map(|speed| speed.tokens_per_second),
            "tokens_are_counted": check.speed.map(|speed| speed.is_counted),
            "streaming": check.streaming.map(json_streaming),
            "cancelling": check.cancelling.map(json_cancelling),
            "verdict": check.verdict.as_ref().map(verdict_name),
            "better": match &check.verdict {
                Some(Verdict::Better(form)) => Value::from(form_name(form)),
                _ => Value::Null,
            },
            "tried": check.chosen.iter().chain(&check.others).map(json_tried).collect::<Vec<_>>(),
        });
        if let (Some(row), Value::Object(mut more)) = (row.as_object_mut(), more) {
            row.append(&mut more);
        }
        row
    }
}

/// What the chosen form led to.
fn chosen(check: &Check) -> String {
    let Some(tried) = &check.chosen else { return "none is known for it".to_owned() };
    let odd = Symptom::ALL.into_iter().map(|symptom| (tried.with(symptom), symptom));
    let odd: Vec<String> = odd
        .filter(|(count, _)| count * 2 >= tried.shown.len())
        .map(|(_, symptom)| format!(" (answers {})", symptom.name()))
        .take(1)
        .collect();
    format!(
        "{} fills {} of {} holes{}",
        form_name(&tried.form),
        tried.found(),
        tried.shown.len(),
        odd.concat()
    )
}

/// The lines for the settings.
fn remedy(form: &Form, kind: Option<Kind>) -> String {
    match form {
        Form::Template(template) if kind == Some(Kind::OpenAiChat) => {
            format!("`kind = \"openai\"` and `fim = \"{}\"`", template.name())
        }
        Form::Template(template) => format!("`fim = \"{}\"`", template.name()),
        Form::Server => format!("`fim = \"{}\"`", ::engines::Fim::SERVER),
        Form::Chat => "`kind = \"openai-chat\"` and no `fim`".to_owned(),
        Form::Prefix => "nothing".to_owned(),
    }
}

fn form_name(form: &Form) -> String {
    match form {
        Form::Template(template) => template.name().to_owned(),
        Form::Server => "the server's own prompt".to_owned(),
        Form::Chat => "a conversation".to_owned(),
        Form::Prefix => "the prefix alone".to_owned(),
    }
}

fn way_name(way: &Way) -> &str {
    match way {
        Way::Rendered(Choice { template, .. }) => template.name(),
        Way::Hole => "server",
        Way::Chat => "chat",
    }
}

fn chosen_by(way: &Way) -> &'static str {
    match way {
        Way::Rendered(Choice { by: ChosenBy::Configuration, .. }) => "configuration",
        Way::Rendered(Choice { by: ChosenBy::Metadata, .. }) => "metadata",
        Way::Rendered(Choice { by: ChosenBy::Name, .. }) => "name",
        Way::Hole => "server",
        Way::Chat => "kind",
    }
}

/// The template, and how it was chosen.
pub(in crate::commands::engines) fn asked_as(way: &Way) -> String {
    match way {
        Way::Rendered(_) => format!("{} ({})", way_name(way), chosen_by(way)),
        Way::Hole => "the server's prompt".to_owned(),
        Way::Chat => "a chat".to_owned(),
    }
}

fn holes(check: &Check) -> String {
    let found = check.chosen.as_ref().map(|tried| format!("{}/{}", tried.found(), PROBES.len()));
    let verdict = check.verdict.as_ref().map(verdict_name);
    [found.as_deref(), verdict].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::Better(Form::Chat) | Verdict::Chats => "chat model",
        Verdict::Better(_) => "wrong template",
        Verdict::NoHoles => "no fill-in-the-middle",
        Verdict::Unclear => "unclear",
    }
}

fn streams(streaming: Streaming) -> &'static str {
    match streaming {
        Streaming::Pieces(_) => "yes",
        Streaming::HeldBack(_) => "held back",
        Streaming::Whole => "no",
    }
}

fn cancels(cancelling: Cancelling) -> String {
    match cancelling {
        Cancelling::Freed(after) => format!("yes, {} ms", after.as_millis()),
        Cancelling::NextInTime(_) => "likely".to_owned(),
        Cancelling::StillBusy(_) | Cancelling::NextLate(_) => "no".to_owned(),
        Cancelling::NotTried(_) => String::new(),
    }
}

fn speed(speed: Speed) -> String {
    format!("{}{:.0}", if speed.is_counted { "" } else { "~" }, speed.tokens_per_second)
}

fn held_back(streaming: Streaming) -> Option<String> {
    match streaming {
        Streaming::HeldBack(pieces) => Some(format!(
            "its {pieces} pieces all came at the end: something between here and the model keeps them, such as a proxy; answers cannot be \
             stopped early"
        )),
        Streaming::Pieces(_) | Streaming::Whole => None,
    }
}

fn not_freed(cancelling: Cancelling) -> Option<String> {
    match cancelling {
        Cancelling::StillBusy(after) => Some(format!(
            "a cancelled question was still being answered {:.0} s later; while somebody types, questions pile up",
            after.as_secs_f64()
        )),
        Cancelling::NextLate(wait) => Some(format!(
            "after a cancelled question the next one waited {} ms; while somebody types, questions pile up",
            wait.as_millis()
        )),
        Cancelling::Freed(_) | Cancelling::NextInTime(_) | Cancelling::NotTried(_) => None,
    }
}

/// The remark names the engine already.
fn without_name(fault: &Error) -> String {
    let message = fault.to_string();
    match message.strip_prefix("engine `").and_then(|rest| rest.split_once("`: ")) {
        Some((_, rest)) => rest.to_owned(),
        None => message,
    }
}

fn json_streaming(streaming: Streaming) -> Value {
    match streaming {
        Streaming::Pieces(pieces) => json!({"pieces": pieces, "is_held_back": false}),
        Streaming::HeldBack(pieces) => json!({"pieces": pieces, "is_held_back": true}),
        Streaming::Whole => json!({"pieces": 1, "is_held_back": false}),
    }
}

fn json_cancelling(cancelling: Cancelling) -> Value {
    let found = |found: &str, after: Duration| json!({"found": found, "ms": after.as_secs_f64() * 1e3});
    match cancelling {
        Cancelling::Freed(after) => found("freed", after),
        Cancelling::StillBusy(after) => found("still_busy", after),
        Cancelling::NextInTime(wait) => found("next_in_time", wait),
        Cancelling::NextLate(wait) => found("next_late", wait),
        Cancelling::NotTried(reason) => json!({"found": "not_tried", "reason": reason}),
    }
}

fn json_tried(tried: &Tried) -> Value {
    let symptoms = Symptom::ALL.into_iter().filter(|symptom| tried.with(*symptom) > 0);
    let symptoms: serde_json::Map<String, Value> =
        symptoms.map(|symptom| (symptom.name().to_owned(), tried.with(symptom).into())).collect();
    json!({
        "form": form_name(&tried.form),
        "filled": tried.found(),
        "asked": tried.shown.len(),
        "score": tried.score(),
        "symptoms": symptoms,
    })
}
