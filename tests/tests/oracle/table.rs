//! Shares by scenario and language.

use std::collections::BTreeMap;
use std::fmt;

use crate::mined_cases::MinedCase;

/// Numbers of right answers and of all, by language and by scenario, variant and cut.
#[derive(Default)]
pub(crate) struct Table {
    all: [usize; 2],
    rows: BTreeMap<String, [usize; 2]>,
}

impl Table {
    pub(crate) fn count(&mut self, mined: &MinedCase, is_right: bool) {
        let case = &mined.case;
        let variant = case.task.variant().unwrap_or_default();
        let cut = case.tags.get("cut").map_or("", |cut| cut);
        let rows = [case.language.clone(), format!("{} {variant} {cut}", case.scenario())];
        let right = usize::from(is_right);
        let add = |[rights, all]: [usize; 2]| [rights + right, all + 1];
        self.all = add(self.all);
        for row in rows {
            let counts = self.rows.entry(row).or_default();
            *counts = add(*counts);
        }
    }

    pub(crate) fn share(&self) -> f64 {
        self.all[0] as f64 / self.all[1].max(1) as f64
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [("all".to_owned(), self.all)];
        for (row, [right, all]) in all.iter().map(|(row, counts)| (row, counts)).chain(&self.rows) {
            writeln!(
                f,
                "{row:45} {right:>6} of {all:>6} {:>7.2} %",
                100.0 * *right as f64 / (*all).max(1) as f64
            )?;
        }
        Ok(())
    }
}
