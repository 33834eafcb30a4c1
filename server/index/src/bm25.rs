//! BM25, as both functions and windows are ranked by it.

/// The usual constants: how soon repeats stop to count, and how much length does.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// How many documents there are, and how long they are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) documents: u64,
    /// Terms, repeats counted.
    pub(crate) length: u64,
}

impl Totals {
    pub(crate) fn of(lengths: impl Iterator<Item = u16>) -> Totals {
        lengths.fold(Totals::default(), |totals, length| Totals {
            documents: totals.documents + 1,
            length: totals.length + u64::from(length),
        })
    }

    pub(crate) fn plus(self, other: Totals) -> Totals {
        Totals { documents: self.documents + other.documents, length: self.length + other.length }
    }

    pub(crate) fn minus(self, other: Totals) -> Totals {
        Totals { documents: self.documents - other.documents, length: self.length - other.length }
    }

    /// What a term weighs that so many of the documents have.
    pub(crate) fn inverse_frequency(self, having: u64) -> f32 {
        let (documents, having) = (self.documents as f64, having as f64);
        (1.0 + (documents - having + 0.5) / (having + 0.5)).ln() as f32
    }

    /// What a term of this weight adds to the score of a document of this length that has it so often.
    pub(crate) fn gain(self) -> impl Fn(f32, u32, u16) -> f32 {
        let mean_length = self.length as f64 / self.documents.max(1) as f64;
        let for_length = K1 * B / mean_length as f32;
        move |weight, count, length| {
            let count = count as f32;
            weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B) + for_length * f32::from(length))
        }
    }
}
