//! An engine with scripted answers and delays, for tests.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Deserializer};
use tokio_util::sync::CancellationToken;

use crate::{
    Alternative, Answer, AnswerListener, BusyCounter, Engine, EngineDescription, EngineError, EngineKind,
    FinishReason, Request,
};

/// What a [`ScriptedEngine`] does with requests for some paths.
///
/// ```json
/// { "path": "slow.py", "delay_ms": 3000, "text": "x", "fail": "message", "panic": true, "echo": true, "context": true, "words": "x_",
///   "others": ["y", "z"] }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedReply {
    /// Suffix of the paths; empty for all.
    pub path: String,
    /// Waits this long before each piece, or before it ends without any.
    #[serde(rename = "delay_ms", deserialize_with = "milliseconds")]
    pub delay: Duration,
    /// Streams these pieces in order.
    #[serde(rename = "text", deserialize_with = "one_piece")]
    pub pieces: Vec<String>,
    /// Fails with this message instead of ending.
    #[serde(rename = "fail")]
    pub failure: Option<String>,
    /// Panics instead of answering.
    pub panic: bool,
    /// Appends a description of the document: `len=<bytes> blake3=<hex>`.
    pub echo: bool,
    /// Appends the files of the context, in order: `context=<path> <path>`. Context is only requested for this and for `words`.
    pub context: bool,
    /// Appends the words of its context with this prefix, each once: `words=<word> <word>`; nothing if there are none.
    pub words: String,
    /// Alternatives on explicit invocation.
    pub others: Vec<String>,
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

fn one_piece<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    String::deserialize(deserializer).map(|text| vec![text])
}

impl ScriptedReply {
    fn pieces(&self, request: &Request) -> Vec<String> {
        let mut pieces = self.pieces.clone();
        pieces.extend(self.echo.then(|| echo(request)));
        pieces.extend(self.context.then(|| context(request)));
        pieces.extend(words(request, &self.words));
        pieces
    }

    fn reads_context(&self) -> bool {
        self.context || !self.words.is_empty()
    }
}

fn echo(request: &Request) -> String {
    let hash = blake3::hash(request.input.text.as_bytes()).to_hex();
    format!("len={} blake3={hash}", request.input.text.len())
}

fn context(request: &Request) -> String {
    let mut paths: Vec<&str> = request.input.context.iter().map(|item| &*item.path).collect();
    paths.dedup();
    format!("context={}", paths.join(" "))
}

fn words(request: &Request, start: &str) -> Option<String> {
    if start.is_empty() {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let all = request.input.context.iter().flat_map(|item| item.text.split(|c| !is_word(c)));
    let words: BTreeSet<&str> = all.filter(|word| word.starts_with(start)).collect();
    (!words.is_empty()).then(|| format!("words={}", words.into_iter().collect::<Vec<_>>().join(" ")))
}

/// A [`ScriptedReply`] for every path, in short.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// As in [`ScriptedReply::delay`].
    pub delay: Duration,
    /// As in [`ScriptedReply::pieces`].
    pub pieces: Vec<String>,
    /// As in [`ScriptedReply::failure`].
    pub failure: Option<String>,
}

impl From<Script> for ScriptedReply {
    fn from(Script { delay, pieces, failure }: Script) -> ScriptedReply {
        ScriptedReply { delay, pieces, failure, ..ScriptedReply::default() }
    }
}

/// An engine that follows rules and can be observed.
#[derive(Debug)]
pub struct ScriptedEngine {
    description: EngineDescription,
    rules: Vec<ScriptedReply>,
    busy: BusyCounter,
}

impl ScriptedEngine {
    /// Creates an engine with one rule for all requests.
    pub fn new(name: &str, script: Script) -> ScriptedEngine {
        ScriptedEngine::with_rules(name, vec![script.into()])
    }

    /// Creates an engine that follows the first matching rule, and answers with nothing if no rule matches.
    pub fn with_rules(name: &str, rules: Vec<ScriptedReply>) -> ScriptedEngine {
        let settings = [("rules".to_owned(), format!("{rules:?}"))].into();
        let description = EngineDescription {
            name: name.to_owned(),
            kind: EngineKind::Scripted,
            model: "script".to_owned(),
            settings,
        };
        ScriptedEngine { description, rules, busy: BusyCounter::default() }
    }

    /// Number of requests in progress; 0 once every cancelled one has freed the engine.
    pub fn busy(&self) -> usize {
        self.busy.count()
    }

    async fn answer(&self, request: &Request, sink: &mut dyn AnswerListener) -> Result<Answer, EngineError> {
        let _question = self.busy.enter();
        let Some(rule) = self.rules.iter().find(|rule| request.input.path.ends_with(&rule.path)) else {
            return Ok(Answer::with_finish(FinishReason::Stop));
        };
        let finish = self.run_rule(rule, request, sink).await?;
        let others = rule.others.iter().filter(|_| request.invoked).cloned();
        let alternatives = others.map(|text| Alternative { text, ..Alternative::default() }).collect();
        Ok(Answer { alternatives, ..Answer::with_finish(finish) })
    }

    async fn run_rule(
        &self,
        rule: &ScriptedReply,
        request: &Request,
        sink: &mut dyn AnswerListener,
    ) -> Result<FinishReason, EngineError> {
        sleep(rule.delay).await;
        assert!(!rule.panic, "engine `{}` panics as scripted", self.description.name);
        for (index, piece) in rule.pieces(request).iter().enumerate() {
            if index > 0 {
                sleep(rule.delay).await;
            }
            if sink.text(piece).is_break() {
                return Ok(FinishReason::Complete);
            }
        }
        match rule.failure.clone() {
            Some(message) => Err(EngineError::Failed { engine: self.description.name.clone(), message }),
            None => Ok(FinishReason::Stop),
        }
    }
}

/// A sleep of zero would last until the clock's next tick, a millisecond.
async fn sleep(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

impl Engine for ScriptedEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        self.rules.iter().any(ScriptedReply::reads_context)
    }

    fn has_alternatives(&self) -> bool {
        self.rules.iter().any(|rule| !rule.others.is_empty())
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let answer = self.answer(&request, sink);
            cancel.run_until_cancelled(answer).await.unwrap_or(Err(EngineError::Cancelled))
        }
        .boxed()
    }
}
