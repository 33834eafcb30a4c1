//! The table that compares the measured corpora.

use workspace::Totals;

use super::branch_switch::BranchSwitchTime;
use super::edits::LANGUAGES;
use super::fresh_process::OpenTimings;
use super::queries::STRATEGIES;
use super::server::{KeyTimes, ServerFigures, SwitchFigures};
use super::whole_command::CommandTimes;
use crate::measure::figures::{SortedTimes, milliseconds};

/// Times and memory of building the index of one corpus.
pub(super) struct BuildingTimes {
    pub(super) totals: Totals,
    pub(super) cold: OpenTimings,
    pub(super) warm: OpenTimings,
    pub(super) command: CommandTimes,
}

/// Results of one corpus.
pub(super) struct CorpusColumn {
    pub(super) building: BuildingTimes,
    pub(super) queries: [SortedTimes; 4],
    pub(super) edits: SortedTimes,
    pub(super) branch: BranchSwitchTime,
    pub(super) served: ServerFigures,
}

/// The text above the table; `neighbours` is the share of processor time that other programs took, in percent.
fn conditions(neighbours: f64) -> String {
    format!(
        "Corpora from the pinned repositories, with equal shares of all languages as far as there is code. Indexing (walking, reading, \
         parsing, deriving) and opening from the cache are measured in new processes, median of three, with the files in the page \
         cache. Queries are at cursors spread over the files, with 512 tokens and without caches between them. An edit is searchable \
         when the whole edited file is parsed, added to the index and found by a unique name; the server only parses the changed \
         parts. Targets are for a million lines. Other programs took {neighbours:.0} % of the processor time during the measurement.\n"
    )
}

/// Renders the section as Markdown.
pub(super) fn section(columns: &[CorpusColumn], neighbours: f64) -> String {
    let row = |what: &str, target: &str, value: &dyn Fn(&CorpusColumn) -> String| {
        let values: Vec<String> = columns.iter().map(value).collect();
        format!("| {what} | {} | {target} |", values.join(" | "))
    };
    let mut lines = vec![conditions(neighbours)];
    let buildings: Vec<&BuildingTimes> = columns.iter().map(|column| &column.building).collect();
    lines.extend(building_rows(&buildings));
    for (number, strategy) in STRATEGIES.iter().enumerate() {
        let target = if number == 0 { "5 / 15" } else { "" };
        lines.push(row(&format!("`{strategy}`, p50 / p99 ms"), target, &|column| {
            times(&column.queries[number])
        }));
    }
    lines.push(row("edit in 3,000 lines to searchable, the file read again, p50 / p99 ms", "", &|column| {
        times(&column.edits)
    }));
    lines.push(row("files of a branch switch; s until searchable", "2000; 10", &|column| {
        format!("{}; {:.2}", column.branch.files, column.branch.took.as_secs_f64())
    }));
    lines.extend(server_rows(&row));
    lines.join("\n")
}

