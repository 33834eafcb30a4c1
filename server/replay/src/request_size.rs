//! Sizes of requests in tokens before they are made, for estimates and budgets.

use cases::{Case, Price};
use completion::ConfiguredEngine;
use engines::{FUNCTION_TOKENS, FunctionSearch, FunctionTask, PROMPT_TOKENS, TaskForm, estimate_tokens};
use rayon::prelude::*;

use crate::case_snapshot::has_own_context;
use crate::function_request::function_prompts;
use crate::plan::Attempt;
use crate::runner::{RunInputs, engine_config, price};

/// Maximum length of an answer in tokens if the engine has no setting for it: as long as the longest usual one.
const MAX_ANSWER_TOKENS: u64 = 1024;

/// The texts of a case, in estimated tokens.
#[derive(Debug)]
struct CaseTokens {
    /// The file without the truth.
    document: usize,
    /// Context that the case brings; `None` if it is retrieved.
    context: Option<usize>,
    truth: usize,
    /// Of a task without a cursor.
    function: Option<FunctionTokens>,
}

/// The prompts of a task without a cursor, in estimated tokens. They are sent whole.
#[derive(Clone, Copy, Debug)]
struct FunctionTokens {
    chat: usize,
    code: usize,
    is_search: bool,
}

/// The properties of an engine that decide the size of its requests.
#[derive(Debug)]
struct EngineLimits {
    /// Tokens of a prompt; `None` if the engine gets the whole file.
    prompt: Option<usize>,
    /// Tokens of retrieved context.
    context: usize,
    answer: u64,
    /// Of tasks without a cursor.
    function_answer: u64,
    /// How it takes a search, and a function to write.
    forms: [TaskForm; 2],
    price: Option<Price>,
}

/// The sizes of all requests of a run.
#[derive(Debug)]
pub(crate) struct RequestSizes {
    cases: Vec<CaseTokens>,
    engines: Vec<EngineLimits>,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestTokens {
    pub(crate) prompt: u64,
    /// Of an answer as long as the truth.
    pub(crate) answer: u64,
    /// Of the longest possible answer.
    pub(crate) longest_answer: u64,
}

impl RequestSizes {
    /// Measures all cases, on all threads.
    pub(crate) fn new(inputs: &RunInputs) -> RequestSizes {
        let has_files = !inputs.world.files().is_empty();
        RequestSizes {
            cases: inputs.cases.par_iter().map(case_tokens).collect(),
            engines: inputs.engines.iter().map(|engine| engine_limits(engine, has_files)).collect(),
        }
    }

    /// Returns the size of the request of an attempt.
    pub(crate) fn tokens(&self, attempt: Attempt) -> RequestTokens {
        let (case, engine) = (&self.cases[attempt.case], &self.engines[attempt.engine]);
        let (prompt, longest) = match case.function {
            Some(task) => (engine.function_prompt(case, task), engine.function_answer),
            None => (engine.cut(case.document + case.context.unwrap_or(engine.context)), engine.answer),
        };
        let answer = (case.truth as u64).min(longest);
        RequestTokens { prompt: prompt as u64, answer, longest_answer: longest }
    }

    /// Returns the highest cost of an attempt; 0 without a price.
    pub(crate) fn highest_cost(&self, attempt: Attempt) -> f64 {
        let RequestTokens { prompt, longest_answer, .. } = self.tokens(attempt);
        self.price(attempt).map_or(0.0, |price| price.cost_of(prompt, longest_answer))
    }

    /// Returns the price of the attempt's engine, if it has one.
    pub(crate) fn price(&self, attempt: Attempt) -> Option<Price> {
        self.engines[attempt.engine].price
    }
}

impl EngineLimits {
    /// Returns the size of a prompt that is cut to the engine's limit.
    fn cut(&self, tokens: usize) -> usize {
        tokens.min(self.prompt.unwrap_or(usize::MAX))
    }

