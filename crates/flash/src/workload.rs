//! Writes of a token in use, drawn from a seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use strum::{Display, EnumString, VariantArray};

use crate::object::{KEY_HEADER_BYTES, MAX_SIGNATURE_COUNT, ObjectId};
use crate::record::counter_bytes;

/// Use of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray)]
#[strum(
    serialize_all = "kebab-case",
    parse_err_ty = String,
    parse_err_fn = unknown
)]
pub enum Workload {
    /// Signatures, each of which increments the counter.
    Signatures,
    /// 85 % signatures, 10 % PIN counts, 3 % data objects, 1 % keys of RSA-2048 and RSA-4096, 1 % certificates
    /// (assumed: more changes than a token in use sees).
    Mixed,
}

fn unknown(name: &str) -> String {
    format!("unknown workload '{name}'; choose signatures or mixed")
}

/// New value of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Object written.
    pub object: ObjectId,
    /// Its new value.
    pub value: Vec<u8>,
}

impl Workload {
    /// Every workload.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns an endless sequence of writes, equal for equal seeds. It expects a token with the objects of
    /// [`provisioning`].
    pub fn writes(self, seed: u64) -> impl Iterator<Item = Write> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1 + self as u64);
        let mut signatures = 0;
        std::iter::repeat_with(move || {
            let signs = self == Self::Signatures;
            let objects: &[ObjectId] = match rng.random_range(0..100u8) {
                choice if signs || choice < 85 => &[ObjectId::SignatureCounter],
                85..95 => &ObjectId::PIN_COUNTERS,
                95..98 => &ObjectId::DATA,
                98 => &ObjectId::KEYS,
                _ => &[ObjectId::Certificate],
            };
            let object = objects[rng.random_range(0..objects.len())];
            let values = match object {
                ObjectId::SignatureCounter => {
                    signatures = (signatures + 1).min(MAX_SIGNATURE_COUNT);
                    vec![counter_bytes(signatures)]
                }
                // One or two wrong PINs, then the right one.
                _ if object.is_counter() => (1..=rng.random_range(1..=2u8))
                    .chain([0])
                    .map(|errors| vec![errors])
                    .collect(),
                _ => vec![random_value(object, &mut rng)],
            };
            values.into_iter().map(move |value| Write { object, value })
        })
        .flatten()
    }
}

/// Returns the writes that prepare a new token: every object once.
pub fn provisioning(seed: u64) -> Vec<Write> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    ObjectId::ALL
        .iter()
        .map(|&object| {
            let value = match object.is_counter() {
                true => vec![0; object.max_bytes()],
                false => random_value(object, &mut rng),
            };
            Write { object, value }
        })
        .collect()
}

/// A value with the length of one in use.
fn random_value(object: ObjectId, rng: &mut ChaCha8Rng) -> Vec<u8> {
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
