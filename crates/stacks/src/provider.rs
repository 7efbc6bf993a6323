//! The seam to families of stacks: what each offers on a device, what its operations cost, and how it is
//! opened.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::Stack;
use keymark_bench::{
    Comparison, Dimension, Error, Layers, Parameters, StackName, Standing, Worker,
};
use keymark_stats::Distribution;
use keymark_stores::device::{Device, Run};
use keymark_stores::store::KeyStore;

/// A family as [`crate::registry`] has it, before its programs were looked for.
#[derive(Debug, Clone, Copy)]
pub struct StackFamily {
    /// Its stacks, from the bottom up.
    pub stacks: fn() -> Vec<StackName>,
    /// Part of a plan that names no stack, or not: it looks for the programs of no other.
    pub standing: Standing,
    /// Looks for its programs; none of a family whose cases are loads on servers, which no runner drives.
    pub look: Option<fn() -> Box<dyn StackProvider>>,
    /// Dimensions of its stacks, in the order of display.
    pub dimensions: &'static [Dimension],
    /// Layers of its stacks, where they have any.
    pub layers: fn() -> Option<Layers>,
    /// Comparisons of the rates of its cases.
    pub comparisons: &'static [Comparison],
    /// The tokens that operations of a load wait for, and which of them is given the next one.
    pub tokens: fn(&Parameters) -> Option<(u8, Distribution)>,
}

impl StackFamily {
    /// A family of nothing that only plans naming it measure, to begin others with.
    pub(crate) const ON_REQUEST: Self = Self {
        stacks: Vec::new,
        standing: Standing::OnRequest,
        look: None,
        dimensions: &[],
        layers: || None,
        comparisons: &[],
        tokens: |_| None,
    };
}

/// Makes a stack ready on a key store.
pub type Opener = Box<dyn Fn(StackName, Arc<dyn KeyStore>) -> Box<dyn Stack>>;

/// A family whose programs were looked for.
pub trait StackProvider: Debug {
    /// The ways to a device, or why there are none: one for each stack of the family.
    fn ways(&self, device: &dyn Device) -> Vec<Way>;

    /// Versions of programs and libraries between keymark and the device's keys.
    fn versions(&self, _device: &dyn Device) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Prepares the family's stacks for a run, each by its name on a device that is ready. Dropping them ends what was
    /// started.
    fn open(&self, run: &Run) -> Result<Opener, Error>;
}

/// Way of one stack to one device.
#[derive(Debug, Clone)]
pub struct Way {
    pub stack: StackName,
    /// Part of a plan that names no stack, or not.
    pub standing: Standing,
    /// Exactly what can be measured, or why nothing can.
    pub found: Result<Vec<Capability>, Error>,
    /// Operations that are the same work under another name.
    pub synonyms: Vec<Capability>,
    /// The sets of parameters that make a difference.
    pub parameters: Vec<Parameters>,
    /// Kinds of workers: processes where another program can open the key for itself, and is not one anyway.
    pub workers: &'static [Worker],
}

/// `gpg`, `raw libgcrypt`, `raw pss`, `openssl engine`: the stack, with what tells it from others of the same name.
impl Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.only_set().and_then(Parameters::remark) {
            Some(remark) => write!(f, "{} {remark}", self.stack),
            None => write!(f, "{}", self.stack),
        }
    }
}

impl Way {
    /// A way on request, for workers in threads, with these sets of parameters.
    pub(crate) const fn on_request(
        stack: StackName,
        found: Result<Vec<Capability>, Error>,
        parameters: Vec<Parameters>,
    ) -> Self {
        Self {
            stack,
            standing: Standing::OnRequest,
            found,
            synonyms: Vec::new(),
            parameters,
            workers: &[Worker::Thread],
        }
    }

    /// Its parameters, if there is nothing to choose.
    pub fn only_set(&self) -> Option<&Parameters> {
        match self.parameters.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// Checks that the device has keys that other programs see.
pub(crate) fn has_key_on_token(device: &dyn Device) -> Result<(), Error> {
    if !device.present().is_empty() {
        return Ok(());
    }
    let none = || Error::call("reaching a key", "the device has no key on a token", "");
    Err(device
        .token()
        .map_or_else(none, |token| keymark_stores::pkcs11::unseen(&token)))
}
