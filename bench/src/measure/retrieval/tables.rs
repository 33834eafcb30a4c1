//! Renders the rows as tables.

use std::collections::BTreeSet;
use std::fmt::Write;

use cases::Metric;
use syntax::Language;

use super::BUDGET_TOKENS;
use super::mined_repository::RepositorySummary;
use super::observations::{KeyedObservation, StrategyFigures, difference, equal_languages, observation};
use super::strategies::RetrievalVariant;
use super::strategy_results::{StrategyResult, UseOrder};
use crate::measure::repositories::{FIT, REPOSITORIES};

/// The languages of CrossCodeEval; targets refer to their mean.
const MAIN: [Language; 4] = [Language::Python, Language::TypeScript, Language::Java, Language::CSharp];
/// The other languages.
const OTHERS: [Language; 4] = [Language::Rust, Language::Go, Language::C, Language::Cpp];

/// Panic message: writing to a string cannot fail.
const STRING: &str = "a string takes everything";

/// The tables of retrieval quality.
pub(super) fn quality(rows: &[StrategyResult]) -> String {
    let of = |used, languages: &[Language]| -> Vec<&StrategyResult> {
        rows.iter().filter(|row| row.use_order == used && languages.contains(&row.language)).collect()
    };
    let main = of(UseOrder::First, &MAIN);
    let unresolved: Vec<&StrategyResult> = main.iter().copied().filter(|row| !row.is_resolved).collect();
    let first = of(UseOrder::First, &[MAIN, OTHERS].concat());
    [
        head(&first),
        format!("### Mean of Python, TypeScript, Java and C#\n\n{}{TARGETS}", strategies(&main)),
        format!("### Differences\n\n{}", differences(&main)),
        format!("### Mean of Rust, Go, C and C++\n\n{}", strategies(&of(UseOrder::First, &OTHERS))),
        format!("### Languages\n\n{}", languages(&first)),
        format!("### Missed definitions\n\n{}", missed_definitions(&first)),
        format!(
            "### Names that the rules of the language do not resolve\n\n{UNRESOLVED}\n\n{}",
            strategies(&unresolved)
        ),
        format!("### Later uses\n\n{LATER}\n\n{}", strategies(&of(UseOrder::Later, &MAIN))),
    ]
    .join("\n")
}

fn head(first: &[&StrategyResult]) -> String {
    let cases = cases(first);
    let unresolved: Vec<&StrategyResult> = first.iter().copied().filter(|row| !row.is_resolved).collect();
    let repositories: BTreeSet<&str> = first.iter().map(|row| row.repo).collect();
    format!(
        "{cases} cases from {} repositories that were not used for fitting, {} of them with a name that the rules of its language do not \
         resolve. A case is the first use in a file of a name that only other files define, cut as in CrossCodeEval; no case was \
         left out for being easy. Every strategy shows at most {BUDGET_TOKENS} tokens of four characters: CrossCodeEval's chunks in \
         CrossCodeEval's format, the items of the others as comments under their paths. The file itself is never searched.\n\n\
         In percent, with 95 % intervals by bootstrap over repositories. *New names*: of the truth's identifiers that the file does \
         not contain before the cursor, the share that the context shows; *new anywhere*: the same for identifiers that the file does \
         not contain after the hole either. *Any new*: share of cases with at least one of them shown. *Definition*: share of resolved \
         cases with a shown line that defines the name. *Copy*: edit similarity (indel) of the truth with the text after the longest match of the text before the \
         cursor, in the file or in the context. RG-1 sees the ten lines before the cursor, the oracle also the truth. \
         Milliseconds per request, with a ready index.\n",
        repositories.len(),
        self::cases(&unresolved),
    )
}

fn cases(rows: &[&StrategyResult]) -> usize {
    rows.iter().filter(|row| row.variant == RetrievalVariant::None).count()
}

fn observations(rows: &[&StrategyResult]) -> Vec<KeyedObservation> {
    rows.iter().map(|row| observation(row)).collect()
}

const UNRESOLVED: &str = "The definition of such a name is a guess, because it is the only one in the repository with that name. Definitions are not counted.";

const LATER: &str = "Names that the file used before, mean of the same four languages. First uses favour strategies that leave out the names of the file.";

/// The columns of [`strategies`].
const COLUMNS: [Metric; 5] =
    [Metric::NewIdentifiers, Metric::NewBeyondSuffix, Metric::AnyNew, Metric::DefinitionHit, Metric::Copy];

/// The targets, in the columns of [`strategies`]; ambitions in brackets.
const TARGETS: &str = "\
| *target for hybrid (aim)* | 54 (62) | 48 (55) | 66 (74) | 66 (76) | 47.5 (50) | 512 | |
| *target for hybrid, prefix only* | 47 | | | 60 | | 512 | |
";

/// All strategies, as the mean over the languages.
fn strategies(rows: &[&StrategyResult]) -> String {
    let figures = StrategyFigures::new(&equal_languages(observations(rows)));
    let mut out = format!(
        "{} cases.\n\n| strategy | new names | new anywhere | any new | definition | copy | tokens | p50 / p95 ms |\n\
         |---|---|---|---|---|---|---|---|\n",
        cases(rows)
    );
    for asked in RetrievalVariant::ALL.map(RetrievalVariant::name) {
        let cells = COLUMNS.map(|metric| figures.percent(asked, metric)).join(" | ");
        let tokens = figures.value(asked, Metric::Tokens).unwrap_or_default();
        let latency = figures.row(asked).and_then(|row| row.latency);
        let latency = latency.map_or_else(String::new, |it| format!("{:.1} / {:.1}", it.p50, it.p95));
        writeln!(out, "| {asked} | {cells} | {tokens:.0} | {latency} |").expect(STRING);
    }
    out
}

