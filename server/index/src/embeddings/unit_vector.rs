//! Unit vectors, compared by the angle between them.

/// Number of independent sums, so that the processor can add to all of them at once.
const LANES: usize = 16;

/// Tolerance of a stored vector's length. Rounding causes a difference of about a millionth.
const LENGTH_TOLERANCE: f64 = 1e-3;

/// A vector of length one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitVector(Box<[f32]>);

impl UnitVector {
    /// Normalizes `vector`; `None` if it is empty or zero, or contains NaN or infinity.
    pub(crate) fn normalize(vector: &[f32]) -> Option<UnitVector> {
        let length = length(vector);
        let scaled = || vector.iter().map(|&number| (f64::from(number) / length) as f32).collect();
        (length.is_finite() && length > 0.0).then(|| UnitVector(scaled()))
    }

    /// Returns a unit vector with these numbers; `None` if their length is not one.
    pub(crate) fn from_numbers(numbers: Box<[f32]>) -> Option<UnitVector> {
        // A NaN length is rejected, too.
        ((length(&numbers) - 1.0).abs() < LENGTH_TOLERANCE).then_some(UnitVector(numbers))
    }

    pub(crate) fn numbers(&self) -> &[f32] {
        &self.0
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// Returns the cosine similarity, from -1 to 1; both must have the same number of dimensions.
    pub(crate) fn similarity(&self, other: &UnitVector) -> f32 {
        let (one, one_rest) = self.0.as_chunks::<LANES>();
        let (other, other_rest) = other.0.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (one, other) in one.iter().zip(other) {
            for lane in 0..LANES {
                sums[lane] += one[lane] * other[lane];
            }
        }
        let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
        sums.iter().sum::<f32>() + rest
    }
}

fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|&number| f64::from(number).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn direction(vector: &[f32]) -> UnitVector {
        UnitVector::normalize(vector).expect("the test's vector points somewhere")
    }

    #[test]
    fn similarity_depends_only_on_direction() {
        let long: Vec<f32> = (1..=37_u8).map(f32::from).collect();
        let short: Vec<f32> = long.iter().map(|number| number / 100.0).collect();
        let back: Vec<f32> = long.iter().map(|number| -number).collect();
        assert!((direction(&long).similarity(&direction(&short)) - 1.0).abs() < 1e-6);
        assert!((direction(&long).similarity(&direction(&back)) + 1.0).abs() < 1e-6);
        assert_eq!(direction(&[1.0, 0.0]).similarity(&direction(&[0.0, 3.0])), 0.0);
    }

    #[test]
    fn similarity_includes_every_dimension() {
        for dimensions in [1, 15, 16, 17, 40] {
            for place in 0..dimensions {
                let mut vector = vec![0.0; dimensions];
                vector[place] = 2.0;
                let direction = direction(&vector);
                assert_eq!(direction.similarity(&direction), 1.0, "{place} of {dimensions}");
            }
        }
    }

    #[test]
    fn extreme_vectors_normalize_but_invalid_ones_do_not() {
        assert_eq!(direction(&[f32::MAX, 0.0]).numbers(), [1.0, 0.0]);
        assert_eq!(direction(&[0.0, -1e-40]).numbers(), [0.0, -1.0]);
        for nowhere in [&[][..], &[0.0, -0.0], &[f32::NAN], &[1.0, f32::INFINITY]] {
            assert_eq!(UnitVector::normalize(nowhere), None, "{nowhere:?}");
            assert_eq!(UnitVector::from_numbers(nowhere.into()), None, "{nowhere:?}");
        }
        assert_eq!(UnitVector::from_numbers([2.0].into()), None);
    }
}
