//! `ghostbench collect send`: sends the reviewed opportunities of a repository that the server does not have yet.

use std::collections::HashSet;

use cases::{Bundle, BundleConsent, Opportunity};
use collect::client::{ClientError, CollectClient};
use collect::sharing::{SentRows, Sharing, parts, read_sharing};
use collect::store::Receipt;
use report::format::opportunities;
use serde_json::json;
use trial::StoreReader;
use trial::store::StoreFilter;

use crate::args::CollectSendArgs;
use crate::exit::UsageError;
use crate::interrupt::unless_stopped;
use crate::output::{self, print_message};
use crate::progress::Progress;
use crate::steps::collect_server::{client, client_error};
use crate::steps::licence::licence_names;
use crate::steps::run_replay::runtime;
use crate::steps::trial_rows::refuse_blind;
use crate::steps::trial_store::{TrialPlace, now};

/// Most rows and bytes of one upload: small enough to be repeated, and far below the limits of a server.
const PART_ROWS: usize = 200;
const PART_BYTES: usize = 4 << 20;

/// Opportunities of a workspace that can be sent.
struct Outgoing {
    rows: Vec<Opportunity>,
    /// Rows that the server has as they are now.
    known: usize,
    /// Rows that are not reviewed as they are now.
    unreviewed: u64,
}

/// Runs the command.
pub(crate) fn run(args: &CollectSendArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let sharing = read_sharing(&place.folder)?.ok_or_else(|| {
        UsageError(format!(
            "{} is not shared; decide first: ghostbench collect join --consent 'YOUR WORDS'",
            output::path(&place.root)
        ))
    })?;
    if args.server.server.as_ref().is_some_and(|server| *server != sharing.server) {
        let message =
            format!("the repository is shared with {}; join the other server first", sharing.server);
        return Err(UsageError(message).into());
    }
    let client = client(&args.server, &place.root, Some(&sharing.server))?;
    let mut sent = SentRows::read(&place.folder)?;
    let outgoing = outgoing(args, &place, &sharing, &mut sent)?;
    if outgoing.unreviewed > 0 {
        print_message(&format!(
            "{} are left out, because `ghostbench trial review --full` has not shown them as they are now",
            opportunities(outgoing.unreviewed)
        ));
    }
    if outgoing.rows.is_empty() && outgoing.known == 0 {
        let message = "nothing is reviewed; show it first: ghostbench trial review --full";
        return Err(UsageError(message.to_owned()).into());
    }
    let licences = licence_names(&place.root);
    let total = runtime()?.block_on(send(&client, &sharing, &licences, outgoing.rows, &mut sent))?;
    if args.json {
        let report = json!({ "sent": total, "known": outgoing.known, "left_out": outgoing.unreviewed });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    let masked = match total.secrets {
        0 => String::new(),
        secrets => format!("; the server masked {} more", output::count(usize::try_from(secrets)?, "secret")),
    };
    let dropped = match total.forgotten + total.expired {
        0 => String::new(),
        rows => format!("; it left out {} that were deleted there or are too old", opportunities(rows)),
    };
    Ok(output::print(&format!(
        "{} sent to {}{masked}{dropped}\n",
        opportunities(total.new + total.updated + total.known),
        sharing.server
    ))?)
}

fn outgoing(
    args: &CollectSendArgs,
    place: &TrialPlace,
    sharing: &Sharing,
    sent: &mut SentRows,
) -> anyhow::Result<Outgoing> {
    let filter = StoreFilter { trial: args.trial.clone(), ..StoreFilter::default() };
    let reader = StoreReader::open(&place.store())?;
    let reviewed = StoreFilter { reviewed: Some(true), ..filter.clone() };
    let rows = reader.read_all(&reviewed)?;
    let mut rows: Vec<Opportunity> = rows.into_iter().map(|row| row.opportunity).collect();
    let unreviewed = reader.count(&filter)?.saturating_sub(rows.len() as u64);
    refuse_blind(&args.workspace, args.trial.as_deref(), &rows, "sending")?;
    rows.iter_mut().for_each(|row| trial::privacy::apply(row, sharing.level, &place.key));
    if args.trial.is_none() {
        let ids: HashSet<String> = rows.iter().map(|row| row.id.clone()).collect();
        sent.keep(&ids)?;
    }
    let reviewed = rows.len();
    rows.retain(|row| !sent.has(row));
    Ok(Outgoing { known: reviewed - rows.len(), rows, unreviewed })
}

/// Sends rows in parts; each part that is stored stays sent, whatever becomes of the others.
async fn send(
    client: &CollectClient,
    sharing: &Sharing,
    licences: &[String],
    rows: Vec<Opportunity>,
    sent: &mut SentRows,
) -> anyhow::Result<Receipt> {
    let (mut total, count) = (Receipt::default(), rows.len() as u64);
    let progress = Progress::new("sent", "opportunities");
    let mut done = 0;
    for part in parts(rows, PART_ROWS, PART_BYTES) {
        let consent = BundleConsent {
            given_at: now(),
            opportunities: part.len() as u64,
            statement: sharing.consent.clone(),
        };
        let bundle = Bundle::new(part, licences.to_vec(), vec![consent]);
        let text = bundle.print();
        let sending = client.send_bundle(&text, &sharing.repository);
        let receipt = unless_stopped(sending).await?.map_err(|error| failed(error, count - done))?;
        sent.add(&bundle.rows)?;
        done += bundle.rows.len() as u64;
        progress.set(done, count);
        total.new += receipt.new;
        total.updated += receipt.updated;
        total.known += receipt.known;
        total.forgotten += receipt.forgotten;
        total.expired += receipt.expired;
        total.secrets += receipt.secrets;
    }
    progress.finish(&opportunities(done));
    Ok(total)
}

fn failed(error: ClientError, left: u64) -> anyhow::Error {
    match error {
        ClientError::Away { .. } | ClientError::Setup(_) => anyhow::Error::new(error).context(format!(
            "{} are kept in the store of the trials; the next `ghostbench collect send` sends them",
            opportunities(left)
        )),
        error => client_error(error),
    }
}
