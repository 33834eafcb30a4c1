//! Canaries: names that occur only in a function and its copies must never reach an engine in a case that removes that
//! function's code.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock};

use cases::{Case, CrossFileContext, Origin, OriginKind, Scenario};
use completion::{CompletionSettings, ConfiguredEngine, WorkspaceIndex};
use engines::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, FinishReason, Request,
};
use futures_util::future::{BoxFuture, ready};
use index::{CopyIndex, Index, RemovedCode, Strategy};
use mining::{HoleCandidates, MiningInput, MiningOptions, Mix, SCENARIOS};
use replay::{RunInputs, StopSignal, TruthCopies, plan, run_attempts};
use syntax::{Language, Projects, SourceFile};
use tokio_util::sync::CancellationToken;

use crate::histories::check_out;

/// Prefix of every canary.
const CANARY: &str = "canary_";
/// Cases mined from the fixture, and from each history.
const CASES: usize = 160;
const REAL_CASES: usize = 120;
/// Maximum percentage of cases of unrelated code that may have a copy by chance.
const MAX_BY_CHANCE: usize = 2;

/// A function in three languages; `N` numbers its canaries.
const FUNCTIONS: [(Language, &str, &str); 3] = [
    (
        Language::Python,
        "py",
        "def load(store, customer, limit):
    orders = store.canary_N_fetch_zebra(customer.number, limit)
    total = 0
    for order in orders:
        total += order.canary_N_price_otter(limit) * order.amount
        customer.canary_N_remember_heron(order, total)
        store.canary_N_seen_badger(order.number, limit)
    if total > limit:
        store.canary_N_warn_marten(customer, 'too much', total)
        customer.canary_N_block_ferret(total, limit)
    report = store.canary_N_report_gecko(orders, total, limit)
    report.canary_N_send_python(customer.address, total)
    return report
",
    ),
    (
        Language::Go,
        "go",
        "func load(store *Store, customer *Customer, limit int) *Report {
	orders := store.canary_N_fetch_zebra(customer.number, limit)
	total := 0
	for _, order := range orders {
		total += order.canary_N_price_otter(limit) * order.amount
		customer.canary_N_remember_heron(order, total)
		store.canary_N_seen_badger(order.number, limit)
	}
	if total > limit {
		store.canary_N_warn_marten(customer, \"too much\", total)
		customer.canary_N_block_ferret(total, limit)
	}
	report := store.canary_N_report_gecko(orders, total, limit)
	report.canary_N_send_python(customer.address, total)
	return report
}
",
    ),
    (
        Language::TypeScript,
        "ts",
        "export function load(store: Store, customer: Customer, limit: number): Report {
  const orders = store.canary_N_fetch_zebra(customer.number, limit);
  let total = 0;
  for (const order of orders) {
    total += order.canary_N_price_otter(limit) * order.amount;
    customer.canary_N_remember_heron(order, total);
    store.canary_N_seen_badger(order.number, limit);
  }
  if (total > limit) {
    store.canary_N_warn_marten(customer, \"too much\", total);
    customer.canary_N_block_ferret(total, limit);
  }
  const report = store.canary_N_report_gecko(orders, total, limit);
  report.canary_N_send_python(customer.address, total);
  return report;
}
",
    ),
];

/// Changes made to copies of functions.
const CHANGES: [fn(&str) -> String; 5] = [
    str::to_owned,
    |text| text.replace("orders", "rows").replace("customer", "buyer").replace("total", "sum"),
    |text| text.replace("    ", "  ").replace('\t', "        ").replace(", ", ",  "),
    |text| text.replace("too much", "over the limit").replace("total > limit", "total >= limit + 1"),
    |text| text.replacen("load(", "load_all(", 1).replace("order", "item") + "\n",
];

