//! What a token is used for, as endless sequences of writes drawn from a seed.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use strum::{Display, EnumString, VariantArray};

use crate::error::StorageError;
use crate::object::{KEY_HEADER_BYTES, MAX_SIGNATURE_COUNT, ObjectId};
use crate::record::counter_bytes;

/// A use of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray)]
#[strum(
    serialize_all = "kebab-case",
    parse_err_ty = StorageError,
    parse_err_fn = unknown
)]
pub enum Workload {
    /// The counter goes up with every signature.
    Signatures,
    /// Wrong tries of a PIN, then the right one.
    PinCounters,
    /// Keys of RSA-2048 and RSA-4096 are imported over others, some removed before.
    KeyReplacement,
    /// The certificate is updated.
    CertificateUpdate,
    /// Of 100 uses 85 are signatures, 10 PIN counts, 3 data objects, 1 a key, 1 a certificate
    /// (assumed: more changes than a token in use sees).
    Mixed,
}

fn unknown(name: &str) -> StorageError {
    StorageError::unknown("workload", name, Workload::ALL)
}

/// One write; a removal is one too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Object written.
    pub object: ObjectId,
    /// What becomes of it.
    pub change: Change,
}

/// What becomes of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It gets this value.
    Put(Vec<u8>),
    /// It is removed.
    Remove,
}

impl Write {
    /// Whether it counts a signature.
    pub fn is_signature(&self) -> bool {
        self.object == ObjectId::SignatureCounter
    }
}

impl Workload {
    /// Every workload.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its writes, without end; the same for the same seed. The token holds what
    /// [`provisioning`] writes.
    pub fn writes(self, seed: u64) -> Writes {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1 + self as u64);
        Writes {
            workload: self,
            rng,
            signatures: 0,
            pending: VecDeque::new(),
        }
    }
}

/// The writes that make a new token usable: every object once.
pub fn provisioning(seed: u64) -> Vec<Write> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    ObjectId::ALL
        .iter()
        .copied()
        .map(|object| match object {
            ObjectId::SignatureCounter => signature_count(0),
            _ if object.is_counter() => put(object, vec![0]),
            _ => put(object, fresh(object, &mut rng)),
        })
        .collect()
}

/// A value such as the object has in use.
fn fresh(object: ObjectId, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let length = match object {
        ObjectId::SignatureKey | ObjectId::DecryptionKey | ObjectId::AuthenticationKey => {
            KEY_HEADER_BYTES + [256, 512][rng.random_range(0..2)]
        }
        ObjectId::Certificate => rng.random_range(1000..=object.max_bytes()),
        ObjectId::Fingerprints => object.max_bytes(),
        _ => rng.random_range(20..=object.max_bytes()),
    };
    let mut value = vec![0; length];
    rng.fill(value.as_mut_slice());
    value
}

fn put(object: ObjectId, value: Vec<u8>) -> Write {
    Write {
        object,
        change: Change::Put(value),
    }
}

fn signature_count(count: u32) -> Write {
    put(ObjectId::SignatureCounter, counter_bytes(count))
}

/// What [`Workload::writes`] gives.
#[derive(Debug, Clone)]
pub struct Writes {
    workload: Workload,
    rng: ChaCha8Rng,
    signatures: u32,
    pending: VecDeque<Write>,
}

impl Writes {
    fn refill(&mut self, workload: Workload) {
        match workload {
            Workload::Signatures => {
                self.signatures = (self.signatures + 1).min(MAX_SIGNATURE_COUNT);
                self.pending.push_back(signature_count(self.signatures));
            }
            Workload::PinCounters => {
                let object = ObjectId::PIN_COUNTERS[self.rng.random_range(0..3)];
                let wrong = self.rng.random_range(1..=2u8);
                self.pending.extend(
                    (1..=wrong)
                        .chain([0])
                        .map(|errors| put(object, vec![errors])),
                );
            }
            Workload::KeyReplacement => {
                let object = ObjectId::KEYS[self.rng.random_range(0..3)];
                if self.rng.random_ratio(1, 4) {
                    self.pending.push_back(Write {
                        object,
                        change: Change::Remove,
                    });
                }
                let key = fresh(object, &mut self.rng);
                self.pending.push_back(put(object, key));
            }
            Workload::CertificateUpdate => {
                let value = fresh(ObjectId::Certificate, &mut self.rng);
                self.pending.push_back(put(ObjectId::Certificate, value));
            }
            Workload::Mixed => match self.rng.random_range(0..100u8) {
                0..85 => self.refill(Workload::Signatures),
                85..95 => self.refill(Workload::PinCounters),
                95..98 => {
                    let object = ObjectId::DATA[self.rng.random_range(0..ObjectId::DATA.len())];
                    let value = fresh(object, &mut self.rng);
                    self.pending.push_back(put(object, value));
                }
                98 => self.refill(Workload::KeyReplacement),
                _ => self.refill(Workload::CertificateUpdate),
            },
        }
    }
}

impl Iterator for Writes {
    type Item = Write;

    fn next(&mut self) -> Option<Write> {
        if self.pending.is_empty() {
            self.refill(self.workload);
        }
        self.pending.pop_front()
    }
}
