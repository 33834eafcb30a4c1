//! Sums of two engines' counts by file, and the spread of their difference between files.

use crate::counts::Counts;

/// Upper limit of a file's weight: a file with all the weight has no deviation to raise.
const MAX_WEIGHT: f64 = 0.99;

/// Sums by file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileTotals {
    /// Baseline and engine by the number of the file; zeros for files without cases.
    files: Vec<(Counts, Counts)>,
    baseline: Counts,
    engine: Counts,
}

impl FileTotals {
    /// Adds the counts of a case.
    pub(crate) fn add(&mut self, file: usize, baseline: Counts, engine: Counts) {
        if file >= self.files.len() {
            self.files.resize(file + 1, Default::default());
        }
        self.files[file].0 += baseline;
        self.files[file].1 += engine;
        self.baseline += baseline;
        self.engine += engine;
    }

    /// Returns the number of files with cases.
    pub(crate) fn len(&self) -> usize {
        self.files.iter().filter(|(baseline, engine)| baseline.den != 0.0 || engine.den != 0.0).count()
    }

    /// Returns the sums of all files: baseline and engine.
    pub(crate) fn sums(&self) -> (Counts, Counts) {
        (self.baseline, self.engine)
    }

    /// Returns the engine's ratio of sums minus the baseline's; `None` if either has nothing to measure.
    pub(crate) fn difference(&self) -> Option<f64> {
        Some(self.engine.ratio()? - self.baseline.ratio()?)
    }

    /// Returns baseline and engine by file, also of files without cases.
    pub(crate) fn columns(&self) -> (Vec<Counts>, Vec<Counts>) {
        self.files.iter().copied().unzip()
    }

    /// Returns what the test by file compares: by how much the engine exceeds the ratio of both together in each file, minus the
    /// same for the baseline. Swapping the engines in a file flips the sign of its value and changes nothing else, and the sum of all
    /// has the sign of [`FileTotals::difference`].
    pub(crate) fn differences(&self) -> Vec<f64> {
        let pooled = (self.baseline + self.engine).ratio().unwrap_or(0.0);
        self.files
            .iter()
            .map(|&(baseline, engine)| {
                // The pooled ratio does not matter for equal denominators: without it, equal differences stay equal to the last digit.
                let weights =
                    if engine.den == baseline.den { 0.0 } else { pooled * (engine.den - baseline.den) };
                engine.num - baseline.num - weights
            })
            .collect()
    }

    /// Returns the factors of the numerators and denominators of baseline and engine whose sum is the deviation of some cases from the
    /// difference; `None` if either has nothing to measure.
    pub(crate) fn deviation(&self) -> Option<Deviation> {
        let (of_baseline, of_engine) = (self.baseline.ratio()?, self.engine.ratio()?);
        Some(Deviation([
            -1.0 / self.baseline.den,
            of_baseline / self.baseline.den,
            1.0 / self.engine.den,
            -of_engine / self.engine.den,
        ]))
    }

    /// Returns the variance of the files' deviations.
    pub(crate) fn variance(&self, deviation: Deviation) -> f64 {
        raised_variance(self.files.iter().map(|&(a, b)| (deviation.of(a, b), self.weight(a, b))))
    }

    /// Returns the degrees of freedom of the files' variance.
    pub(crate) fn degrees(&self) -> f64 {
        degrees(self.files.iter().map(|&(a, b)| self.weight(a, b)))
    }

    fn weight(&self, baseline: Counts, engine: Counts) -> f64 {
        (baseline.den / self.baseline.den + engine.den / self.engine.den) / 2.0
    }
}

/// Returns the variance of the sum of the files' deviations, each raised by its file's weight, its share of all cases (CR2 of Bell and
/// McCaffrey 2002 for a mean).
pub(crate) fn raised_variance(deviations_and_weights: impl Iterator<Item = (f64, f64)>) -> f64 {
    deviations_and_weights.map(|(deviation, weight)| deviation.powi(2) / (1.0 - weight.min(MAX_WEIGHT))).sum()
}

/// Returns the degrees of freedom of this variance (Satterthwaite's, after Bell and McCaffrey 2002): the number of files less one if all
/// have the same weight.
pub(crate) fn degrees(weights: impl Iterator<Item = f64>) -> f64 {
    let (mut squares, mut raised, mut raised_squares) = (0.0, 0.0, 0.0);
    for weight in weights.map(|weight| weight.min(MAX_WEIGHT)) {
        let square = weight * weight;
        squares += square;
        raised += square / (1.0 - weight);
        raised_squares += (square / (1.0 - weight)).powi(2);
    }
    1.0 / (squares + raised * raised - raised_squares)
}

/// The deviation of cases from a difference, as a linear function of their counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deviation(pub(crate) [f64; 4]);

impl Deviation {
    /// Returns the deviation of cases with these counts.
    pub(crate) fn of(self, baseline: Counts, engine: Counts) -> f64 {
        let counts = [baseline.num, baseline.den, engine.num, engine.den];
        self.0.iter().zip(counts).map(|(factor, count)| factor * count).sum()
    }
}
