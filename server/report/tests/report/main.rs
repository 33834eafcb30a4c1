//! Reports of a made-up run: terminal, page, Markdown and JSON.

mod comparison;
mod costs;
mod cross_file;
mod docs;
mod failures;
mod fixture;
mod gates;
mod mixed;
mod page;
mod stopping;
mod tables;
mod terminal;
mod watch;
