//! The user at the terminal.

use std::sync::Arc;

use itertools::Itertools;
use keymark_stores::user::{Consent, Notice, PinSource, Pins, TokenId, Touch, User};

use crate::args::{CardArguments, PinArguments, PinVariable, RestoreArguments};
use crate::{output, signals};

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

    fn has_ended(&self) -> bool {
        signals::told()
    }
}

fn user(user: PinSource, admin: PinSource, consent: Consent) -> User {
    User {
        pins: Pins { user, admin },
        consent,
        notice: Arc::new(OnTerminal),
    }
}

fn in_variable(named: Option<&String>) -> PinSource {
    named
        .cloned()
        .map_or(PinSource::Prompt, PinSource::Environment)
}

/// Nothing is written, and PINs are left to GnuPG's own pinentry.
pub(crate) fn of_pinentry() -> User {
    user(PinSource::Prompt, PinSource::Prompt, Consent::default())
}

/// Nothing is written; the PIN that is verified before a program is traced.
pub(crate) fn of_tracing(arguments: &PinArguments) -> User {
    user(user_pin(arguments), PinSource::Prompt, Consent::default())
}

/// Returns the user by the options for tokens.
pub(crate) fn of_arguments(arguments: &CardArguments) -> User {
    let consent = Consent {
        touch: if arguments.allow_touch {
            Touch::Allowed
        } else {
            Touch::Refused
        },
        write: arguments.write_to.clone(),
    };
    // The admin PIN is of the only card that may be written to.
    let admin = in_variable(arguments.admin_pin_env.as_ref());
    user(user_pin(&arguments.pins), admin, consent)
}

/// Returns the user that restores a token, who may write to that one only.
pub(crate) fn of_restoring(arguments: &RestoreArguments) -> User {
    let consent = Consent {
        touch: Touch::Refused,
        write: Some(arguments.serial.clone()),
    };
    let admin = in_variable(arguments.admin_pin_env.as_ref());
    user(in_variable(arguments.pin_env.as_ref()), admin, consent)
}

fn user_pin(arguments: &PinArguments) -> PinSource {
    if let Some(number) = arguments.pin_fd {
        return PinSource::Descriptor(number);
    }
    let variable = |pin: &PinVariable| PinSource::Environment(pin.variable.clone());
    match arguments.pin_env.as_slice() {
        [] => PinSource::Prompt,
        [only @ PinVariable { serial: None, .. }] => variable(only),
        several => PinSource::ByToken(
            several
                .iter()
                .filter_map(|pin| Some((pin.serial.clone()?, variable(pin))))
                .collect(),
        ),
    }
}

/// Checks that the serial number of --write-to names one token.
pub(crate) fn consent_fits(arguments: &CardArguments, present: &[TokenId]) -> Result<(), String> {
    let Some(name) = &arguments.write_to else {
        return Ok(());
    };
    let one = name.among(present);
    one.map_err(|error| format!("--write-to {name}: {error}"))?;
    Ok(())
}

/// Checks that each PIN belongs to one token of the run: a PIN is never tried on another's.
pub(crate) fn pins_fit(arguments: &PinArguments, used: &[TokenId]) -> Result<(), String> {
    pin_is_for_one(arguments, used)?;
    for name in arguments
        .pin_env
        .iter()
        .filter_map(|pin| pin.serial.as_ref())
    {
        let one = name.among(used);
        one.map_err(|error| format!("--pin-env {name}=…, in this run: {error}"))?;
    }
    Ok(())
}

/// A PIN that does not say whose it is, is the only token's.
fn pin_is_for_one(arguments: &PinArguments, used: &[TokenId]) -> Result<(), String> {
    let unnamed = arguments.pin_env.iter().find(|pin| pin.serial.is_none());
    let option = match (unnamed, arguments.pin_fd) {
        (Some(pin), _) if arguments.pin_env.len() > 1 => {
            return Err(format!(
                "--pin-env {} does not name a card; write SERIAL={}",
                pin.variable, pin.variable
            ));
        }
        (Some(pin), _) => format!("--pin-env {}", pin.variable),
        (None, Some(number)) => format!("--pin-fd {number}"),
        (None, None) => return Ok(()),
    };
    let [first, _, ..] = used else {
        return Ok(());
    };
    let names = used.iter().format(" and ");
    Err(format!(
        "{option} is for one card, but the run uses {names}; write --pin-env {first}=VARIABLE"
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use keymark_testkit::assert_says;

    use super::*;
    use crate::args::{Arguments, Command};

    fn fits(options: &str, tokens: &str) -> Result<(), String> {
        let words = ["keymark", "bench"].into_iter();
        let words = words.chain(options.split_whitespace());
        let Some(Command::Bench(bench)) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("it is another command");
        };
        let tokens: Vec<_> = tokens.split_whitespace().map(TokenId::new).collect();
        consent_fits(&bench.run.card, &tokens)
            .and_then(|()| pins_fit(&bench.run.card.pins, &tokens))
    }

    #[test]
    fn a_pin_and_consent_are_for_one_card() {
        let (one, two) = ("0006:0a1b2c3d", "0006:0a1b2c3d 000f:00000002");
        let alike = "0006:00000002 000f:00000002";
        for (options, tokens) in [
            ("", two),
            ("--pin-env PIN", one),
            ("--pin-env PIN", ""),
            ("--pin-fd 3", one),
            ("--pin-env 0A1B2C3D=PIN", two),
            ("--pin-env 0a1b2c3d=A --pin-env 000f:00000002=B", two),
            ("--write-to 0A1B2C3D", two),
            ("--write-to 000f:00000002", alike),
        ] {
            assert_eq!(fits(options, tokens), Ok(()), "{options}");
        }
        let (both, both_alike) = (two.replace(' ', " and "), alike.replace(' ', " and "));
        for (options, tokens, said) in [
            ("--pin-env PIN", two, "--pin-env 0006:0a1b2c3d=VARIABLE"),
            ("--pin-fd 3", two, &both),
            ("--pin-env 0badcafe=PIN", one, "0badcafe"),
            ("--pin-env A --pin-env 0a1b2c3d=B", one, "SERIAL=A"),
            ("--pin-env 00000002=A", alike, &both_alike),
            ("--write-to 00000002", alike, &both_alike),
            ("--write-to 0badcafe", one, "0badcafe"),
        ] {
            let error = fits(options, tokens).unwrap_err();
            assert_says(&error, [said]);
        }
    }
}
