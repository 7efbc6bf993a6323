//! A key's worth, and until when: its strength by each table, its status by each policy at a date. Every statement has
//! its source, and who read it ([`Verified`]); what nobody could check is not here.

pub mod advise;
pub mod capacity;
pub mod catalogue;
pub mod compatibility;
pub mod cost;
pub mod hsm;
pub mod key_spec;
pub mod policy;
pub mod strength;

use keymark_report::document::{Block, Document, RemarkKind, Section};

pub use keymark_bench::strength::{Strength, Table, Verified};

/// Returns an answer as a document: sentences first, then their basis.
fn answered(said: impl IntoIterator<Item = String>, sections: Vec<Section>) -> Document {
    Document {
        answers: said.into_iter().collect(),
        ..Document::of(sections)
    }
}

/// A line below a table, or in its place, that says where things are from.
fn basis(text: impl Into<String>) -> Block {
    Block::remark(RemarkKind::Basis, text)
}
