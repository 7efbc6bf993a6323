//! `keymark token`

mod module;

use std::time::Duration;

use keymark_stacks::inventory::Inventory;
use keymark_stores::device::Wish;
use keymark_stores::journal::Journals;
use keymark_stores::openpgp_card::CardMaker;
use keymark_stores::pkcs11::{ManagedKind, journalled_module};
use keymark_stores::tokens::vpcd::{PORT, Vpcd};

use super::Outcome;
use crate::args::{RestoreArguments, ServeArguments, TokenCommand};
use crate::documents::abilities;
use crate::exit::{Exit, Failure};
use crate::{leftovers, output, signals, user};

/// pcscd asks several times a second whether a card is there; a busy machine may be slow.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(command: &TokenCommand) -> Outcome {
    match command {
        TokenCommand::Serve(arguments) => serve(arguments),
        TokenCommand::Restore(arguments) => restore(arguments),
    }
}

fn restore(arguments: &RestoreArguments) -> Outcome {
    let name = &arguments.serial;
    let journals = Journals::of_user()?;
    let mut left = leftovers::readable(&journals);
    left.retain(|journal| journal.content().token.is_called(name));
    let Some(first) = left.first() else {
        return Err(Failure::nothing_usable(format!(
            "no run left anything on {name}"
        )));
    };
    let token = name
        .among(left.iter().map(|journal| &journal.content().token))
        .map_err(|error| Failure::usage(error.to_string()))?;
    // A journal without a module is a card's.
    let module = journalled_module(first.content());
    let wish = module.as_ref().map_or(Wish::Inserted, |module| {
        Wish::Named(vec![module.display().to_string()])
    });
    let inventory = Inventory::look(Some(&[]), &wish, &user::of_restoring(arguments))
        .map_err(Failure::nothing_usable)?;
    let Some(found) = inventory
        .devices
        .iter()
        .find(|found| found.device.token().as_ref() == Some(token))
    else {
        let unseen = inventory.unseen.filter(|_| module.is_none());
        let why = unseen.map_or_else(
            || format!("{token} was not found: plug it in"),
            |error| error.to_string(),
        );
        let journal = first.path().display();
        return Err(Failure::nothing_usable(format!(
            "{why}\n  if the token is lost, so is the test key: then remove {journal}"
        )));
    };
    for journal in left {
        let run = journal.content().run.clone();
        found.device.undo(journal)?;
        output::note(&format!("{name} is as it was before run {run}"));
    }
    Ok(Exit::Fine)
}

fn serve(arguments: &ServeArguments) -> Outcome {
    if let Some(named) = &arguments.pkcs11 {
        return module::serve(arguments, named);
    }
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
