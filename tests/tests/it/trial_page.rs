//! The page of a live trial in Chromium: it fits every window, light and dark.

use std::ops::Range;
use std::path::Path;

use cases::{
    ArmAnswer, ArmRole, BlockCut, BlockKind, CompletionTask, Decision, DecisionKind, EngineIdentity,
    Exposure, Finish, OfferOutcome, Opportunity, OpportunityCursor, OutcomeKind, Provenance, ProvenanceSpan,
    Status, Survival, SurvivalAge, SurvivalKind, Task, Trigger, Truth, TruthStage,
};
use scoring::TrialLog;
use scoring::trial_scoreboard::TrialSettings;
use serde_json::json;
use text::SplitMix64;

use crate::report::check_every_window;

/// The arms, the shown one first, with the share of right answers in percent and the time in ms.
const ARMS: [(&str, usize, f64); 4] = [
    ("builtin", 30, 6.0),
    ("qwen2.5-coder-7b-instruct-q4_k_m on the workstation", 46, 240.0),
    ("hosted", 44, 610.0),
    ("slow", 12, 1_900.0),
];

/// Opportunities of the made-up trial.
const OPPORTUNITIES: usize = 320;

/// Lines that the developer writes, with a place where the text changes its provenance.
const LINES: [(&str, usize); 5] = [
    ("total = price * rate", 8),
    ("return self.repository.find_all_by_customer_and_period(customer, period, include_archived=False)", 23),
    ("for order in orders:\n\ttotal += order.price\n\tif total > limit:\n\t\tbreak", 21),
    ("", 0),
    ("print('\u{e9} \u{1f642}', '<b>&amp;</b>')", 6),
];

fn span(range: Range<usize>, provenance: Provenance) -> ProvenanceSpan {
    ProvenanceSpan { range, provenance, arm: None }
}

fn truth(number: usize) -> Truth {
    let (text, cut) = LINES[number % LINES.len()];
    let provenance = Provenance::ALL[number % Provenance::ALL.len()];
    let spans = [span(0..cut, Provenance::Typed), span(cut..text.len(), provenance)];
    Truth {
        stage: TruthStage::ALL[number % TruthStage::ALL.len()],
        at: 20_000.0,
        text: text.to_owned(),
        region: text.to_owned(),
        deleted: String::new(),
        deleted_before: String::new(),
        provenance: spans.into_iter().filter(|span| !span.range.is_empty()).collect(),
        reversals: 0,
        distance: None,
    }
}

fn answer(arm: usize, truth: &Truth, random: &mut SplitMix64) -> ArmAnswer {
    let (name, percent, ms) = ARMS[arm];
    let engine = EngineIdentity {
        name: name.to_owned(),
        kind: "openai".to_owned(),
        model: "m".to_owned(),
        fingerprint: "f".to_owned(),
    };
    let role = if arm == 0 { ArmRole::Shown } else { ArmRole::Shadow };
    let status = match random.below(20) {
        0 => Status::Timeout,
        1 => Status::Error,
        _ => Status::Ok,
    };
    let text = match random.below(100) < percent {
        true => truth.text.clone(),
        false => format!("{}other({arm})", &truth.text[..truth.text.len().min(7)]),
    };
    let answered = if status == Status::Ok { text } else { String::new() };
    let mut answer = ArmAnswer::empty(name.to_owned(), engine, role, status);
    (answer.raw, answer.text, answer.finish) = (answered.clone(), answered, Finish::Stop);
    answer.ms.total = ms * (0.5 + random.below(100) as f64 / 100.0);
    answer
}

