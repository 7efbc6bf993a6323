//! `keymark twin serve`: a virtual card or twin in vpcd's reader.

use std::time::Duration;

use keymark_stores::openpgp_card::CardMaker;
use keymark_stores::pkcs11::ManagedKind;
use keymark_stores::tokens::vpcd::{PORT, Vpcd};

use crate::args::ServeArguments;
use crate::documents::abilities;
use crate::exit::{Exit, Failure, Outcome};
use crate::{output, signals, user};

/// pcscd asks several times a second whether a card is there; a busy machine may be slow.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn serve(arguments: &ServeArguments) -> Outcome {
    let named = &arguments.device;
    let maker = CardMaker::named(named)
        .ok_or_else(|| {
            let hint = hint_of_module(named);
            Failure::usage(format!(
                "'{named}' must be 'virtual' or a card's 'twin:PROFILE'{hint}"
            ))
        })?
        .map_err(Failure::usage)?;
    let maker = maker.telling(user::of_pinentry().notice);
    let reader = maker.make_served(arguments.state.clone())?;
    let address = arguments.address.clone();
    let address = address.unwrap_or_else(|| format!("127.0.0.1:{PORT}"));
    let mut vpcd = Vpcd::connect(&address, reader.connect()).map_err(Failure::nothing_usable)?;
    let (until_told, stopper) = (signals::until_told()?, vpcd.stopper()?);
    // Ctrl-C ends the connection, and with it the service.
    std::thread::spawn(move || {
        until_told();
        stopper.stop();
    });
    vpcd.wait_until_asked(PATIENCE)
        .map_err(Failure::nothing_usable)?;
    output::note(&format!(
        "{} is in vpcd's reader at {address}; Ctrl-C removes it",
        maker.identity.product
    ));
    if let Some(limits) = abilities::limits(&maker.identity, &maker.capabilities) {
        output::note(&limits);
    }
    vpcd.serve()?;
    Ok(Exit::Fine)
}

fn hint_of_module(named: &str) -> String {
    ManagedKind::named(named).map_or_else(String::new, |_| format!("; --pkcs11 {named} serves it"))
}