/// Pairs of compared strategies: the second one is subtracted.
const PAIRS: [(RetrievalVariant, RetrievalVariant); 4] = [
    (RetrievalVariant::Hybrid, RetrievalVariant::Rg1),
    (RetrievalVariant::HybridPrefix, RetrievalVariant::Rg1),
    (RetrievalVariant::Hybrid, RetrievalVariant::Oracle),
    (RetrievalVariant::Hybrid, RetrievalVariant::Symbols),
];

fn differences(rows: &[&StrategyResult]) -> String {
    let observations = equal_languages(observations(rows));
    let mut out = "On the same cases, in points. RG-1 sees nothing behind the cursor; neither does `hybrid, prefix only`.\n\n\
                   | difference | new names | new anywhere | any new | definition | copy |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (b, a) in PAIRS.map(|(b, a)| (b.name(), a.name())) {
        let cells = COLUMNS.map(|metric| difference(&observations, a, b, metric)).join(" | ");
        writeln!(out, "| {b} minus {a} | {cells} |").expect(STRING);
    }
    out
}

/// The columns of [`languages`].
const SHOWN: [RetrievalVariant; 5] = [
    RetrievalVariant::Rg1,
    RetrievalVariant::Oracle,
    RetrievalVariant::Symbols,
    RetrievalVariant::Hybrid,
    RetrievalVariant::HybridPrefix,
];

fn languages(rows: &[&StrategyResult]) -> String {
    let names = SHOWN.map(RetrievalVariant::name).join(" | ");
    let mut out = format!(
        "New names / any new / definition / copy. *Times*: new names of `hybrid` over those of RG-1; the target is \
         1.5 outside of the first four languages.\n\n| language | cases | {names} | times |\n|---|---|---|---|---|---|---|---|\n"
    );
    for language in MAIN.into_iter().chain(OTHERS) {
        let rows: Vec<&StrategyResult> =
            rows.iter().copied().filter(|row| row.language == language).collect();
        let figures = StrategyFigures::new(&observations(&rows));
        let cells = SHOWN.map(|asked| cell(&figures, asked.name())).join(" | ");
        let recall =
            |asked: RetrievalVariant| figures.value(asked.name(), Metric::NewIdentifiers).unwrap_or(f64::NAN);
        let times = recall(RetrievalVariant::Hybrid) / recall(RetrievalVariant::Rg1);
        writeln!(out, "| {} | {} | {cells} | {times:.2} |", language.name(), cases(&rows)).expect(STRING);
    }
    out
}

fn cell(figures: &StrategyFigures, asked: &str) -> String {
    [Metric::NewIdentifiers, Metric::AnyNew, Metric::DefinitionHit, Metric::Copy]
        .map(|metric| match figures.value(asked, metric) {
            Some(value) => format!("{:.0}", 100.0 * value),
            None => "–".to_owned(),
        })
        .join(" / ")
}

/// Examples per language.
const EXAMPLES: usize = 4;

/// The names that `hybrid` misses, with examples spread over the cases.
fn missed_definitions(rows: &[&StrategyResult]) -> String {
    let shown_by_symbols: BTreeSet<&str> = rows
        .iter()
        .filter(|row| row.variant == RetrievalVariant::Symbols && row.is_defined)
        .map(|row| row.case.as_str())
        .collect();
    let mut out = "Resolved cases whose definition `hybrid` does not show; `symbols` shows some of them, because its whole budget is for \
                   definitions.\n\n| language | resolved | missed | shown by symbols | examples of the others |\n|---|---|---|---|---|\n"
        .to_owned();
    for language in MAIN.into_iter().chain(OTHERS) {
        let resolved: Vec<&StrategyResult> = rows
            .iter()
            .filter(|row| {
                row.language == language && row.variant == RetrievalVariant::Hybrid && row.is_resolved
            })
            .copied()
            .collect();
        let missed = resolved.iter().filter(|row| !row.is_defined);
        let (ranked, unknown): (Vec<&StrategyResult>, Vec<&StrategyResult>) =
            missed.partition(|row| shown_by_symbols.contains(row.case.as_str()));
        let step = (unknown.len() / EXAMPLES).max(1);
        let examples = unknown.iter().step_by(step).take(EXAMPLES);
        let examples = examples.map(|row| format!("`{}` ({} {})", row.entity, row.repo, row.place));
        let (name, missed) = (language.name(), ranked.len() + unknown.len());
        let examples = examples.collect::<Vec<_>>().join(", ");
        writeln!(out, "| {name} | {} | {missed} | {} | {examples} |", resolved.len(), ranked.len())
            .expect(STRING);
    }
    out
}

/// The repositories of the cases, and those that the weights were fitted on.
pub(super) fn repositories(sources: &[RepositorySummary]) -> String {
    let mut out = "### Repositories\n\n| reported | version | language | lines | first uses | later uses |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for RepositorySummary { name, version, language, lines, first, later } in sources {
        writeln!(out, "| {name} | {version} | {} | {lines} | {first} | {later} |", language.name())
            .expect(STRING);
    }
    let fitted = REPOSITORIES.iter().chain(FIT).map(|pinned| format!("{} {}", pinned.name, pinned.version));
    writeln!(out, "\nFitted on: {}.", fitted.collect::<Vec<_>>().join(", ")).expect(STRING);
    out
}
