//! Abilities of a device, in words.

use itertools::Itertools;
use keymark_bench::store::Capability;
use keymark_bench::{Assumed, Operation, Provenance, StoreIdentity, StoreKind};

/// Operations of twins, in the order of a card's slots.
const OF_TWINS: [Operation; 3] = [Operation::Decrypt, Operation::Sign, Operation::Authenticate];

/// Lists the operations of a twin, which refuses all others.
pub(crate) fn limits(identity: &StoreIdentity, capabilities: &[Capability]) -> Option<String> {
    if identity.provenance != Provenance::Twin {
        return None;
    }
    let lines = OF_TWINS.iter().map(|operation| {
        let what = of_twin(identity, capabilities, *operation);
        format!("\n  {operation:<12} {what}")
    });
    let (device, lines) = (&identity.device, lines.collect::<String>());
    let text = format!("{device} has only the operations in its profile:{lines}");
    Some(text)
}

/// Names the algorithms that a twin has for an operation; those of assumed times come last.
fn of_twin(identity: &StoreIdentity, capabilities: &[Capability], operation: Operation) -> String {
    // PKCS#11 has no slots: a login with a key asks for a signature.
    if operation == Operation::Authenticate && identity.kind == StoreKind::PKCS11 {
        return "with its signing keys, in the same time".to_owned();
    }
    let of_operation = capabilities.iter().filter(|one| one.operation == operation);
    let (assumed, known): (Vec<_>, Vec<_>) =
        of_operation.partition(|capability| identity.assumed(**capability).is_some());
    let names = |of: &[&Capability]| of.iter().map(|one| one.algorithm).join(" ");
    let (known, assumed) = (names(&known), names(&assumed));
    let basis = Assumed::AsDecrypt;
    match (known.is_empty(), assumed.is_empty()) {
        (true, true) => "nothing".to_owned(),
        (false, true) => known,
        (true, false) => format!("{assumed} (assumed {basis})"),
        (false, false) => format!("{known}, {assumed} (assumed {basis})"),
    }
}
