//! Abilities of a device, in words.

use itertools::Itertools;
use keymark_bench::store::Capability;
use keymark_bench::{Assumed, Operation, StoreIdentity, StoreKind};

/// Operations of twins, in the order of a card's slots.
const OF_TWINS: [Operation; 3] = [Operation::Decrypt, Operation::Sign, Operation::Authenticate];

/// An operation of a twin, and the algorithms that it has for it; those of assumed times come last.
pub(crate) fn of_twin(
    identity: &StoreIdentity,
    capabilities: &[Capability],
) -> Vec<(Operation, String)> {
    let by_operation = OF_TWINS.map(|operation| {
        // PKCS#11 has no slots: a login with a key asks for a signature.
        if operation == Operation::Authenticate && identity.kind == StoreKind::PKCS11 {
            return (
                operation,
                "with its signing keys, in the same time".to_owned(),
            );
        }
        let of_operation = capabilities
            .iter()
            .filter(|capability| capability.operation == operation);
        let (assumed, known): (Vec<Capability>, Vec<Capability>) =
            of_operation.partition(|capability| identity.assumed(**capability).is_some());
        let basis = Assumed::AsDecrypt;
        let assumed = names(&assumed).map(|names| format!("{names} (assumed {basis})"));
        let words = [names(&known), assumed].into_iter().flatten().join(", ");
        let nothing = words.is_empty().then(|| "nothing".to_owned());
        (operation, nothing.unwrap_or(words))
    });
    by_operation.to_vec()
}

fn names(capabilities: &[Capability]) -> Option<String> {
    let names = capabilities
        .iter()
        .map(|capability| capability.algorithm)
        .join(" ");
    Some(names).filter(|names| !names.is_empty())
}

/// Lists the operations of a twin, which refuses all others.
pub(crate) fn limits(identity: &StoreIdentity, capabilities: &[Capability]) -> Option<String> {
    if identity.provenance != keymark_bench::case::Provenance::Twin {
        return None;
    }
    let mut text = format!(
        "{} has only the operations in its profile:",
        identity.device
    );
    for (operation, what) in of_twin(identity, capabilities) {
        text.push_str(&format!("\n  {operation:<12} {what}"));
    }
    Some(text)
}
