//! The families of stacks: adding one is a folder and a line here.

use keymark_bench::layers::Layers;

use crate::provider::StackFamily;
use crate::{gnupg, openssl, raw, ssh};

/// In the order of tables.
pub const FAMILIES: &[StackFamily] = &[raw::FAMILY, gnupg::FAMILY, ssh::FAMILY, openssl::FAMILY];

/// How the stacks of each family lie on one another.
pub fn layers() -> Vec<Layers> {
    let families = FAMILIES.iter();
    families.filter_map(|family| (family.layers)()).collect()
}