    /// Returns the size of the prompt of a task without a cursor. Only a function to continue is cut, like a completion.
    fn function_prompt(&self, case: &CaseTokens, task: FunctionTokens) -> usize {
        let [search, write] = self.forms;
        match (if task.is_search { search } else { write }, task.is_search) {
            (TaskForm::Chat, _) => task.chat,
            (_, true) => task.code,
            (_, false) => self.cut(task.code + case.context.unwrap_or(0)),
        }
    }
}

fn case_tokens(case: &Case) -> CaseTokens {
    let own = has_own_context(case);
    CaseTokens {
        document: estimate_tokens(&case.prefix) + estimate_tokens(&case.suffix),
        context: own.then(|| case.context.iter().map(|item| estimate_tokens(&item.text)).sum()),
        truth: estimate_tokens(&case.truth),
        function: function_prompts(case).map(|prompts| FunctionTokens {
            chat: estimate_tokens(&prompts.chat),
            code: estimate_tokens(&prompts.code),
            is_search: case.find_function().is_some(),
        }),
    }
}

fn engine_limits(engine: &ConfiguredEngine, has_files: bool) -> EngineLimits {
    let settings = engine_config(engine).settings;
    let number = |key: &str| settings.get(key).and_then(|value| value.parse::<u64>().ok());
    let answer = number("max_tokens");
    let window = number("context_window").and_then(|tokens| usize::try_from(tokens).ok());
    let retrieves = has_files && engine.settings.retrieves_for(&*engine.engine);
    EngineLimits {
        // Engines that limit their answers are models, whose prompts are limited as well.
        prompt: answer.map(|_| window.unwrap_or(PROMPT_TOKENS).min(PROMPT_TOKENS)),
        context: if retrieves { engine.settings.budget.tokens } else { 0 },
        answer: answer.unwrap_or(MAX_ANSWER_TOKENS),
        function_answer: answer.unwrap_or(MAX_ANSWER_TOKENS).max(u64::from(FUNCTION_TOKENS)),
        forms: [true, false].map(|is_search| engine.engine.task_form(&any_task(is_search))),
        price: engine.price.map(price),
    }
}

/// Returns a task of the case's kind, to ask engines for the form in which they receive it.
fn any_task(is_search: bool) -> FunctionTask {
    let search = || FunctionSearch { code: "".into(), description: "".into() };
    FunctionTask { prompt: "".into(), search: is_search.then(search) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cases::{CandidateFunction, ContextComments, FindFunction, FunctionQuestion, Task, WriteFunction};
    use completion::{CompletionSettings, WorkspaceIndex};
    use engines::{
        Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, Request, TokenPrice,
    };
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::score_predictions::tests::case;

    /// A model that takes tasks in this form, and is never asked.
    struct Model(EngineDescription, TaskForm);

    impl Engine for Model {
        fn description(&self) -> &EngineDescription {
            &self.0
        }

        fn reads_workspace(&self) -> bool {
            false
        }

        fn reads_context(&self) -> bool {
            true
        }

        fn task_form(&self, _: &FunctionTask) -> TaskForm {
            self.1
        }

        fn complete<'a>(
            &'a self,
            _: Request,
            _: &'a mut dyn AnswerListener,
            _: &'a CancellationToken,
        ) -> BoxFuture<'a, Result<Answer, EngineError>> {
            async { Err(EngineError::Cancelled) }.boxed()
        }
    }

    fn model(form: TaskForm, max_tokens: u32) -> ConfiguredEngine {
        let description = EngineDescription {
            name: "model".to_owned(),
            kind: EngineKind::OpenAiChat,
            model: "m".to_owned(),
            settings: [("max_tokens".to_owned(), max_tokens.to_string())].into(),
        };
        ConfiguredEngine {
            engine: Arc::new(Model(description, form)),
            settings: CompletionSettings::for_replay(),
            price: Some(TokenPrice { input: 1.0, output: 1.0 }),
            cutoff: None,
            identity: Arc::default(),
        }
    }

    /// Code of some 40,000 tokens.
    fn long_code() -> String {
        "total = total + price * count\n".repeat(5000)
    }

    fn find_case(place: fn(&mut Case) -> &mut String) -> Case {
        let question = FindFunction {
            description: "Adds all.".to_owned(),
            name: "f".to_owned(),
            candidates: vec![CandidateFunction { name: "f".to_owned(), code: "x".to_owned() }],
            depth: 0.5,
            size: 40_000,
            tokens_before: 0,
            tokens_of_function: 0,
            tokens_after: 0,
            tokenizer: "estimate".to_owned(),
            comments: ContextComments::Kept,
        };
        let function = Some(Box::new(FunctionQuestion::Find(question)));
        let mut find = Case { task: Task::FindFunction, function, ..case("x") };
        *place(&mut find) = long_code();
        find
    }

    fn write_case() -> Case {
        let question = WriteFunction {
            name: "f".to_owned(),
            signature: "func f()".to_owned(),
            documentation: long_code(),
            header: String::new(),
        };
        let function = Some(Box::new(FunctionQuestion::Write(question)));
        Case { task: Task::WriteFunction(None), function, prefix: long_code(), ..case("x") }
    }

    fn tokens(case: Case, engine: ConfiguredEngine) -> RequestTokens {
        let inputs = RunInputs {
            cases: [case].into(),
            engines: [engine].into(),
            world: WorkspaceIndex::empty(),
            copies: Arc::default(),
            jobs: 1,
        };
        RequestSizes::new(&inputs).tokens(Attempt { case: 0, engine: 0, repetition: 0 })
    }

    #[test]
    fn whole_contexts_are_counted_wherever_their_code_is() {
        let whole = estimate_tokens(&long_code()) as u64;
        assert!(whole > 5 * PROMPT_TOKENS as u64, "{whole}");
        let places: [fn(&mut Case) -> &mut String; 3] =
            [|case| &mut case.prefix, |case| &mut case.truth, |case| &mut case.suffix];
        for place in places {
            for form in [TaskForm::Chat, TaskForm::FillIn] {
                let counted = tokens(find_case(place), model(form, 512));
                assert!(counted.prompt >= whole, "{form:?}: {counted:?}");
            }
        }
    }

    #[test]
    fn functions_to_write_are_cut_for_models_that_continue_code() {
        let whole = estimate_tokens(&long_code()) as u64;
        assert!(tokens(write_case(), model(TaskForm::Chat, 512)).prompt >= whole);
        assert_eq!(tokens(write_case(), model(TaskForm::FillIn, 512)).prompt, PROMPT_TOKENS as u64);
        let completion = Case { prefix: long_code(), ..case("x") };
        assert_eq!(tokens(completion, model(TaskForm::Chat, 512)).prompt, PROMPT_TOKENS as u64);
    }

    #[test]
    fn answers_are_as_long_as_those_that_are_requested() {
        let longest = |case, max_tokens| tokens(case, model(TaskForm::Chat, max_tokens)).longest_answer;
        assert_eq!(longest(write_case(), 64), u64::from(FUNCTION_TOKENS));
        assert_eq!(longest(write_case(), 4000), 4000);
        assert_eq!(longest(case("x"), 64), 64);
    }
}
