//! `ghostbench replay`: runs engines over a suite.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cases::{Case, Run};
use completion::WorkspaceIndex;
use config::{ConfigFiles, Tests};
use replay::{JudgingRules, RequestPlan, RunContents};
use session::judge_jobs;

use crate::args::ReplayArgs;
use crate::folders::{self, USE_OUT};
use crate::steps::estimate::{estimate, print_estimate};
use crate::steps::gates::{Baseline, require_passed};
use crate::steps::index::{IndexedWorkspace, index};
use crate::steps::ray_cluster::AgreedCluster;
use crate::steps::ray_judge::{Judging, TestFiles};
use crate::steps::require_answers::require_answers;
use crate::steps::run_replay::{ReplayJob, RunStart, run_inputs, run_replay};
use crate::steps::settings_sources::SettingsSources;
use crate::steps::show_run::{ReportOptions, show};
use crate::steps::test_judge::{JudgedRun, RunJudge, judge_run, open_judge};
use crate::steps::{cassette, engine_registry, ray_cluster, use_threads};

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    ray_cluster::check(args)?;
    use_threads(args.asking.jobs.filter(|_| args.cluster.ray.is_none()))?;
    let extended = args.into.as_deref().map(replay::read_run).transpose()?;
    let suite = suite(args);
    let cases = replay::read_suite(&suite)?;
    let root = args.workspace.as_deref().unwrap_or(Path::new("."));
    let sources = SettingsSources::new(args.asking.settings.file.as_deref());
    let config = sources.config(root)?;
    let cassette = cassette::open(&args.asking.cassette)?;
    let candidates = engine_registry::select_for_run(&config, &args.asking.engines, cassette.as_ref())?;
    let indexed = args.workspace.as_deref().map(index).transpose()?;
    let world = indexed.as_ref().map_or_else(WorkspaceIndex::empty, IndexedWorkspace::index_with_tokens);
    let (engines, copies) =
        engine_registry::engines_for_replay(&candidates, &config, &world, &cases, args.asking.no_copies);
    let name = suite_name(&suite);
    let state = indexed.as_ref().map(|indexed| indexed.code.state.clone());
    let repeat = extended.as_ref().map_or(args.repeat, |extended| extended.run.repeat);
    let run = Run {
        copies: copies.rows(),
        ..replay::describe_run(name.clone(), &cases, &engines, state, args.seed, repeat)
    };
    // A mistake is reported before the first request.
    if let Some(name) = args.baseline.baseline.as_deref().filter(|name| !has_engine(extended.as_ref(), name))
    {
        Baseline::engine_or_run(name, &run)?;
    }
    let plan = RequestPlan { repeat, retries_failed: args.retry_failed, limits: args.asking.limits.limits() };
    let inputs = run_inputs(cases, engines, world, copies, &args.asking);
    let start = run_start(args);
    let out = args.into.as_ref().or(args.out.as_ref());
    if args.asking.limits.dry_run {
        let earlier = out.filter(|_| start != RunStart::New).map(|run| replay::read_run(run)).transpose()?;
        let done = earlier.map_or_else(Vec::new, |earlier| earlier.predictions);
        return print_estimate(&estimate(&inputs, &plan, &done, &name), args.json);
    }
    ray_cluster::check_rates(&args.rates, &run)?;
    let files = || sources.files.read(Some(root));
    let (agreed, test_files) = agree(args, root, indexed.as_ref())?;
    let snapshot = indexed.as_ref().map(|indexed| &indexed.snapshot);
    let cluster = agreed.as_ref().map(|agreed| agreed.requests(args, &run, files(), snapshot)).transpose()?;
    // Without a sandbox nothing is asked: answers that cannot be judged are useless.
    let on_cluster = indexed.as_ref().zip(agreed.as_ref()).zip(test_files);
    let judge = match on_cluster {
        Some((place, test_files)) => Some(judge_of_cluster(args, place, test_files, &inputs.cases, files())?),
        None => local_judge(args, root, &config.tests)?,
    };
    let folder = match out {
        Some(folder) => folder.clone(),
        None => folders::data_folder(USE_OUT)?.new_run(&name)?,
    };
    let mut showing = ReportOptions::in_run(&folder, args.verdict, args.json, args.open);
    showing.baseline.clone_from(&args.baseline.baseline);
    showing.gates = args.gates.clone();
    let replayed = run_replay(ReplayJob {
        inputs,
        plan,
        run,
        folder: folder.clone(),
        start,
        workspace: args.workspace.as_deref(),
        args: &args.asking,
        cluster,
    })?;
    showing.add_replay(&replayed);
    let scores = match (&judge, &indexed) {
        (Some(judge), Some(indexed)) => {
            judge_replayed(&folder, &replayed.contents, (root, indexed), judge)?;
            replay::scores_of(&folder, &replayed.contents).scores
        }
        _ => replayed.scores,
    };
    let gates = show(&folder, &replayed.contents, &scores, &showing)?;
    cassette::close(&args.asking.cassette, cassette.as_deref())?;
    require_answers(&replayed.contents)?;
    require_passed(&gates)
}

