//! Libraries that calculate in place of the OpenSSL that is built in, with the same test keys.

use std::fmt::{Debug, Display};

use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_bench::{Algorithm, During as _, Error, Family, Operation};

use crate::test_key::TestKey;

/// A library that was found and loaded.
pub trait Loaded: Debug {
    /// Its version.
    fn version(&self) -> String;

    fn capabilities(&self) -> Vec<Capability>;

    /// A handle on a key; its answers are in OpenSSL's form.
    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error>;
}

/// All that can be done with keys of the families that a library has.
pub(super) fn capabilities_of(has: impl Fn(Family) -> bool) -> Vec<Capability> {
    Algorithm::all()
        .filter(|algorithm| has(algorithm.family()))
        .flat_map(Capability::of)
        .collect()
}

pub(super) fn missing(what: String, reason: String, package: &str) -> Error {
    Error::Missing {
        what,
        reason,
        advice: format!("install it with 'apt-get install {package}' (Debian, Ubuntu)"),
    }
}

/// A handle whose operation is one call, which errors name.
pub(super) fn call<E: Display>(
    name: &'static str,
    function: impl FnMut(&[u8], &mut [u8]) -> Result<usize, E> + Send + 'static,
) -> Box<dyn KeyHandle> {
    Box::new(Call { name, function })
}

struct Call<F> {
    name: &'static str,
    function: F,
}

impl<E: Display, F> KeyHandle for Call<F>
where
    F: FnMut(&[u8], &mut [u8]) -> Result<usize, E> + Send,
{
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed(self.name, (self.function)(&input.bytes, output))
    }
}

/// A handle that agrees on secrets: with what is set up for a peer, once and untimed, and the call that is timed. Errors
/// name both.
pub(super) fn agreement<P: Send + 'static, S: Display, D: Display>(
    calls: [&'static str; 2],
    set_up: impl FnMut(&[u8]) -> Result<P, S> + Send + 'static,
    derive: impl FnMut(&mut P, &mut [u8]) -> Result<usize, D> + Send + 'static,
) -> Box<dyn KeyHandle> {
    Box::new(Agreement {
        calls,
        set_up,
        derive,
        peers: Vec::new(),
        current: 0,
    })
}

struct Agreement<P, S, D> {
    calls: [&'static str; 2],
    set_up: S,
    derive: D,
    peers: Vec<(Vec<u8>, P)>,
    current: usize,
}

impl<P: Send, S, D, SetUp: Display, Derive: Display> KeyHandle for Agreement<P, S, D>
where
    S: FnMut(&[u8]) -> Result<P, SetUp> + Send,
    D: FnMut(&mut P, &mut [u8]) -> Result<usize, Derive> + Send,
{
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        let mut known = self.peers.iter();
        self.current = match known.position(|(point, _)| *point == input.bytes) {
            Some(known) => known,
            None => {
                let peer = (self.set_up)(&input.bytes).during(self.calls[0])?;
                self.peers.push((input.bytes.clone(), peer));
                self.peers.len() - 1
            }
        };
        Ok(())
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let [_, call] = self.calls;
        match self.peers.get_mut(self.current) {
            Some((_, peer)) => performed(call, (self.derive)(peer, output)),
            None => Err(Error::call(call, "it was not armed", "")),
        }
    }
}

pub(super) fn performed<E: Display>(
    call: &'static str,
    result: Result<usize, E>,
) -> Result<Performed, Error> {
    match result {
        Ok(length) => Ok(Performed { length, cpu: None }),
        Err(error) => Err(Error::call(call, error, "")),
    }
}
