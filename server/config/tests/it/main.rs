//! The configuration as its callers use it.

mod docs;
mod engines;
mod files;
mod fixture;
mod layers;
mod messages;
mod random;
mod reload;
mod trust;
