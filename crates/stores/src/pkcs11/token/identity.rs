//! Identity of a token for tables and records: its name and its provenance.

use std::collections::BTreeMap;

use keymark_bench::{DeviceName, Provenance, StoreIdentity, StoreKind};
use keymark_shim_protocol::pkcs11::twin;

use super::token_info::{ModuleInfo, TokenInfo};
use crate::emulator::LIBTPMS;

/// Makers of tokens that are this CPU.
const IN_SOFTWARE: [&str; 3] = ["SoftHSM", "Kryoptic", "Mozilla"];
/// The reader of vsmartcard's vpcd: what is in it is a program.
const VPCD: &str = "Virtual PCD";

pub(crate) fn identity(module: &ModuleInfo, info: &TokenInfo) -> StoreIdentity {
    let (manufacturer, model, label) = (&info.manufacturer, &info.model, &info.label);
    let slot = module
        .slots
        .iter()
        .find(|slot| slot.token.as_ref().ok() == Some(info));
    let in_software = IN_SOFTWARE.iter().any(|maker| manufacturer.contains(maker))
        || model == LIBTPMS
        || slot.is_some_and(|slot| slot.description.starts_with(VPCD));
    let maker = if model.is_empty() {
        manufacturer
    } else {
        model
    };
    let twin = twin::device(&module.description);
    let maker = twin.map_or_else(|| maker.clone(), |device| format!("twin:{device}"));
    let product = match label.as_str() {
        "" => maker,
        label => format!("{maker}, token '{label}'"),
    };
    let serial = info.id().serial().to_owned();
    let provenance = match twin {
        Some(_) => Provenance::Twin,
        None if in_software => Provenance::Virtual,
        None => Provenance::Measured,
    };
    let name = DeviceName::new(&serial);
    StoreIdentity {
        serial: Some(serial),
        versions: BTreeMap::from([
            ("firmware".to_owned(), version(info.firmware)),
            ("module".to_owned(), library(module)),
        ]),
        ..StoreIdentity::new(name, StoreKind::PKCS11, provenance, product)
    }
}

fn version((major, minor): (u8, u8)) -> String {
    format!("{major}.{minor}")
}

/// `OpenSC smartcard framework 0.23`, with the maker before it where the name does not tell.
pub(crate) fn library(module: &ModuleInfo) -> String {
    let (manufacturer, description) = (&module.manufacturer, &module.description);
    let maker = manufacturer.split(' ').next().unwrap_or_default();
    let name = match description.as_str() {
        "" => manufacturer.clone(),
        name if name.contains(maker) => name.to_owned(),
        name => format!("{maker}, {name}"),
    };
    format!("{name} {}", version(module.version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pkcs11::token::token_info::SlotInfo;

    #[test]
    fn a_token_is_measured_virtual_or_a_twin_by_what_is_said_of_it() {
        let twin = "keymark's twin:nitrokey-hsm";
        for (description, reader, manufacturer, expected) in [
            ("HSM", "slot", "a maker", Provenance::Measured),
            ("PKCS11", "slot", "SoftHSM project", Provenance::Virtual),
            // A card in vpcd's reader, which no reader is.
            (
                "OpenSC",
                "Virtual PCD 00 00",
                "OpenPGP",
                Provenance::Virtual,
            ),
            ("OpenSC", "A Reader 00 00", "OpenPGP", Provenance::Measured),
            (twin, "slot", "SoftHSM project", Provenance::Twin),
        ] {
            let info = TokenInfo::example(manufacturer);
            let module = ModuleInfo {
                manufacturer: "maker".to_owned(),
                description: description.to_owned(),
                version: (1, 0),
                slots: vec![SlotInfo {
                    id: 0,
                    description: reader.to_owned(),
                    manufacturer: String::new(),
                    token: Ok(info.clone()),
                }],
            };
            assert_eq!(identity(&module, &info).provenance, expected, "{reader}");
        }
    }
}
