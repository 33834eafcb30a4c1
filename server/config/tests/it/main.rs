//! The public interface of the configuration.

mod docs;
mod engines;
mod files;
mod fixture;
mod layers;
mod messages;
mod random;
mod reload;
mod trust;
