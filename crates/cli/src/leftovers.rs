//! Leftovers of killed runs on tokens: removed if the user lets that token be written to, told

use keymark_bench::Error;
use keymark_stacks::inventory::Inventory;
use keymark_stores::access::AccessKind;
use keymark_stores::journal::{Journal, Journals};

use crate::args::CardArguments;
use crate::output;

/// Removes or tells it. Returns whether what is known of a token is out of date by that.
pub(crate) fn tidy(
    journals: &Journals,
    inventory: &Inventory,
    arguments: &CardArguments,
) -> Result<bool, Error> {
    let mut removed = false;
    for journal in readable(journals) {
        let token = &journal.content().token;
        let allowed = arguments.write_to.as_ref();
        let allowed = allowed.is_some_and(|name| token.is_called(name));
        match inventory
            .devices
            .iter()
            .find(|found| found.device.token().as_ref() == Some(token))
        {
            Some(found) if allowed => {
                output::note(&format!(
                    "removing what run {} left on {token}",
                    journal.content().run
                ));
                found.device.undo(journal)?;
                // What the others offer does not hang on their keys.
                removed |= found.device.has(AccessKind::Card);
            }
            _ => output::warning(&told(&journal)),
        }
    }
    Ok(removed)
}

/// Says what is left, for commands that write to no token.
pub(crate) fn tell() {
    // Who has no home has written to no token.
    let Ok(journals) = Journals::of_user() else {
        return;
    };
    for journal in readable(&journals) {
        output::warning(&told(&journal));
    }
}

/// Returns readable journals, and warns of the others.
pub(crate) fn readable(journals: &Journals) -> Vec<Journal> {
    let left = journals.left();
    for error in &left.unreadable {
        output::warning(&error.to_string());
    }
    left.journals
}

fn told(journal: &Journal) -> String {
    let content = journal.content();
    format!(
        "{} still has a test key of run {}: 'keymark devices restore {}' removes it",
        content.token,
        content.run,
        content.token.serial(),
    )
}
