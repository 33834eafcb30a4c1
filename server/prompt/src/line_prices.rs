//! Prices of lines, remembered from prompt to prompt: while a user types, nearly all lines of a prompt are those of the one before, in
//! the same order.
//!
//! A price depends on nothing but the line, so remembering it changes no prompt.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::template::Template;
use crate::token_estimate::LinePrice;

/// Maximum length in bytes of the lines of a generation: those of several prompts.
const GENERATION_BYTES: usize = 128 << 10;

/// Maximum number of lines of a generation.
const GENERATION_LINES: usize = 4096;

/// The prices of lines of earlier prompts, without lines that contain special tokens of the template.
#[derive(Debug, Default)]
pub struct LinePrices(RefCell<PriceCache>);

#[derive(Debug, Default)]
struct PriceCache {
    /// The template of these prompts.
    template: Option<Template>,
    /// The lines that were needed last.
    current: Generation,
    /// Lines that were needed before; dropped as soon as the current generation is full.
    previous: Generation,
}

/// Lines in the order in which they were needed first.
#[derive(Debug, Default)]
struct Generation {
    /// The lines, one after the other.
    text: String,
    lines: Vec<(Range<usize>, LinePrice)>,
    /// Index of the line with a hash. Of several, the last one.
    by_hash: HashMap<u64, usize, FxBuildHasher>,
    /// Index of the line that probably is needed next: the one behind the line needed last.
    next: usize,
}

impl LinePrices {
    /// Forgets the lines of prompts with other special tokens.
    pub(crate) fn begin_prompt(&self, template: &Template) {
        let mut remembered = self.0.borrow_mut();
        if remembered.template.as_ref() != Some(template) {
            *remembered = PriceCache { template: Some(template.clone()), ..PriceCache::default() };
        }
    }

    /// Returns the price of a line.
    pub(crate) fn get(&self, line: &str) -> Option<LinePrice> {
        self.0.borrow_mut().get(line)
    }

    /// Remembers the price of a line without special tokens.
    pub(crate) fn insert(&self, line: &str, price: LinePrice) {
        self.0.borrow_mut().insert(line, price);
    }
}

impl PriceCache {
    fn get(&mut self, line: &str) -> Option<LinePrice> {
        if let Some(price) = self.current.get(line) {
            return Some(price);
        }
        let price = self.previous.get(line)?;
        self.insert(line, price);
        Some(price)
    }

    fn insert(&mut self, line: &str, price: LinePrice) {
        if line.len() > GENERATION_BYTES {
            return;
        }
        let is_full = self.current.lines.len() == GENERATION_LINES;
        if is_full || self.current.text.len() + line.len() > GENERATION_BYTES {
            self.previous = std::mem::take(&mut self.current);
        }
        self.current.insert(line, price);
    }
}

impl Generation {
    fn get(&mut self, line: &str) -> Option<LinePrice> {
        // Comparing a line is faster than looking it up.
        let price = self.price_at(self.next, line);
        if price.is_some() {
            self.next += 1;
            return price;
        }
        let at = *self.by_hash.get(&FxBuildHasher.hash_one(line))?;
        let price = self.price_at(at, line)?;
        self.next = at + 1;
        Some(price)
    }

    /// Returns the price of a line if it is the one at this index.
    fn price_at(&self, index: usize, line: &str) -> Option<LinePrice> {
        let (range, price) = self.lines.get(index)?;
        (self.text[range.clone()] == *line).then_some(*price)
    }

    fn insert(&mut self, line: &str, price: LinePrice) {
        let start = self.text.len();
        self.text.push_str(line);
        self.by_hash.insert(FxBuildHasher.hash_one(line), self.lines.len());
        self.lines.push((start..self.text.len(), price));
        self.next = self.lines.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_families::FAMILIES;

    fn remembered(prices: &LinePrices) -> usize {
        let remembered = prices.0.borrow();
        [&remembered.current, &remembered.previous].map(|generation| generation.text.len()).iter().sum()
    }

    #[test]
    fn lines_in_use_are_kept_and_others_are_forgotten() {
        let prices = LinePrices::default();
        prices.insert("used\n", LinePrice::of("used\n"));
        prices.insert("unused\n", LinePrice::of("unused\n"));
        for number in 0..50_000 {
            let line = format!("value_{number} = compute({number})\n");
            prices.insert(&line, LinePrice::of(&line));
            assert_eq!(prices.get("used\n"), Some(LinePrice::of("used\n")));
        }
        assert_eq!(prices.get("unused\n"), None);
        assert!(remembered(&prices) <= 2 * GENERATION_BYTES);
    }

    #[test]
    fn lines_are_found_in_any_order() {
        let prices = LinePrices::default();
        let lines = ["a = 1\n", "\n", "b = [2, 3]\n", "\n", "c\n"];
        for line in lines {
            prices.insert(line, LinePrice::of(line));
        }
        for line in lines.iter().chain(lines.iter().rev()).chain([&lines[2], &lines[2], &lines[0]]) {
            assert_eq!(prices.get(line), Some(LinePrice::of(line)), "{line:?}");
        }
        assert_eq!(prices.get("b = [2, 4]\n"), None);
    }

    #[test]
    fn very_long_lines_are_not_remembered() {
        let prices = LinePrices::default();
        let line = "x".repeat(GENERATION_BYTES + 1);
        prices.insert("short", LinePrice::of("short"));
        prices.insert(&line, LinePrice::of(&line));
        assert_eq!(prices.get(&line), None);
        assert!(prices.get("short").is_some());
    }

    #[test]
    fn another_template_begins_anew() {
        let prices = LinePrices::default();
        let [one, other] = [0, 1].map(|family| Template::Family(&FAMILIES[family]));
        for (template, is_known) in [(&one, false), (&one, true), (&other, false)] {
            prices.begin_prompt(template);
            assert_eq!(prices.get("x\n").is_some(), is_known);
            prices.insert("x\n", LinePrice::of("x\n"));
        }
    }
}