/// Returns a file for each function, and a file for each copy after other code; all other files contain only such other code.
fn files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    for (language, ending, function) in FUNCTIONS {
        let other = |number: usize| match language {
            Language::Python => {
                format!("def part_{number}(a):\n    b = a.cut_{number}(a, {number})\n    return b\n\n\n")
            }
            Language::Go => format!(
                "func part_{number}(a *A) *B {{\n\tb := a.cut_{number}(a, {number})\n\treturn b\n}}\n\n"
            ),
            _ => format!(
                "export function part_{number}(a: A) {{\n  const b = a.cut_{number}(a, {number});\n  return b;\n}}\n\n"
            ),
        };
        let others = |from: usize| (from..from + 8).map(other).collect::<String>();
        for (number, change) in CHANGES.iter().enumerate() {
            let own = function.replace("_N_", &format!("_{number}{ending}_"));
            let mut add = |name: &str, text: String| {
                let path = format!("{name}{number}.{ending}").into();
                files.push(SourceFile { path, language, text: text.into() });
            };
            add("own", others(100 * number) + &own);
            add("copy", others(100 * number + 10) + &change(&own) + "\n" + &others(100 * number + 20));
            add("other", others(100 * number + 30));
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// Returns the canaries in a text.
fn canaries(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(CANARY)).map(str::to_owned).collect()
}

/// Returns the canaries that occur only in the truth of a case.
fn removed(case: &Case) -> BTreeSet<String> {
    let shown = canaries(&[&*case.prefix, " ", &case.suffix].concat());
    canaries(&case.truth).difference(&shown).cloned().collect()
}

fn mine(
    files: &[SourceFile],
    index: &Index,
    projects: &Projects,
    scenarios: &[Scenario],
    cases: usize,
) -> Vec<Case> {
    let sources = MiningInput {
        files,
        index,
        projects,
        copies: &OnceLock::new(),
        candidates: &files.iter().map(HoleCandidates::of).collect::<Vec<_>>(),
    };
    let options = MiningOptions {
        cases,
        seed: 1,
        scenarios: scenarios.to_vec(),
        mix: Mix::Even,
        first_uses_only: true,
        origin: Origin::new(OriginKind::Mined, "t"),
    };
    mining::mine(&sources, &options, None).cases
}

/// An engine that searches its whole input for canaries, and returns nothing.
struct Spy {
    description: EngineDescription,
    /// Canaries to search for, by path and cursor.
    removed: HashMap<(String, usize), BTreeSet<String>>,
    found: Arc<Mutex<BTreeSet<String>>>,
    reads_context: bool,
}

impl Spy {
    fn new(name: &str, cases: &[Case], reads_context: bool) -> Spy {
        let key = |case: &Case| ((case.path.clone(), case.prefix.len()), removed(case));
        let description = EngineDescription {
            name: name.to_owned(),
            kind: EngineKind::Builtin,
            model: String::new(),
            settings: BTreeMap::new(),
        };
        Spy { description, removed: cases.iter().map(key).collect(), found: Arc::default(), reads_context }
    }

    fn look(&self, request: &Request) {
        let Some(wanted) = self.removed.get(&(request.input.path.to_string(), request.input.cursor)) else {
            return;
        };
        let context: String = request.input.context.iter().map(|item| [&*item.text, "\n"].concat()).collect();
        let mut seen = canaries(&context);
        let corpus = request.corpus.as_ref().expect("it reads the workspace");
        for canary in wanted.iter().filter(|_| !self.reads_context) {
            // If the beginning of a name has a unique continuation, the tokens of the workspace complete it.
            let typed = [request.input.prefix(), "\n    store.", &canary[..canary.len() - 4]].concat();
            let view = corpus
                .view(&typed, request.input.suffix(), &[], &request.recent_edits, &mut || true)
                .expect("nothing ends it");
            let completion = view.complete(&builtin::BuiltinSettings::for_replay(), &mut || true);
            let response = canaries(&[&typed, &*completion.text].concat());
            seen.extend(response.into_iter().filter(|word| word == canary));
            seen.extend(canaries(&completion.text));
        }
        self.found.lock().expect("nothing panics here").extend(wanted.intersection(&seen).cloned());
    }
}

impl Engine for Spy {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        true
    }

    fn reads_context(&self) -> bool {
        self.reads_context
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        _sink: &'a mut dyn AnswerListener,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        self.look(&request);
        Box::pin(ready(Ok(Answer::with_finish(FinishReason::Stop))))
    }
}

