//! The metrics of one prediction.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::SchemaVersion;
use crate::case::CaseId;

/// Value of a metric: a number, or a ratio that keeps numerator and denominator so that sums of ratios are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StoredMetric {
    /// A plain number.
    Value(f64),
    /// `num` of `den`.
    Ratio {
        /// Numerator.
        num: f64,
        /// Denominator; 0 if there was nothing to measure.
        den: f64,
    },
}

impl Serialize for StoredMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            StoredMetric::Value(value) => serializer.serialize_f64(value),
            StoredMetric::Ratio { num, den } => {
                let mut ratio = serializer.serialize_struct("Ratio", 2)?;
                ratio.serialize_field("num", &num)?;
                ratio.serialize_field("den", &den)?;
                ratio.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for StoredMetric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredMetric, D::Error> {
        deserializer.deserialize_any(MetricVisitor)
    }
}

struct MetricVisitor;

impl<'de> Visitor<'de> for MetricVisitor {
    type Value = StoredMetric;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or {\"num\": number, \"den\": number}")
    }

    fn visit_f64<E>(self, value: f64) -> Result<StoredMetric, E> {
        Ok(StoredMetric::Value(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<StoredMetric, E> {
        Ok(StoredMetric::Value(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<StoredMetric, E> {
        Ok(StoredMetric::Value(value as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StoredMetric, A::Error> {
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
        Ok(StoredMetric::Ratio { num, den })
    }
}

/// The metrics of one prediction, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Format version.
    pub schema: SchemaVersion,
    /// The case.
    pub case: CaseId,
    /// Name of the engine; empty in rows of schema 1.2 and older, which contain only the fingerprint.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// Fingerprint of the engine.
    pub fingerprint: String,
    /// Repetition.
    pub repetition: u32,
    /// Metrics by name; inapplicable ones are absent.
    pub metrics: BTreeMap<String, StoredMetric>,
}

impl Score {
    /// Returns the key of its prediction.
    pub fn key(&self) -> (&str, &str, u32) {
        (&self.case, &self.engine, self.repetition)
    }
}
