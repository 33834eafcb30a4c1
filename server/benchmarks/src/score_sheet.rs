//! The results of files that a benchmark's own tools made, as tables of numbers in the original's terms.

/// Ids that are kept of those that a message would name.
const KEPT_IDS: usize = 20;

/// Results of a benchmark's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreSheet {
    /// The original's tables.
    pub tables: Vec<ScoreTable>,
    /// Number of cases.
    pub cases: usize,
    /// Number of predictions for these cases.
    pub predictions: usize,
    /// Cases without a prediction.
    pub missing: CountedIds,
    /// Predictions for unknown cases.
    pub unknown: CountedIds,
    /// Further predictions for a case that has one; they are not scored.
    pub repeated: CountedIds,
    /// Where the original's program differs from its description.
    pub differences: Vec<RuleDifference>,
    /// Remarks on the numbers.
    pub notes: Vec<String>,
}

impl ScoreSheet {
    /// Adds the results of further files: rows of a table are appended to the table of the same name.
    pub fn merge(&mut self, other: ScoreSheet) {
        for table in other.tables {
            match self.tables.iter_mut().find(|known| known.name == table.name) {
                Some(known) => known.rows.extend(table.rows),
                None => self.tables.push(table),
            }
        }
        self.cases += other.cases;
        self.predictions += other.predictions;
        self.missing.merge(other.missing);
        self.unknown.merge(other.unknown);
        self.repeated.merge(other.repeated);
        for difference in other.differences {
            match self.differences.iter_mut().find(|known| known.topic == difference.topic) {
                Some(known) => known.affected += difference.affected,
                None => self.differences.push(difference),
            }
        }
        self.notes.extend(other.notes);
    }

    /// Gives the rows of all tables other names.
    pub fn name_rows(&mut self, rename: impl Fn(&str) -> String) {
        for (name, _) in self.tables.iter_mut().flat_map(|table| &mut table.rows) {
            *name = rename(name);
        }
    }
}

/// Which picture shows a table besides its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TablePicture {
    /// None.
    #[default]
    None,
    /// A curve per row: the columns up to the last one are thresholds, the values shares from 0 to 1.
    Curves,
    /// A heat map: the values are shares from 0 to 1.
    HeatMap,
}

/// A table of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreTable {
    /// Its name.
    pub name: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows with their names; `None` where there is no number.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// How it is drawn.
    pub picture: TablePicture,
}

/// The number of some ids, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedIds {
    /// Number of ids.
    pub count: usize,
    /// The first ids.
    pub first: Vec<String>,
}

impl CountedIds {
    /// Counts an id.
    pub fn add(&mut self, id: &str) {
        self.count += 1;
        if self.first.len() < KEPT_IDS {
            self.first.push(id.to_owned());
        }
    }

    fn merge(&mut self, other: CountedIds) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(KEPT_IDS);
    }
}

/// A point in which the original's program differs from the benchmark's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleDifference {
    /// The subject, such as `indentation`.
    pub topic: &'static str,
    /// The rule of the description.
    pub paper: &'static str,
    /// The rule of the program.
    pub faithful: &'static str,
    /// Number of cases or answers that the two rules treat differently.
    pub affected: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_beyond_the_limit_are_counted() {
        let mut ids = CountedIds::default();
        (0..KEPT_IDS + 5).for_each(|id| ids.add(&id.to_string()));
        assert_eq!((ids.count, ids.first.len()), (KEPT_IDS + 5, KEPT_IDS));
    }
}
