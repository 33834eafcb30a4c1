//! Fits sums of trees: gradient boosting with Newton steps (Friedman, 2001; Chen and Guestrin, 2016), oblivious trees, in which
//! all nodes of a level use the same split (Kohavi, 1994), and features in histograms. Deterministic: rows are sampled by a
//! hash of their number.
//!
//! The trees have the engine's own format and are so small that fitting them takes seconds; a library would require its own
//! format.

use builtin::{BoostedTrees, DEPTH, DecisionTree};
use rayon::prelude::*;

/// Maximum thresholds per feature.
const BINS: usize = 64;
/// Number of rows from which thresholds are computed.
const SAMPLED_ROWS: usize = 100_000;
/// Maximum rows per tree; above this number, each tree gets a sample.
const ROWS_PER_TREE: usize = 250_000;
/// Regularization: shrinks leaves with few rows.
const RIDGE: f64 = 20.0;

/// Loss function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Labels are 0 or 1; the sum is a logit.
    Logistic,
    /// Labels are numbers, and so is the sum.
    Squared,
}

impl Loss {
    /// First and second derivative at a sum.
    fn slope(self, sum: f64, label: f64) -> (f64, f64) {
        match self {
            Loss::Logistic => {
                let probability = 1.0 / (1.0 + (-sum).exp());
                (probability - label, (probability * (1.0 - probability)).max(1e-6))
            }
            Loss::Squared => (sum - label, 1.0),
        }
    }

    /// Returns the best constant prediction.
    fn base(self, mean: f64) -> f64 {
        match self {
            Loss::Logistic => (mean.max(1e-6) / (1.0 - mean).max(1e-6)).ln(),
            Loss::Squared => mean,
        }
    }
}

/// Size of the fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoostingPlan {
    pub(crate) loss: Loss,
    pub(crate) trees: usize,
    /// Learning rate.
    pub(crate) rate: f64,
}

/// Rows of features with their labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureRows {
    width: usize,
    values: Vec<f32>,
    labels: Vec<f32>,
}

impl FeatureRows {
    pub(crate) fn new(width: usize) -> FeatureRows {
        FeatureRows { width, ..FeatureRows::default() }
    }

    pub(crate) fn push(&mut self, features: &[f32], label: f64) {
        assert_eq!(features.len(), self.width, "a row of another table");
        self.values.extend(features);
        self.labels.push(label as f32);
    }

