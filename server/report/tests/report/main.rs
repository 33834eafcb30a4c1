//! Reports of a made-up run: terminal, page, Markdown, JSON and CSV.

mod comparison;
mod costs;
mod cross_file;
mod csv;
mod cutoffs;
mod docs;
mod failures;
mod fixture;
mod gates;
mod inspect_log;
mod mixed;
mod page;
mod stopping;
mod tables;
mod terminal;
mod trial;
mod watch;