/// An opportunity of a day, a file and a developer.
fn opportunity(number: usize, random: &mut SplitMix64) -> Opportunity {
    let truth = truth(number);
    let language = ["python", "typescript", "rust"][number % 3];
    let mut cursor = OpportunityCursor::at_start(language, "");
    cursor.path = format!("services/billing/src/a_folder_with_a_long_name/module_{}.x", number % 17);
    cursor.prefix = "def f(orders):\n    ".to_owned();
    (cursor.offset, cursor.line, cursor.character) = (cursor.prefix.len(), 1, 4);
    let answers = (0..ARMS.len()).map(|arm| answer(arm, &truth, random)).collect();
    let is_held = number.is_multiple_of(2);
    let value = if is_held { "hidden" } else { "shown" };
    let holdout = Decision { kind: DecisionKind::Holdout, value: value.to_owned(), probability: 0.5 };
    let kind = match number % 8 {
        _ if is_held => OutcomeKind::NotShown,
        1 => OutcomeKind::Accepted,
        3 => OutcomeKind::TypedThrough,
        5 => OutcomeKind::Rejected,
        _ => OutcomeKind::Ignored,
    };
    let survival = Survival { age: SurvivalAge::Seconds30, kind: SurvivalKind::Kept, retained_chars: 9 };
    let is_accepted = kind == OutcomeKind::Accepted;
    Opportunity {
        trial: Some("week".to_owned()),
        developer: format!("d{}", number % 2),
        session: format!("s{}", number / 40),
        opened_at: format!("2026-11-{:02}T08:{:02}:00.000Z", number / 40 + 1, number % 60),
        decisions: vec![holdout],
        answers,
        outcome: OfferOutcome {
            kind,
            shown_at: (!is_held).then_some(10.0),
            visible: (!is_held).then_some(900.0),
            arm: is_accepted.then(|| ARMS[0].0.to_owned()),
            accepted_chars: if is_accepted { 9 } else { 0 },
            survival: if is_accepted { vec![survival] } else { Vec::new() },
            ..OfferOutcome::not_shown()
        },
        exposure: match kind {
            OutcomeKind::NotShown => Exposure::None,
            OutcomeKind::Accepted => Exposure::Accepted,
            _ => Exposure::Shown,
        },
        task: Some(Task::Complete(CompletionTask::FullBlock(BlockCut::MidStatement))),
        block_kind: Some([BlockKind::Statement, BlockKind::For, BlockKind::If][number % 3]),
        truths: vec![truth],
        ..Opportunity::new(format!("{number:032x}"), Trigger::Automatic, cursor)
    }
}

/// Writes the page of the made-up trial and returns its address.
fn made_up_page(folder: &Path) -> String {
    let mut random = SplitMix64::new(7);
    let rows: Vec<Opportunity> = (0..OPPORTUNITIES).map(|number| opportunity(number, &mut random)).collect();
    let mut log = TrialLog::new();
    rows.iter().for_each(|row| log.add(row));
    let board = log.scoreboard(&TrialSettings::default());
    assert_eq!((board.opportunities, board.arms.len()), (OPPORTUNITIES, ARMS.len()));
    let path = folder.join("trial.html");
    std::fs::write(&path, report::trial::html(&board, &rows)).expect("the page is written");
    format!("file://{}", path.display())
}

/// The opportunities are displayed; all are unfolded, so that the images show them.
const IS_READY: &str = "(rows => (rows.forEach(row => row.open = true), rows.length === 200))\
(document.querySelectorAll('details.opportunity'))";

#[test]
fn trial_fits_every_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = made_up_page(folder.path());
    check_every_window("trial", &url, IS_READY, |browser, view| {
        let plots = browser.evaluate("document.querySelectorAll('.pairs-over-time svg.plot').length");
        assert_eq!(plots, 6, "{view:?}: each pair of four arms is drawn");
        // Nothing is cut off or drawn over something else.
        let cut = "[...document.querySelectorAll('summary, dd, dt, figcaption, li')]\
.filter(node => node.scrollWidth > node.clientWidth + 1).map(node => node.textContent.slice(0, 60))";
        assert_eq!(browser.evaluate(cut), json!([]), "{view:?}");
        let heights = browser.evaluate(
            "[...document.querySelectorAll('section')].every(node => node.getBoundingClientRect().height > 20)",
        );
        assert_eq!(heights, true, "{view:?}");
        let markup = browser.evaluate("document.querySelectorAll('main dd b').length");
        assert_eq!(markup, 0, "code stays text");
    });
}