    pub(crate) fn extend(&mut self, other: &FeatureRows) {
        self.values.extend(&other.values);
        self.labels.extend(&other.labels);
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    fn column(&self, feature: usize) -> impl Iterator<Item = f32> {
        self.values.iter().skip(feature).step_by(self.width).copied()
    }
}

/// One feature of all rows, as bin numbers.
struct BinnedColumn {
    /// A value in bin `b` exceeds the first `b` of these.
    thresholds: Vec<f32>,
    bins: Vec<u8>,
}

impl BinnedColumn {
    fn new(rows: &FeatureRows, feature: usize) -> BinnedColumn {
        let step = rows.len().div_ceil(SAMPLED_ROWS).max(1);
        let mut sorted: Vec<f32> = rows.column(feature).step_by(step).collect();
        sorted.sort_by(f32::total_cmp);
        let mut thresholds: Vec<f32> = (1..BINS)
            .map(|bin| sorted[(sorted.len() - 1) * bin / BINS])
            .filter(|&threshold| threshold < sorted[sorted.len() - 1])
            .collect();
        thresholds.dedup();
        let bin = |value: f32| thresholds.partition_point(|&threshold| value > threshold) as u8;
        BinnedColumn { bins: rows.column(feature).map(bin).collect(), thresholds }
    }
}

/// Sums of the gradients and second derivatives in a bin.
type Sums = (f64, f64);

/// Fits trees to the rows.
pub(crate) fn boost(rows: &FeatureRows, plan: &BoostingPlan) -> BoostedTrees {
    let count = rows.len();
    if count == 0 {
        return BoostedTrees::from_fitted(0.0, Vec::new());
    }
    let columns: Vec<BinnedColumn> =
        (0..rows.width).into_par_iter().map(|feature| BinnedColumn::new(rows, feature)).collect();
    let mean = rows.labels.iter().map(|&label| f64::from(label)).sum::<f64>() / count as f64;
    let base = plan.loss.base(mean);
    let mut sums = vec![base; count];
    let mut trees = Vec::with_capacity(plan.trees);
    for number in 0..plan.trees {
        let drawn: Vec<usize> = (0..count).filter(|&row| is_drawn(row, number, count)).collect();
        let slopes: Vec<Sums> =
            drawn.par_iter().map(|&row| plan.loss.slope(sums[row], f64::from(rows.labels[row]))).collect();
        let tree = grow(&columns, &drawn, &slopes, plan.rate);
        sums.par_iter_mut()
            .zip(rows.values.par_chunks(rows.width))
            .for_each(|(sum, features)| *sum += f64::from(tree.leaf(features)));
        trees.push(tree);
    }
    BoostedTrees::from_fitted(base as f32, trees)
}

/// Whether a tree's sample contains the row.
fn is_drawn(row: usize, tree: usize, count: usize) -> bool {
    let mixed = (row as u64 ^ (tree as u64) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0x94D0_49BB_1331_11EB);
    count <= ROWS_PER_TREE
        || ((mixed >> 11) as f64 / (1u64 << 53) as f64) < ROWS_PER_TREE as f64 / count as f64
}

fn grow(columns: &[BinnedColumn], drawn: &[usize], slopes: &[Sums], rate: f64) -> DecisionTree {
    let mut leaf_of = vec![0u8; drawn.len()];
    let mut splits = [(0, f32::INFINITY); DEPTH];
    for (level, split) in splits.iter_mut().enumerate() {
        let best = columns
            .par_iter()
            .enumerate()
            .map(|(feature, column)| (best_threshold(column, drawn, slopes, &leaf_of, 1 << level), feature))
            .reduce_with(|one, other| if other.0.0 > one.0.0 { other } else { one });
        let bins = best.map(|((_, bin), feature)| (feature, bin));
        let Some((feature, bin)) = bins.filter(|&(feature, bin)| bin < columns[feature].thresholds.len())
        else {
            // No split is left: all rows are alike.
            leaf_of.iter_mut().for_each(|leaf| *leaf <<= 1);
            continue;
        };
        *split = (feature as u8, columns[feature].thresholds[bin]);
        for (leaf, &row) in leaf_of.iter_mut().zip(drawn) {
            *leaf = *leaf << 1 | u8::from(usize::from(columns[feature].bins[row]) > bin);
        }
    }
    let mut leaves = [(0.0, 0.0); 1 << DEPTH];
    for (&leaf, slope) in leaf_of.iter().zip(slopes) {
        add(&mut leaves[usize::from(leaf)], slope);
    }
    DecisionTree {
        splits,
        leaves: leaves.map(|(slope, curve): Sums| (-rate * slope / (curve + RIDGE)) as f32),
    }
}

fn add(sums: &mut Sums, slope: &Sums) {
    sums.0 += slope.0;
    sums.1 += slope.1;
}

/// Returns the gain of the best threshold, and the last bin below it.
fn best_threshold(
    column: &BinnedColumn,
    drawn: &[usize],
    slopes: &[Sums],
    leaf_of: &[u8],
    leaves: usize,
) -> (f64, usize) {
    let mut histogram = vec![(0.0, 0.0); leaves * BINS];
    for ((&row, slope), &leaf) in drawn.iter().zip(slopes).zip(leaf_of) {
        add(&mut histogram[usize::from(leaf) * BINS + usize::from(column.bins[row])], slope);
    }
    let gain = |(slope, curve): Sums| slope * slope / (curve + RIDGE);
    let mut gains = vec![0.0; column.thresholds.len()];
    for leaf in histogram.chunks(BINS) {
        let mut all = (0.0, 0.0);
        leaf.iter().for_each(|bin| add(&mut all, bin));
        let mut below = (0.0, 0.0);
        for (gained, bin) in gains.iter_mut().zip(leaf) {
            add(&mut below, bin);
            *gained += gain(below) + gain((all.0 - below.0, all.1 - below.1)) - gain(all);
        }
    }
    let best =
        (0..gains.len()).max_by(|&one, &other| gains[one].total_cmp(&gains[other]).then(other.cmp(&one)));
    best.map_or((f64::NEG_INFINITY, usize::MAX), |best| (gains[best], best))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The label depends on whether two features are large; the third is noise.
    fn rows() -> FeatureRows {
        let mut rows = FeatureRows::new(3);
        for number in 0..4000u32 {
            let bit = |place: u32| f32::from(u8::from(number >> place & 1 == 1));
            let is_right = bit(0) + bit(1) == 2.0;
            rows.push(&[bit(0), number as f32, bit(1)], f64::from(u8::from(is_right)));
        }
        rows
    }

    #[test]
    fn interaction_of_two_features_is_learnt() {
        let plan = BoostingPlan { loss: Loss::Logistic, trees: 40, rate: 0.3 };
        let trees = boost(&rows(), &plan);
        let likely = |features: [f32; 3]| trees.probability(&features);
        assert!(likely([1.0, 7.0, 1.0]) > 0.95);
        assert!(
            likely([1.0, 7.0, 0.0]) < 0.05
                && likely([0.0, 7.0, 1.0]) < 0.05
                && likely([0.0, 7.0, 0.0]) < 0.05
        );
        assert_eq!(trees, boost(&rows(), &plan));
    }

    #[test]
    fn squared_loss_approximates_numbers() {
        let mut rows = FeatureRows::new(1);
        (0..1000).for_each(|number| rows.push(&[number as f32], f64::from(number % 1000) / 100.0));
        let trees = boost(&rows, &BoostingPlan { loss: Loss::Squared, trees: 60, rate: 0.3 });
        for value in [50.0, 500.0, 900.0f32] {
            assert!((trees.score(&[value]) - f64::from(value) / 100.0).abs() < 0.3, "{value}");
        }
        assert_eq!(
            boost(&FeatureRows::new(1), &BoostingPlan { loss: Loss::Squared, trees: 3, rate: 0.3 })
                .score(&[1.0]),
            0.0
        );
    }
}
