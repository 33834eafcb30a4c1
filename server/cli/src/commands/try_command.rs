//! `ghostbench try`: mines, replays and reports.

use cases::Run;
use replay::{RequestPlan, RunFolder};

use crate::args::TryArgs;
use crate::folders::{self, USE_OUT};
use crate::output::shell_quoted;
use crate::steps::estimate::{estimate, print_estimate};
use crate::steps::index::index_for_mining;
use crate::steps::mine::{MinedCases, mine};
use crate::steps::require_answers::require_answers;
use crate::steps::run_replay::{ReplayJob, RunStart, run_inputs, run_replay};
use crate::steps::settings_sources::SettingsSources;
use crate::steps::show_run::{ReportOptions, show};
use crate::steps::{cassette, engine_registry, use_threads};

/// Runs the command.
pub(crate) fn run(args: &TryArgs) -> anyhow::Result<()> {
    use_threads(args.asking.jobs)?;
    args.out.as_deref().map_or(Ok(()), RunFolder::check_vacant)?;
    let config = SettingsSources::new(args.asking.settings.file.as_deref()).config(&args.path)?;
    let cassette = cassette::open(&args.asking.cassette)?;
    let candidates = engine_registry::select_for_run(&config, &args.asking.engines, cassette.as_ref())?;
    let (indexed, hole_candidates) = index_for_mining(&args.path)?;
    let MinedCases { cases, left_out } = mine(&indexed, &hole_candidates, &args.mining)?;
    let world = indexed.index_with_tokens();
    let (engines, copies) =
        engine_registry::engines_for_replay(&candidates, &config, &world, &cases, args.asking.no_copies);
    let run = Run {
        copies: copies.rows(),
        ..replay::describe_run(
            indexed.code.name.clone(),
            &cases,
            &engines,
            Some(indexed.code.state.clone()),
            args.mining.seed,
            1,
        )
    };
    let plan = RequestPlan { limits: args.asking.limits.limits(), ..RequestPlan::new(1) };
    let inputs = run_inputs(cases, engines, world, copies, &args.asking);
    if args.asking.limits.dry_run {
        return print_estimate(&estimate(&inputs, &plan, &[], &run.name), args.json);
    }
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => folders::data_folder(USE_OUT)?.new_run(&indexed.code.name)?,
    };
    let mut showing = ReportOptions::in_run(&folder, args.verdict, args.json, args.open);
    showing.extra.insert("indexing".to_owned(), indexed.report());
    showing.extra.insert("left_out".to_owned(), left_out);
    if config.engines.is_empty() && args.asking.engines.is_empty() {
        let command =
            format!("ghostbench try {} --engine builtin --engine nearest-line", shell_quoted(&args.path));
        showing.next.push(format!("See how much of it is plain copying: {command}"));
    }
    let replayed = run_replay(ReplayJob {
        inputs,
        plan,
        run,
        folder: folder.clone(),
        start: RunStart::New,
        workspace: Some(args.path.as_path()),
        args: &args.asking,
        cluster: None,
    })?;
    showing.add_replay(&replayed);
    show(&folder, &replayed.contents, &replayed.scores, &showing)?;
    cassette::close(&args.asking.cassette, cassette.as_deref())?;
    require_answers(&replayed.contents)
}
