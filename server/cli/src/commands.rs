//! One file per command; each says what its arguments mean and calls the steps in order.

pub mod mine;
pub mod replay;
pub mod report;
pub mod try_command;