/// Returns the cluster of the arguments, once the user has agreed to it, and the files that its nodes judge with.
fn agree(
    args: &ReplayArgs,
    root: &Path,
    indexed: Option<&IndexedWorkspace>,
) -> anyhow::Result<(Option<AgreedCluster>, Option<TestFiles>)> {
    let Some(address) = &args.cluster.ray else { return Ok((None, None)) };
    let test_files = args.judging.judge.then(|| TestFiles::list(root, &args.cluster)).transpose()?;
    let code = indexed.map(|indexed| ray_cluster::description_of_code(&indexed.snapshot));
    // They contain the code.
    let files = test_files.as_ref().map(TestFiles::description).or(code);
    Ok((Some(ray_cluster::agree(address, &args.cluster, files)?), test_files))
}

/// Returns how the run begins.
fn run_start(args: &ReplayArgs) -> RunStart {
    match (&args.into, args.resume || args.retry_failed) {
        (Some(_), _) => RunStart::Extend,
        (None, true) => RunStart::Resume,
        (None, false) => RunStart::New,
    }
}

/// Judges the answers of a replayed run.
fn judge_replayed(
    folder: &Path,
    contents: &RunContents,
    (workspace, indexed): (&Path, &IndexedWorkspace),
    judge: &RunJudge,
) -> anyhow::Result<()> {
    let (tree_hash, rules) = (indexed.code.state.tree_hash.as_str(), &JudgingRules::Ours);
    judge_run(&JudgedRun { folder, contents, workspace, tree_hash, rules }, judge)?;
    Ok(())
}

/// Returns the judge in this process, if answers are to be judged.
fn local_judge(args: &ReplayArgs, root: &Path, tests: &Tests) -> anyhow::Result<Option<RunJudge>> {
    if !args.judging.judge {
        return Ok(None);
    }
    let judge = open_judge(root, tests, &args.judging.sandbox)?;
    Ok(Some(RunJudge::Here { judge, jobs: judge_jobs(args.judging.judge_jobs, tests) }))
}

/// Returns the judge on the nodes of a cluster.
fn judge_of_cluster(
    args: &ReplayArgs,
    (indexed, cluster): (&IndexedWorkspace, &AgreedCluster),
    test_files: TestFiles,
    cases: &[Case],
    settings: ConfigFiles,
) -> anyhow::Result<RunJudge> {
    let judging = Judging {
        cases,
        rules: &JudgingRules::Ours,
        jobs: args.judging.judge_jobs.map(NonZeroUsize::get),
        sandbox: args.judging.sandbox,
        tree_hash: &indexed.code.state.tree_hash,
    };
    test_files.judge(cluster, settings, &judging)
}

/// Whether the extended run has an engine of this name already.
fn has_engine(extended: Option<&RunContents>, name: &str) -> bool {
    extended.is_some_and(|extended| extended.run.engines.iter().any(|config| config.engine.name == name))
}

/// Returns the suite's file: that of the run to resume or to extend, unless one is named.
fn suite(args: &ReplayArgs) -> PathBuf {
    let run = || args.into.as_ref().or(args.out.as_ref());
    args.suite.clone().unwrap_or_else(|| run().into_iter().map(|folder| folder.join("cases.jsonl")).collect())
}

/// Returns the suite's file name; for the suite of a run, the name of the run's folder.
fn suite_name(suite: &Path) -> String {
    let named = if suite.file_name().is_some_and(|name| name == "cases.jsonl") {
        suite.parent()
    } else {
        Some(suite)
    };
    let stem = named.and_then(Path::file_stem).and_then(|stem| stem.to_str());
    stem.unwrap_or("suite").to_owned()
}
