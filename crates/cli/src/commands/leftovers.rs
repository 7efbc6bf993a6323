//! What runs that were killed have left on tokens: removed if the user lets that token be written to, told
//! otherwise.

use keymark_bench::error::Error;
use keymark_stacks::inventory::Inventory;
use keymark_stores::journal::{Journal, Journals};

use crate::args::CardArguments;
use crate::output;

/// Removes or tells it. Returns whether anything was removed: what is known of that token is out of date.
pub(super) fn tidy(
    journals: &Journals,
    inventory: &Inventory,
    arguments: &CardArguments,
) -> Result<bool, Error> {
    let left = journals.left();
    let mut removed = false;
    for error in &left.unreadable {
        output::warning(&error.to_string());
    }
    for journal in left.journals {
        let token = &journal.content().token;
        let allowed = arguments
            .write_to
            .is_some_and(|serial| token.is_called(&format!("{serial:08x}")));
        let mut devices = inventory.devices.iter();
        match devices.find(|found| found.device.token().as_ref() == Some(token)) {
            Some(found) if allowed => {
                output::note(&format!(
                    "removing what run {} has left on {token}",
                    journal.content().run
                ));
                found.device.undo(journal)?;
                removed = true;
            }
            _ => output::warning(&told(&journal)),
        }
    }
    Ok(removed)
}

fn told(journal: &Journal) -> String {
    let content = journal.content();
    format!(
        "{} was left with a test key of run {}: 'keymark token restore {}' removes it",
        content.token,
        content.run,
        content.token.serial()
    )
}