/// Returns the head of a table and its rows about building.
fn building_rows(columns: &[&BuildingTimes]) -> Vec<String> {
    let row = |what: &str, target: &str, value: &dyn Fn(&BuildingTimes) -> String| {
        let values: Vec<String> = columns.iter().map(|column| value(column)).collect();
        format!("| {what} | {} | {target} |", values.join(" | "))
    };
    let size = |column: &BuildingTimes| column.totals.bytes as f64;
    let memory_per_million =
        |column: &BuildingTimes, bytes: f64| megabytes(bytes * 1e6 / column.totals.lines.max(1) as f64);
    vec![
        row("measure", "target", &|column| format!("{} k lines", (column.totals.lines + 500) / 1000)),
        format!("|---|{}---|", "---|".repeat(columns.len())),
        row("files; MB of source", "", &|column| {
            format!("{}; {:.1}", column.totals.files, size(column) / 1e6)
        }),
        row("indexing, MB/s", "8", &|column| format!("{:.1}", size(column) / 1e6 / column.cold.seconds)),
        row("indexing, MB a core-second", "", &|column| {
            format!("{:.1}", size(column) / 1e6 / column.cold.core_seconds)
        }),
        row("indexing, cores busy", "", &|column| {
            format!("{:.2}", column.cold.core_seconds / column.cold.seconds)
        }),
        row("indexing, s", "", &|column| format!("{:.2}", column.cold.seconds)),
        row("resident after indexing and a query, MB", "600 (server)", &|column| {
            megabytes(column.cold.memory)
        }),
        row("the same, MB a million lines", "130", &|column| memory_per_million(column, column.cold.memory)),
        row("`ghostbench index`, with tokens and caches: s; cores busy", "", &|column| {
            let CommandTimes { seconds, core_seconds } = column.command;
            format!("{seconds:.2}; {:.2}", core_seconds / seconds)
        }),
        row("resident after opening from the cache and a query, MB", "", &|column| {
            megabytes(column.warm.memory)
        }),
        row("opening from the cache up to the first answer, s", "1", &|column| {
            format!("{:.2}", column.warm.answered)
        }),
    ]
}

/// Writes a row: name, target, and the cell of each column.
type RowWriter<'a> = dyn Fn(&str, &str, &dyn Fn(&CorpusColumn) -> String) -> String + 'a;

/// Selects the switches of one notification source.
type SwitchesOf = fn(&CorpusColumn) -> &SwitchFigures;

/// The rows of the server.
fn server_rows(row: &RowWriter<'_>) -> Vec<String> {
    let mut lines = vec![
        row(
            "server: resident after indexing, a document open, a completion answered, MB",
            "600",
            &|column| megabytes(column.served.reopened.cold_memory),
        ),
        row("server: the same after opening from the cache, MB", "600", &|column| {
            megabytes(column.served.reopened.warm_memory)
        }),
        row("server: start to the first completion with retrieval, from the cache, s", "1", &|column| {
            format!("{:.2}", column.served.reopened.answered.as_secs_f64())
        }),
    ];
    for (number, language) in LANGUAGES.iter().enumerate() {
        let what = format!(
            "server: edit in 3,000 lines of {} to the answer elsewhere, p50 / p99 ms",
            language.name()
        );
        lines.push(row(&what, "– / 20", &|column| times(&column.served.edits[number])));
    }
    let tellers: [(&str, SwitchesOf); 2] = [
        ("reported by the client", |column| &column.served.client_reported),
        ("noticed by its own watcher", |column| &column.served.watcher_reported),
    ];
    for (teller, switches) in tellers {
        let what = format!("server: switch {teller}: files; s until searchable; s until tokens are new");
        lines.push(row(&what, "2000; 10", &|column| {
            let SwitchFigures { files, searchable, known, .. } = switches(column);
            format!("{files}; {:.2}; {:.2}", searchable.as_secs_f64(), known.as_secs_f64())
        }));
        lines.push(row("server: completions before, idle, p50 / p99 ms", "", &|column| {
            times(&switches(column).keys.idle)
        }));
        lines.push(row(
            "server: completions during a switch, p50 / p99 ms; times the idle p99",
            "– / –; 2",
            &|column| meanwhile(&switches(column).keys),
        ));
        lines.push(row("server: resident afterwards, MB", "600", &|column| {
            megabytes(switches(column).memory)
        }));
    }
    lines
}

/// Cell of the times of keys while something else happens, and of their growth.
pub(super) fn meanwhile(KeyTimes { idle, meanwhile }: &KeyTimes) -> String {
    let growth = meanwhile.percentile(99) / idle.percentile(99);
    format!("{}; {growth:.1}", times(meanwhile))
}

/// Cell of times.
pub(super) fn times(times: &SortedTimes) -> String {
    format!("{} / {}", milliseconds(times.percentile(50)), milliseconds(times.percentile(99)))
}

/// Cell of a number of bytes.
pub(super) fn megabytes(bytes: f64) -> String {
    format!("{:.0}", bytes / 1e6)
}
