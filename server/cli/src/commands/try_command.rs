//! `ghostbench try`: mines, replays and reports.

use cases::Run;
use replay::RunFolder;

use crate::args::TryArgs;
use crate::folders::{self, USE_OUT};
use crate::output::shell_quoted;
use crate::steps::index::index_for_mining;
use crate::steps::mine::{MinedCases, mine};
use crate::steps::require_answers::require_answers;
use crate::steps::run_replay::{ReplayJob, run_replay};
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
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => folders::data_folder(USE_OUT)?.new_run(&indexed.code.name)?,
    };
    let (name, state) = (indexed.code.name.clone(), indexed.code.state.clone());
    let run = Run {
        copies: copies.rows(),
        ..replay::describe_run(name, &cases, &engines, Some(state), args.mining.seed, 1)
    };
    let mut showing = ReportOptions::in_run(&folder, args.verdict, args.json, args.open);
    showing.extra.insert("indexing".to_owned(), indexed.report());
    showing.extra.insert("left_out".to_owned(), left_out);
    if config.engines.is_empty() && args.asking.engines.is_empty() {
        let command =
            format!("ghostbench try {} --engine builtin --engine nearest-line", shell_quoted(&args.path));
        showing.next.push(format!("See how much of it is plain copying: {command}"));
    }
    let (workspace, asked) = (Some(args.path.as_path()), &args.asking);
    let (contents, scores) = run_replay(ReplayJob {
        cases,
        engines,
        world,
        copies,
        run,
        folder: folder.clone(),
        resume: false,
        workspace,
        args: asked,
    })?;
    show(&folder, &contents, &scores, &showing)?;
    cassette::close(&args.asking.cassette, cassette.as_deref())?;
    require_answers(&contents)
}
