//! keymark's core: the vocabulary, the plan, the runner and the record.
//!
//! Flow: [`plan::Selection`] and [`plan::Offer`]s become a [`plan::Plan`]; the [`runner::Runner`]
//! prepares, warms up, measures, verifies and cleans up; what it yields is a [`record::Record`].
//! The runner drives [`workload::Stack`]s and knows neither GnuPG nor APDUs.

#![warn(missing_docs)]

pub mod algorithm;
pub mod baseline;
pub mod capability;
pub mod case;
pub mod clock;
pub mod environment;
pub mod error;
pub mod key_family;
pub mod key_use;
pub mod layers;
pub mod operation;
pub mod outlook;
pub mod outside;
pub mod parts;
pub mod plan;
pub mod processor;
pub mod profile;
pub mod record;
pub mod reference;
pub mod runner;
pub mod sample;
pub mod series;
pub mod server_load;
pub mod shipped;
pub mod stop;
pub mod store;
pub mod strength;
pub mod words;

pub use runner::{worker, workload};

// The vocabulary, which everybody speaks.
pub use self::{
    algorithm::*, baseline::*, capability::*, case::*, clock::*, environment::*, error::*,
    key_family::*, key_use::*, layers::*, operation::*, parts::*, plan::*, processor::*,
    profile::*, record::*, sample::*, server_load::*, stop::*, store::*, strength::*,
};
