//! Arguments of `ghostbench collect`.

use std::path::PathBuf;

use cases::PrivacyLevel;
use clap::{Subcommand, ValueEnum};
use scoring::trial_scoreboard::TrialMetric;

use super::values::parse_moment;
use super::{LogLevel, ReportFormat, SettingsArgs};

/// `ghostbench collect`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct CollectArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: CollectCommand,
}

/// Subcommands of `ghostbench collect`.
#[derive(Debug, Subcommand)]
pub(crate) enum CollectCommand {
    /// Receive the opportunities that developers share, until Ctrl-C.
    #[command(
        after_help = "Rows are in SQLite in the folder, or in PostgreSQL. The settings `[collect]` say what is accepted. Examples:
  ghostbench collect serve                                        at http://127.0.0.1:7118, in Ghostbench's data folder
  ghostbench collect serve --folder /srv/traces --listen 0.0.0.0:7118 --tls-certificate cert.pem --tls-key key.pem
  DATABASE=postgresql://collect@db/traces ghostbench collect serve --postgres-env DATABASE"
    )]
    Serve(CollectServeArgs),
    /// Create, list and revoke the accounts of a server, on its machine.
    #[command(after_help = "Examples:
  ghostbench collect token add ann                     a developer; prints the token once
  ghostbench collect token add eve --role analyst
  ghostbench collect token add bob --certificate bob.pem   known by a certificate instead
  ghostbench collect token list
  ghostbench collect token revoke ann                  keeps ann's rows; see also: ghostbench collect forget")]
    Token(CollectTokenArgs),
    /// Decide to share the reviewed opportunities of this repository with the team's server.
    #[command(after_help = "Asks once, and sends nothing yet. Examples:
  ghostbench collect join --server https://traces.example --consent 'I agree to its use by my team'
  ghostbench collect join --consent 'numbers only' --level metrics      the server of the settings (collect.url)")]
    Join(CollectJoinArgs),
    /// End the sharing of this repository.
    #[command(after_help = "Examples:
  ghostbench collect leave                keeps what was sent
  ghostbench collect leave --forget       deletes it on the server, too")]
    Leave(CollectLeaveArgs),
    /// Send the reviewed opportunities of this repository that the server does not have yet.
    #[command(
        after_help = "While the server is away, they stay in the store of the trials; the next call sends them. Examples:
  ghostbench trial review --full && ghostbench collect send
  ghostbench collect send --wait 3600 --json         repeat for an hour; for scripts"
    )]
    Send(CollectSendArgs),
    /// Show the counts of the server: yours, and for analysts those of all developers.
    #[command(after_help = "Examples:
  ghostbench collect status
  ghostbench collect status --json        for scripts")]
    Status(CollectStatusArgs),
    /// Show which engine is better, over all developers. For analysts.
    #[command(after_help = "Each developer is one cluster of the intervals. Examples:
  ghostbench collect scoreboard --trial spring
  ghostbench collect scoreboard --since 30d --html board.html")]
    Scoreboard(CollectScoreboardArgs),
    /// Delete the opportunities of a developer on the server.
    #[command(after_help = "What was recorded before stays deleted, also if it is sent again. Examples:
  ghostbench collect forget --yes                  your own, of all repositories
  ghostbench collect forget --account ann --yes    for administrators")]
    Forget(CollectForgetArgs),
    /// Show the audit log: uploads, reads and deletions. For administrators.
    #[command(after_help = "Examples:
  ghostbench collect audit
  ghostbench collect audit --limit 1000 --json     for scripts")]
    Audit(CollectAuditArgs),
}

/// The database of a server.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectStoreArgs {
    /// Folder of the database [default: one in Ghostbench's data folder].
    #[arg(long, value_name = "DIR", conflicts_with = "postgres")]
    pub(crate) folder: Option<PathBuf>,
    /// Environment variable with the address of a PostgreSQL database, which holds the rows instead. Only in builds with the feature
    /// `postgres`.
    #[arg(long = "postgres-env", id = "postgres", value_name = "VARIABLE")]
    pub(crate) postgres: Option<String>,
}