/// Returns the canaries that reach an engine with workspace access under a strategy, with copies hidden or not.
async fn reached(
    cases: &[Case],
    world: &WorkspaceIndex,
    copies: &Arc<TruthCopies>,
    strategy: Strategy,
    hides: bool,
) -> BTreeSet<String> {
    let spy = Spy::new("spy", cases, strategy != Strategy::None);
    let found = Arc::clone(&spy.found);
    let engines = vec![ConfiguredEngine {
        engine: Arc::new(spy),
        settings: CompletionSettings {
            strategy,
            hide_near_duplicates: hides,
            ..CompletionSettings::for_replay()
        },
        price: None,
        cutoff: None,
        identity: Arc::default(),
    }];
    let attempts = plan(cases, &["spy".to_owned()], 1, &[]);
    let questions = RunInputs {
        cases: cases.into(),
        engines: engines.into(),
        world: world.clone(),
        copies: Arc::clone(copies),
        jobs: 2,
    };
    let mut asked = 0;
    let stop = StopSignal::immediately(CancellationToken::new());
    run_attempts(
        attempts,
        &questions,
        |_, _| (),
        &stop,
        |_, prediction| {
            assert!(prediction.reason.is_none_or(|reason| !reason.contains("panicked")));
            asked += 1;
            ControlFlow::Continue(())
        },
    )
    .await;
    assert_eq!(asked, cases.len());
    let found = found.lock().expect("nothing panics here");
    found.clone()
}

#[tokio::test]
async fn hidden_copies_leak_no_canary_to_engines() {
    let files: Arc<[SourceFile]> = files().into();
    let (index, projects) = (Index::build(&files), Projects::new(&[]));
    let scenarios = SCENARIOS.into_iter().filter(|scenario| *scenario != Scenario::CrossFile);
    let mined = mine(&files, &index, &projects, &scenarios.collect::<Vec<_>>(), CASES);
    for case in mined.iter().filter(|case| case.scenario() == Scenario::Rag) {
        let context: String = case.context.iter().map(|item| [&*item.text, "\n"].concat()).collect();
        let leaked: Vec<_> = removed(case).intersection(&canaries(&context)).cloned().collect();
        assert_eq!(leaked, [""; 0], "{}", case.hole);
    }
    assert!(
        mined.iter().filter(|case| case.scenario() == Scenario::Rag && !removed(case).is_empty()).count() > 5
    );
    // The context of a `rag` case is not retrieved again.
    let cases: Vec<Case> = mined
        .into_iter()
        .filter(|case| case.scenario() != Scenario::Rag && !removed(case).is_empty())
        .collect();
    let hidden: BTreeSet<String> = cases.iter().flat_map(removed).collect();
    assert!(cases.len() > 30 && hidden.len() > 50, "{} cases, {} canaries", cases.len(), hidden.len());

    let world = WorkspaceIndex::new(Arc::clone(&files)).with_index(files, index, Arc::new(projects));
    let copies = Arc::new(TruthCopies::find(&cases, &world, false));
    for strategy in Strategy::ALL {
        let seen = reached(&cases, &world, &copies, strategy, false).await;
        let leaked = reached(&cases, &world, &copies, strategy, true).await;
        assert_eq!(leaked, BTreeSet::new(), "{strategy:?}");
        // Strategy `none` has no context, so only the tokens of the workspace are searched.
        let finds_text = matches!(
            strategy,
            Strategy::None | Strategy::Bm25Chunks | Strategy::Functions | Strategy::Hybrid
        );
        assert!(
            !finds_text || seen.len() * 3 > hidden.len(),
            "{strategy:?} finds {} of {}",
            seen.len(),
            hidden.len()
        );
    }
}

