//! One file per command; each interprets its arguments and calls the steps in order.

pub(crate) mod build;
pub(crate) mod collect;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod engines;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod judge;
pub(crate) mod lsp;
pub(crate) mod manual;
pub(crate) mod mine;
pub(crate) mod ray_worker;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod retrieve;
pub(crate) mod score;
pub(crate) mod serve;
pub(crate) mod trial;
pub(crate) mod trust;
pub(crate) mod try_command;
pub(crate) mod watch;
