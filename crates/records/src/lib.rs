//! Runs as they are kept and passed on: the [`archive`] stores them in SQLite or PostgreSQL, [`exchange`] writes and reads them
//! as files; [`published`] has the figures of others.

pub mod archive;
pub mod exchange;
pub mod published;
pub mod visible;
