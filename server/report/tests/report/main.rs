//! What readers get: terminal, page, Markdown and JSON of a made-up run.

mod costs;
mod cross_file;
mod docs;
mod explained;
mod fixture;
mod page;
mod retrieval;
mod tables;
mod terminal;
