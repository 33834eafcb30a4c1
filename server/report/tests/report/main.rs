//! What readers get: terminal, page, Markdown and JSON of a made-up run.

mod costs;
mod cross_file;
mod docs;
mod explanation;
mod failures;
mod fixture;
mod mixed;
mod page;
mod retrieval;
mod stopping;
mod tables;
mod terminal;
