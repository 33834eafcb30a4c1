//! What readers get: terminal, page, Markdown and JSON of a made-up run.

mod docs;
mod fixture;
mod page;
mod tables;
mod terminal;
