//! Metrics: their values in a row of scores, and one table with everything that is known about each.
//!
//! To add a metric, add a row to the table; the names of the rows are in alphabetical order, as in files. `scoring` computes it.

use std::collections::BTreeMap;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::string_enum::string_enum;
use crate::task::TaskKind;

/// Value of a metric for one prediction: a number, or a ratio that keeps numerator and denominator so that sums of ratios are
/// exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A plain number, with the weight of one prediction.
    Value(f64),
    /// `num` of `den`.
    Ratio {
        /// Numerator.
        num: f64,
        /// Denominator; 0 if there was nothing to measure.
        den: f64,
    },
}

impl MetricValue {
    /// Returns the number, or the ratio as one; `None` if there was nothing to measure.
    pub fn share(self) -> Option<f64> {
        match self {
            MetricValue::Value(value) => Some(value),
            MetricValue::Ratio { num, den } => (den > 0.0).then(|| num / den),
        }
    }
}

/// The metrics of one prediction; metrics that do not apply are absent.
pub type Metrics = BTreeMap<Metric, MetricValue>;

/// The quantity that a metric's denominator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricUnit {
    /// Cases, all with the same weight.
    Cases,
    /// Answers that begin with the whole truth.
    WholeTruths,
    /// Answers without a wrong token before their own end or the truth's, whichever comes first.
    RightSoFar,
    /// Unicode scalar values of the truths.
    Characters,
    /// Distinct identifiers.
    Identifiers,
}

/// Better values of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
    /// Neither: the metric describes the answers.
    Neither,
}

/// The input that a metric is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricSource {
    /// The text of an answer; stored in a row of scores.
    Answer,
    /// The outcome of a request; computed from a prediction whenever it is needed.
    Outcome,
    /// Retrieved context, without any engine.
    Context,
}

/// Everything that is known about a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricSpec {
    /// Title in tables and reports.
    pub label: &'static str,
    /// Title where there is little room.
    pub short_label: &'static str,
    /// Quantity of the denominator; every value is a share of it, from 0 to 1.
    pub unit: MetricUnit,
    /// Better values.
    pub direction: Direction,
    /// Its input.
    pub source: MetricSource,
    /// Tasks that it applies to.
    pub tasks: &'static [TaskKind],
    /// One line of documentation.
    pub doc: &'static str,
}

/// Declares [`Metric`] with one row per metric: variant, name, label, short label, unit, direction, source, documentation.
macro_rules! metrics {
    ($($variant:ident $name:literal, $label:literal, $short:literal, $unit:ident, $direction:ident, $source:ident, $doc:literal;)+) => {
        string_enum! {
            /// A metric of an answer, of a request or of retrieved context. Ordered by name.
            Metric { $(#[doc = $doc] $variant = $name,)+ }
        }

        impl Metric {
            /// Returns everything that is known about the metric.
            pub const fn spec(self) -> &'static MetricSpec {
                match self {
                    $(Metric::$variant => const { &MetricSpec {
                        label: $label,
                        short_label: $short,
                        unit: MetricUnit::$unit,
                        direction: Direction::$direction,
                        source: MetricSource::$source,
                        tasks: tasks_of(Metric::$variant),
                        doc: $doc,
                    } },)+
                }
            }
        }
    };
}

/// Returns the tasks that a metric applies to.
const fn tasks_of(metric: Metric) -> &'static [TaskKind] {
    match metric {
        Metric::FunctionFound | Metric::FunctionSimilarity | Metric::FunctionSimilarityCode => {
            &[TaskKind::FindFunction]
        }
        Metric::GenerationExact | Metric::GenerationSimilarity => &[TaskKind::WriteFunction],
        Metric::EditSimilarity
        | Metric::ExactMatch
        | Metric::ExactInTime
        | Metric::InTime
        | Metric::Failed
        | Metric::Gated
        | Metric::Late
        | Metric::Silent => TaskKind::ALL,
        _ => &[TaskKind::Complete],
    }
}

