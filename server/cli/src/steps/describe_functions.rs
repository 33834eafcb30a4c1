//! Descriptions of functions by a configured chat engine.

use std::cell::Cell;
use std::sync::Arc;

use completion::{ConfiguredEngine, FunctionRequest, Outcome, OutcomeStatus};
use engines::{Cassette, FunctionTask, Role, TaskForm};
use serde_json::{Value, json};
use session::role_settings;
use syntax::Language;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::args::DescribeArgs;
use crate::exit::{NoAnswerError, UsageError};
use crate::interrupt::unless_stopped;
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::{cassette, engine_registry};

/// Asks an engine to describe functions, one request at a time.
pub(crate) struct FunctionDescriber<'a> {
    args: &'a DescribeArgs,
    engine: ConfiguredEngine,
    cassette: Option<Arc<Cassette>>,
    runtime: Runtime,
    requests: Cell<usize>,
    /// The first failure; no request follows it.
    failure: Option<anyhow::Error>,
}

impl<'a> FunctionDescriber<'a> {
    /// Opens the engine of the arguments; `None` if they name none.
    pub(crate) fn open(
        args: &'a DescribeArgs,
        workspace: &std::path::Path,
    ) -> anyhow::Result<Option<FunctionDescriber<'a>>> {
        let Some(name) = &args.engine else { return Ok(None) };
        let config = SettingsSources::new(args.settings.file.as_deref()).config(workspace)?;
        let cassette = cassette::open(&args.cassette)?;
        let engines =
            engine_registry::select_for_run(&config, std::slice::from_ref(name), cassette.as_ref())?;
        let settings = role_settings(Role::Replay, &config);
        let engine = engines.first().and_then(|engine| ConfiguredEngine::new(engine, Role::Replay, settings));
        let engine =
            engine.ok_or_else(|| UsageError(format!("the engine `{name}` is not used for replays")))?;
        let task = FunctionTask { prompt: "".into(), search: None };
        if engine.engine.task_form(&task) != TaskForm::Chat {
            let message = format!(
                "the engine `{name}` does not chat; name one with `kind = \"openai-chat\"` or another chat API in the settings"
            );
            return Err(UsageError(message).into());
        }
        let runtime = runtime()?;
        Ok(Some(FunctionDescriber { args, engine, cassette, runtime, requests: Cell::new(0), failure: None }))
    }

    /// Returns the answer to a prompt; `None` if there is none.
    pub(crate) fn ask(&mut self, prompt: &str) -> Option<String> {
        if self.failure.is_some() {
            return None;
        }
        match self.request(prompt) {
            Ok(Outcome { status: OutcomeStatus::Ok, text, .. }) => Some(text),
            Ok(Outcome { status: OutcomeStatus::Failed(error), .. }) => {
                let message = format!("the engine `{}` gave no description: {error}", self.name());
                self.failure = Some(NoAnswerError(message).into());
                None
            }
            Ok(_) => None,
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    fn request(&self, prompt: &str) -> anyhow::Result<Outcome> {
        self.requests.set(self.requests.get() + 1);
        let request = FunctionRequest {
            path: "".into(),
            // The language matters to engines that continue code only.
            language: Language::Python,
            prompt: prompt.into(),
            code: "".into(),
            context: Arc::new([]),
            search: None,
        };
        let ConfiguredEngine { engine, settings, .. } = &self.engine;
        self.runtime.block_on(async {
            let cancel = CancellationToken::new();
            let asking = completion::ask(&request, &**engine, settings, &cancel);
            unless_stopped(asking).await.map(|(_, outcome)| outcome)
        })
    }

    fn name(&self) -> &str {
        &self.engine.engine.description().name
    }

    /// Closes the cassette, and returns what the datasheet says about the descriptions.
    ///
    /// # Errors
    ///
    /// The engine failed, or an answer is missing from the cassette.
    pub(crate) fn finish(self) -> anyhow::Result<Value> {
        let description = self.engine.engine.description();
        let report = json!({
            "engine": description.name,
            "model": description.model,
            "requests": self.requests.get(),
        });
        cassette::close(&self.args.cassette, self.cassette.as_deref())?;
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(report),
        }
    }
}
