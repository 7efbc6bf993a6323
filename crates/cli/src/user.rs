//! The user at the terminal.

use std::sync::Arc;

use keymark_stores::user::{Consent, Notice, PinSource, Pins, Touch, User};

use crate::args::CardArguments;
use crate::output;

/// Speaks to the user on the terminal.
struct OnTerminal;

impl Notice for OnTerminal {
    fn tell(&self, text: &str) {
        output::note(text);
    }

    fn warn(&self, text: &str) {
        output::warning(text);
    }

    fn agrees(&self, to: &str) -> bool {
        output::agrees(to)
    }
}

/// Nothing is written, and PINs are left to GnuPG's own pinentry.
pub(crate) fn of_pinentry() -> User {
    User {
        pins: Pins {
            user: PinSource::Prompt,
            admin: PinSource::Prompt,
        },
        consent: Consent::default(),
        notice: Arc::new(OnTerminal),
    }
}

/// How tokens may be used, by the command line.
pub(crate) fn of_arguments(arguments: &CardArguments) -> User {
    let user = match (&arguments.pin_env, arguments.pin_fd) {
        (Some(name), _) => PinSource::Environment(name.clone()),
        (None, Some(number)) => PinSource::Descriptor(number),
        (None, None) => PinSource::Prompt,
    };
    let admin = arguments.admin_pin_env.clone();
    User {
        pins: Pins {
            user,
            admin: admin.map_or(PinSource::Prompt, PinSource::Environment),
        },
        consent: Consent {
            touch: if arguments.allow_touch {
                Touch::Allowed
            } else {
                Touch::Refused
            },
            write: arguments.write_to,
        },
        notice: Arc::new(OnTerminal),
    }
}
