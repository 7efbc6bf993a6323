//! `keymark devices restore`

use keymark_stacks::inventory::Inventory;
use keymark_stores::device::Wish;
use keymark_stores::journal::Journals;
use keymark_stores::pkcs11::journalled_module;

use crate::args::RestoreArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{leftovers, output, user};

pub(super) fn run(arguments: &RestoreArguments) -> Outcome {
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