/// Returns the text without blanks.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn context_of_real_cases_never_contains_their_truth() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let Some(trees) = check_out(folder.path()) else { return };
    let (mut rag, mut retrieval) = (0, 0);
    for (name, tree) in trees {
        let snapshot =
            workspace::load(&tree, &workspace::ReadLimits::standard(), &|_| {}).expect("a readable tree");
        let (files, projects) = (snapshot.files(), Projects::new(snapshot.manifests()));
        let index = Index::build(files);
        let cases = mine(files, &index, &projects, &[Scenario::Rag, Scenario::CrossFile], REAL_CASES);
        for case in cases.iter().filter(|case| {
            case.task.cross_file_context() != Some(CrossFileContext::Oracle) && !case.context.is_empty()
        }) {
            let truth = squeezed(&case.truth);
            let holds = case.context.iter().any(|item| squeezed(&item.text).contains(&truth));
            assert!(truth.is_empty() || !holds, "{name}: {}", case.hole);
            *if case.scenario() == Scenario::Rag { &mut rag } else { &mut retrieval } += 1;
        }
        for case in cases.iter().filter(|case| case.scenario() == Scenario::CrossFile) {
            check_end(&name, case);
        }
    }
    assert!(rag > 200 && retrieval > 100, "{rag} {retrieval}");
}

/// Checks that a truth of `cross_file` ends with its line, and only at a `{` if that opens the body of a block.
fn check_end(repository: &str, case: &Case) {
    let language = Language::from_name(&case.language).expect("a known language");
    let rest = case.suffix.split(['\r', '\n']).next().unwrap_or_default();
    assert_eq!(syntax::lex(language, rest).len(), 0, "{repository}: {}", case.hole);
    if case.truth.ends_with('{') {
        let end = case.byte_range.end;
        let text = [&*case.prefix, &case.truth, &case.suffix].concat();
        let blocks = syntax::parse(language, &text).blocks(&text);
        assert!(
            blocks.iter().any(|block| {
                block.body.as_ref().is_some_and(|body| {
                    text[..body.inner.start].trim_end().len() == end || body.inner.start == end
                })
            }),
            "{repository}: {} {:?}",
            case.hole,
            case.truth
        );
    }
}

/// Code of another project contains no copies; any match is by chance.
#[test]
fn unrelated_code_is_rarely_detected_as_a_copy() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let Some(trees) = check_out(folder.path()) else { return };
    let load = |name: &str| {
        let (_, tree) = trees.iter().find(|(of, _)| *of == name).expect("a history");
        workspace::load(tree, &workspace::ReadLimits::standard(), &|_| {})
            .expect("a readable tree")
            .files()
            .to_vec()
    };
    for (own, other) in [("hiredis", "spdlog"), ("spdlog", "hiredis")] {
        let (files, unrelated) = (load(own), CopyIndex::new(&load(other)));
        let cases = mine(&files, &Index::build(&files), &Projects::new(&[]), &SCENARIOS[..3], REAL_CASES);
        let flagged: Vec<&Case> =
            cases.iter().filter(|case| !files_with_copy_of_truth(case, &unrelated).is_empty()).collect();
        eprintln!("{own} in {other}: {} of {}", flagged.len(), cases.len());
        assert!(
            flagged.len() * 100 <= cases.len() * MAX_BY_CHANCE,
            "{:?}",
            flagged.iter().map(|case| &case.truth).collect::<Vec<_>>()
        );
    }
}

/// Returns the files of the index that contain a copy of the truth.
fn files_with_copy_of_truth(case: &Case, copies: &CopyIndex) -> Vec<Arc<str>> {
    copies.files_with_copy(&RemovedCode {
        path: "",
        language: Language::from_name(&case.language).expect("a known language"),
        prefix: &case.prefix,
        removed: &case.truth,
        suffix: &case.suffix,
    })
}