/// `ghostbench collect serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectServeArgs {
    /// The database.
    #[command(flatten)]
    pub(crate) store: CollectStoreArgs,
    /// Address and port to listen at [default: `collect.listen` in the settings].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Certificate of the server in PEM form; with it, connections are encrypted.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Its private key.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Authority of clients' certificates in PEM form: accounts may be known by a certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_clients: Option<PathBuf>,
    /// Listen at an address of other machines without encryption, because a proxy in front encrypts.
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// Seconds to wait at the start for a PostgreSQL database that cannot be reached.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u64,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Log verbosity.
    #[arg(long, value_enum, default_value_t = LogLevel::Info, value_name = "LEVEL")]
    pub(crate) log_level: LogLevel,
    /// Print the address as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect token`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct CollectTokenArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: CollectTokenCommand,
}

/// Subcommands of `ghostbench collect token`.
#[derive(Debug, Subcommand)]
pub(crate) enum CollectTokenCommand {
    /// Create an account, and print its token once.
    #[command(after_help = "Example:
  ghostbench collect token add ann --role developer")]
    Add(CollectTokenAddArgs),
    /// List the accounts.
    #[command(after_help = "Example:
  ghostbench collect token list --json")]
    List(CollectTokenListArgs),
    /// Take the token or certificate from an account. Its opportunities stay.
    #[command(after_help = "Example:
  ghostbench collect token revoke ann")]
    Revoke(CollectTokenRevokeArgs),
}

/// Role of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Sends and deletes its own opportunities
    Developer,
    /// Reads the opportunities of all
    Analyst,
    /// Reads and deletes the opportunities of all, and reads the audit log
    Admin,
}

/// `ghostbench collect token add`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectTokenAddArgs {
    /// Name of the account, for the administrator and the audit log.
    pub(crate) name: String,
    /// Its rights.
    #[arg(long, value_enum, default_value_t = RoleArg::Developer)]
    pub(crate) role: RoleArg,
    /// Certificate in PEM form by which the account is known, instead of a token.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// The database.
    #[command(flatten)]
    pub(crate) store: CollectStoreArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect token list`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectTokenListArgs {
    /// The database.
    #[command(flatten)]
    pub(crate) store: CollectStoreArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect token revoke`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectTokenRevokeArgs {
    /// Name of the account.
    pub(crate) name: String,
    /// The database.
    #[command(flatten)]
    pub(crate) store: CollectStoreArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The server that a client talks to.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectServerArgs {
    /// Address of the server [default: the one that the repository is shared with, else `collect.url` in the settings].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Seconds for which a request is repeated while the server is away or busy.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) wait: u64,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// `ghostbench collect join`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectJoinArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Words of your agreement, which are sent with each bundle.
    #[arg(long, value_name = "TEXT")]
    pub(crate) consent: String,
    /// The most of the code that is sent: full, structure or metrics.
    #[arg(long, value_name = "LEVEL", default_value_t = PrivacyLevel::Full)]
    pub(crate) level: PrivacyLevel,
    /// Address of the server [default: `collect.url` in the settings].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Agree without being asked.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect leave`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectLeaveArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Delete the opportunities of this repository on the server.
    #[arg(long)]
    pub(crate) forget: bool,
    /// The server.
    #[command(flatten)]
    pub(crate) server: CollectServerArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect send`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectSendArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Name of the trial [default: all].
    #[arg(long, value_name = "NAME")]
    pub(crate) trial: Option<String>,
    /// The server.
    #[command(flatten)]
    pub(crate) server: CollectServerArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect status`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectStatusArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// The server.
    #[command(flatten)]
    pub(crate) server: CollectServerArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect scoreboard`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectScoreboardArgs {
    /// Name of the trial [default: all opportunities].
    #[arg(long, value_name = "NAME")]
    pub(crate) trial: Option<String>,
    /// Opportunities from this moment on: 2026-01-31, 2026-01-31T08:00:00Z, or an age such as 7d or 2h.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub(crate) since: Option<i64>,
    /// Metric that decides, as for `trial scoreboard`.
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<TrialMetric>,
    /// The server.
    #[command(flatten)]
    pub(crate) server: CollectServerArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Same as `--format json`.
    #[arg(long)]
    pub(crate) json: bool,
    /// File for the scoreboard as a web page, without code.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// `ghostbench collect forget`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectForgetArgs {
    /// Account whose opportunities are deleted, for administrators [default: your own].
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// The server.
    #[command(flatten)]
    pub(crate) server: CollectServerArgs,
    /// Delete without being asked.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench collect audit`.
#[derive(Debug, clap::Args)]
pub(crate) struct CollectAuditArgs {
    /// Number of entries, the newest ones.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) limit: u32,
    /// The server.
    #[command(flatten)]
    pub(crate) server: CollectServerArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
