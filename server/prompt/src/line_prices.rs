//! Prices of lines, remembered from prompt to prompt: while a user types, nearly all lines of a prompt are those of the one before.
//!
//! A price depends on nothing but the line, so remembering it changes no prompt.

use std::cell::RefCell;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::template::Template;
use crate::token_estimate::LinePrice;

/// Maximum length in bytes of the lines of a generation: those of several prompts.
const GENERATION_BYTES: usize = 128 << 10;

/// Maximum number of lines of a generation. Also bounds the time for lines that were made to have the same hash.
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

#[derive(Debug, Default)]
struct Generation {
    prices: HashMap<Box<str>, LinePrice, FxBuildHasher>,
    /// Length of these lines.
    bytes: usize,
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
        if line.len() <= GENERATION_BYTES {
            self.0.borrow_mut().insert(line.into(), price);
        }
    }
}

impl PriceCache {
    fn get(&mut self, line: &str) -> Option<LinePrice> {
        if let Some(price) = self.current.prices.get(line) {
            return Some(*price);
        }
        let (line, price) = self.previous.prices.remove_entry(line)?;
        self.previous.bytes -= line.len();
        self.insert(line, price);
        Some(price)
    }

    fn insert(&mut self, line: Box<str>, price: LinePrice) {
        let is_full = self.current.prices.len() == GENERATION_LINES;
        if is_full || self.current.bytes + line.len() > GENERATION_BYTES {
            self.previous = std::mem::take(&mut self.current);
        }
        self.current.bytes += line.len();
        self.current.prices.insert(line, price);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_families::FAMILIES;

    fn remembered(prices: &LinePrices) -> usize {
        let remembered = prices.0.borrow();
        let generations = [&remembered.current, &remembered.previous];
        let lengths = generations.map(|generation| {
            let bytes: usize = generation.prices.keys().map(|line| line.len()).sum();
            assert_eq!(bytes, generation.bytes);
            bytes
        });
        lengths.iter().sum()
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