#[rustfmt::skip]
metrics! {
    AnyNew "any_new", "any new", "any", Cases, Higher, Context, "at least one of the truth's new identifiers is in the context";
    Copy "copy", "copy", "copy", Cases, Higher, Context, "edit similarity of the best copy from the context and the file before the cursor";
    CorrectPrefix "correct_prefix", "correct prefix", "prefix", Characters, Higher, Answer, "share of the truth's characters before the first wrong one";
    DefinitionHit "definition_hit", "definition hit", "definition", Cases, Higher, Context, "a definition of the truth's name is in the context";
    EditSimilarity "edit_similarity", "edit similarity", "edit", Cases, Higher, Answer, "1 - insertions and deletions / length of both (indel), surrounding blanks aside";
    EditSimilarityDifflib "edit_similarity_difflib", "edit similarity, difflib", "difflib", Cases, Higher, Answer, "Ratcliff-Obershelp similarity as Python's difflib computes it";
    ExactInTime "exact_in_time", "exact in time", "in time", Cases, Higher, Answer, "exact match, where an answer that was late counts as none";
    ExactMatch "exact_match", "exact match", "exact", Cases, Higher, Answer, "the non-blank lines equal the truth's, blanks at both ends of a line aside (CrossCodeEval)";
    Failed "failed", "failed", "failed", Cases, Lower, Outcome, "the request timed out, was cancelled or failed";
    FirstLineExact "first_line_exact", "first line exact", "first line", Cases, Higher, Answer, "the first non-blank line equals the truth's, surrounding blanks aside";
    FunctionFound "function_found", "function found", "found", Cases, Higher, Answer, "the answer is the described function, with a BLEU-4 of at least 0.8 (RepoQA)";
    FunctionSimilarity "function_similarity", "function similarity", "BLEU", Cases, Higher, Answer, "BLEU-4 with the described function, 0 if another one is more similar (RepoQA)";
    FunctionSimilarityCode "function_similarity_code", "function similarity, code", "BLEU, code", Cases, Higher, Answer, "as function_similarity, without comments (RepoQA)";
    Gated "gated", "gated", "gated", Cases, Neither, Outcome, "a gate held the text back or skipped the request";
    GenerationExact "generation_exact", "generation exact", "gen. exact", Cases, Higher, Answer, "the written function equals the original, white space aside (YABLoCo)";
    GenerationSimilarity "generation_similarity", "generation similarity", "gen. edit", Cases, Higher, Answer, "difflib's similarity of the written function and the original, in whole percent (YABLoCo)";
    GoesOn "goes_on", "goes on", "goes on", WholeTruths, Lower, Answer, "the shown text continues after the truth's last token";
    IdentifierExact "identifier_exact", "identifiers exact", "id exact", Cases, Higher, Answer, "the identifiers equal the truth's, in order";
    IdentifierF1 "identifier_f1", "identifier F1", "id F1", Identifiers, Higher, Answer, "harmonic mean of identifier precision and recall";
    IdentifierPrecision "identifier_precision", "identifier precision", "id precision", Identifiers, Higher, Answer, "share of the answer's identifiers that are in the truth";
    IdentifierRecall "identifier_recall", "identifier recall", "id recall", Identifiers, Higher, Answer, "share of the truth's identifiers that are in the answer";
    InTime "in_time", "in time", "in time", Cases, Higher, Answer, "the engine finished before the deadline; failures did not";
    Items "items", "items", "items", Cases, Neither, Context, "pieces of code in the context";
    Late "late", "late", "late", Cases, Lower, Outcome, "the answer was cut at the deadline";
    NewBeyondSuffix "new_beyond_suffix", "new beyond suffix", "beyond", Identifiers, Higher, Context, "new identifiers in the context, without identifiers that occur after the cursor";
    NewIdentifiers "new_identifiers", "new identifiers", "new", Identifiers, Higher, Context, "share of the truth's identifiers that the file lacks before the cursor and the context contains";
    OtherTree "other_tree", "other tree", "other tree", Cases, Neither, Outcome, "the case was cut from another tree than the run's workspace";
    Parses "parses", "parses", "parses", Cases, Higher, Answer, "the file parses without error with the answer in place, where it does with the truth";
    RawCut "raw_cut", "cut, raw", "cut", WholeTruths, Neither, Answer, "reading ended with the truth's last token, before the engine did";
    RawGoesOn "raw_goes_on", "goes on, raw", "goes on", WholeTruths, Lower, Answer, "the engine continues after the truth's last token";
    RawStopping "raw_stopping", "stopping, raw", "stopping", WholeTruths, Higher, Answer, "the engine itself ends with the truth's last token";
    RawStopsShort "raw_stops_short", "stops short, raw", "short", RightSoFar, Lower, Answer, "the engine itself ends before the truth does";
    Restraint "restraint", "restraint", "restraint", Cases, Higher, Answer, "the answer is empty where the truth is";
    RightIndentation "right_indentation", "right indentation", "indentation", Cases, Higher, Answer, "every line after the first is indented at least as the truth's least indented one";
    Silent "silent", "silent", "silent", Cases, Neither, Outcome, "the engine suggested nothing";
    Stopping "stopping", "stopping", "stopping", WholeTruths, Higher, Answer, "the shown text ends with the truth's last token";
    StopsShort "stops_short", "stops short", "short", RightSoFar, Lower, Answer, "the shown text ends before the truth does";
    TestsPassed "tests_passed", "tests passed", "tests", Cases, Higher, Answer, "all unit tests of the case pass with the answer in place";
    TokenExact "token_exact", "token-exact", "tokens", Cases, Higher, Answer, "the tokens equal the truth's; white space and comments do not count";
    Tokens "tokens", "tokens", "tokens", Cases, Neither, Context, "tokens of the context";
}

impl Serialize for MetricValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            MetricValue::Value(value) => serializer.serialize_f64(value),
            MetricValue::Ratio { num, den } => {
                let mut ratio = serializer.serialize_struct("Ratio", 2)?;
                ratio.serialize_field("num", &num)?;
                ratio.serialize_field("den", &den)?;
                ratio.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for MetricValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MetricValue, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = MetricValue;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number or {\"num\": number, \"den\": number}")
    }

    fn visit_f64<E>(self, value: f64) -> Result<MetricValue, E> {
        Ok(MetricValue::Value(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<MetricValue, E> {
        Ok(MetricValue::Value(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<MetricValue, E> {
        Ok(MetricValue::Value(value as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MetricValue, A::Error> {
        let (mut num, mut den) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "num" => num = Some(map.next_value()?),
                "den" => den = Some(map.next_value()?),
                _ => return Err(de::Error::unknown_field(&key, &["num", "den"])),
            }
        }
        let num = num.ok_or_else(|| de::Error::missing_field("num"))?;
        let den = den.ok_or_else(|| de::Error::missing_field("den"))?;
        Ok(MetricValue::Ratio { num, den })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_in_the_order_of_their_names() {
        assert!(
            Metric::ALL.is_sorted_by_key(|metric| metric.name()),
            "rows would be written in another order"
        );
    }
}
