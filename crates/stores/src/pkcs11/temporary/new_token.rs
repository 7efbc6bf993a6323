//! Initializing a blank token (PKCS#11 3.1 §5.5.7, §5.5.8), in the process that was started for it.

use cryptoki::context::Pkcs11;
use cryptoki::error::Error as CryptokiError;
use cryptoki::session::UserType;
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use keymark_bench::{During as _, Error};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use serde::{Deserialize, Serialize};

use crate::pkcs11::module::codes::failed;
use crate::pkcs11::module::process::PipedPin;
use crate::user::Pin;

const LABEL: &str = "keymark";

/// The PINs of the token to be. They go through a pipe.
#[derive(Serialize, Deserialize)]
pub(crate) struct NewToken {
    officer: PipedPin,
    pub(crate) user: PipedPin,
}

impl NewToken {
    /// Makes PINs that nobody knows.
    pub(crate) fn random() -> Result<Self, Error> {
        Ok(Self {
            officer: random_pin()?,
            user: random_pin()?,
        })
    }

    /// Makes it of the module's first blank one.
    pub(crate) fn make(&self, client: &Pkcs11) -> Result<(), Error> {
        self.called(client).map_err(failed)?.ok_or_else(|| {
            let reason = "the module has no blank token";
            Error::call("initializing a token", reason, "")
        })
    }

    fn called(&self, client: &Pkcs11) -> Result<Option<()>, CryptokiError> {
        let _under_way = UnderWay::begin(Call::C_InitToken);
        let slots = client.get_slots_with_token()?;
        let token = |slot: &Slot| client.get_token_info(*slot);
        let is_blank = |slot: &Slot| token(slot).is_ok_and(|token| !token.token_initialized());
        let Some(blank) = slots.into_iter().find(is_blank) else {
            return Ok(None);
        };
        let officer = AuthPin::from(self.officer.0.expose().to_owned());
        client.init_token(blank, &officer, LABEL)?;
        // SoftHSM2 gives it another slot.
        let is_made = |slot: &Slot| {
            token(slot)
                .is_ok_and(|token| token.token_initialized() && token.label().starts_with(LABEL))
        };
        let slots = client.get_slots_with_token()?;
        let Some(made) = slots.into_iter().find(is_made) else {
            return Ok(None);
        };
        let session = client.open_rw_session(made)?;
        session.login(UserType::So, Some(&officer))?;
        session.init_pin(&AuthPin::from(self.user.0.expose().to_owned()))?;
        session.logout()?;
        Ok(Some(()))
    }
}

fn random_pin() -> Result<PipedPin, Error> {
    let mut octets = [0; 8];
    openssl::rand::rand_bytes(&mut octets).during("RAND_bytes")?;
    Ok(PipedPin(Pin::new(hex::encode(octets))))
}
