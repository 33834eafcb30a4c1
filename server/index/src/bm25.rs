//! BM25, the ranking of both functions and windows.

/// The usual constants: saturation of repeats, and influence of the length.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Number of documents, and their total length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CollectionStats {
    pub(crate) documents: u64,
    /// Terms, including repeats.
    pub(crate) length: u64,
}

impl CollectionStats {
    pub(crate) fn from_lengths(lengths: impl Iterator<Item = u16>) -> CollectionStats {
        lengths.fold(CollectionStats::default(), |totals, length| CollectionStats {
            documents: totals.documents + 1,
            length: totals.length + u64::from(length),
        })
    }

    pub(crate) fn plus(self, other: CollectionStats) -> CollectionStats {
        CollectionStats { documents: self.documents + other.documents, length: self.length + other.length }
    }

    pub(crate) fn minus(self, other: CollectionStats) -> CollectionStats {
        CollectionStats { documents: self.documents - other.documents, length: self.length - other.length }
    }

    /// Returns the weight of a term that occurs in this number of documents.
    pub(crate) fn inverse_frequency(self, having: u64) -> f32 {
        let (documents, having) = (self.documents as f64, having as f64);
        (1.0 + (documents - having + 0.5) / (having + 0.5)).ln() as f32
    }

    /// Returns the contribution of a term with this weight to the score of a document with this length, if it occurs this
    /// often.
    pub(crate) fn term_score(self) -> impl Fn(f32, u32, u16) -> f32 {
        let mean_length = self.length as f64 / self.documents.max(1) as f64;
        let for_length = K1 * B / mean_length as f32;
        move |weight, count, length| {
            let count = count as f32;
            weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B) + for_length * f32::from(length))
        }
    }
}
