//! Description of a module, its slots and their tokens, without a PIN.

use cryptoki::context::Pkcs11;
use cryptoki::slot::{Limit, Slot, TokenInfo as SaidOfToken};
use cryptoki::types::Version;
use keymark_bench::Error;
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_native::cryptoki::{Mechanism, MechanismInfo};
use keymark_shim_protocol::pkcs11::Call;
use serde::{Deserialize, Serialize};

use super::keys::{self, KeyInfo};
use crate::pkcs11::module::Module;
use crate::pkcs11::module::codes::failed;
use crate::pkcs11_uri::{Described, Pkcs11Uri};
use crate::user::TokenId;

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleInfo {
    pub manufacturer: String,
    pub description: String,
    /// Version of the library.
    pub version: (u8, u8),
    pub slots: Vec<SlotInfo>,
}

/// A slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotInfo {
    pub id: u64,
    pub description: String,
    pub manufacturer: String,
    /// Token in it, or the reason why that cannot be known.
    pub token: Result<TokenInfo, Error>,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    pub label: String,
    pub manufacturer: String,
    pub model: String,
    pub serial: String,
    pub firmware: (u8, u8),
    pub login: Login,
    /// Number of sessions it takes, where it says a number.
    pub sessions: Option<u64>,
    pub mechanisms: Vec<MechanismInfo>,
    /// Number of mechanisms it has, with those that keymark has no use for.
    pub mechanism_count: usize,
    /// Private keys, as far as they show without a PIN.
    pub keys: Vec<KeyInfo>,
}

/// Way to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Login {
    /// Nobody has to.
    NotNeeded,
    /// A PIN that the program sends.
    Pin(PinState),
    /// The token's own keys, or a finger: the program sends nothing.
    OnToken(PinState),
}

impl Login {
    /// Returns the state of the PIN, where there is one.
    pub const fn pin(self) -> Option<PinState> {
        match self {
            Self::NotNeeded => None,
            Self::Pin(state) | Self::OnToken(state) => Some(state),
        }
    }
}

/// Tries that are left, as far as tokens tell (`CKF_USER_PIN_…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PinState {
    NotSet,
    Fine,
    /// A try was wrong since the last right one.
    TriesUsed,
    /// The next wrong one locks it.
    LastTry,
    Locked,
}

impl PinState {
    /// Tries that are left at least.
    pub const fn tries(self) -> u8 {
        match self {
            Self::Fine | Self::TriesUsed | Self::NotSet => 2,
            Self::LastTry => 1,
            Self::Locked => 0,
        }
    }

    fn of(info: &SaidOfToken) -> Self {
        if info.user_pin_locked() {
            Self::Locked
        } else if info.user_pin_final_try() {
            Self::LastTry
        } else if info.user_pin_count_low() {
            Self::TriesUsed
        } else if info.user_pin_initialized() {
            Self::Fine
        } else {
            Self::NotSet
        }
    }
}

impl TokenInfo {
    /// Manufacturer and serial number, in a form that can be typed.
    pub fn id(&self) -> TokenId {
        token_id(&self.manufacturer, called(&self.serial, &self.label))
    }

    /// A token of that manufacturer without anything.
    #[cfg(test)]
    pub(super) fn example(manufacturer: &str) -> Self {
        Self {
            label: "token".to_owned(),
            manufacturer: manufacturer.to_owned(),
            model: "model".to_owned(),
            serial: "1".to_owned(),
            firmware: (0, 0),
            login: Login::NotNeeded,
            sessions: None,
            mechanisms: Vec::new(),
            mechanism_count: 0,
            keys: Vec::new(),
        }
    }

    /// The mechanism, if the token has it.
    pub fn mechanism(&self, kind: Mechanism) -> Option<MechanismInfo> {
        self.mechanisms
            .iter()
            .find(|mechanism| mechanism.kind == kind)
            .copied()
    }
}

/// Words of letters, digits and dots, with hyphens between them.
fn typed(text: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let words = text
        .split(|letter| !fits(letter))
        .filter(|word| !word.is_empty());
    let typed = words.collect::<Vec<_>>().join("-");
    if typed.is_empty() {
        "unknown".to_owned()
    } else {
        typed
    }
}

impl Pkcs11Uri {
    /// Returns whether it means a token in that slot of that module (RFC 7512 §2.4).
    pub fn matches(&self, module: &ModuleInfo, slot: &SlotInfo, token: &TokenInfo) -> bool {
        let said = |attribute| match attribute {
            Described::LibraryManufacturer => module.manufacturer.clone(),
            Described::LibraryDescription => module.description.clone(),
            Described::LibraryVersion => format!("{}.{}", module.version.0, module.version.1),
            Described::SlotId => slot.id.to_string(),
            Described::SlotDescription => slot.description.clone(),
            Described::SlotManufacturer => slot.manufacturer.clone(),
            Described::Token => token.label.clone(),
            Described::Manufacturer => token.manufacturer.clone(),
            Described::Model => token.model.clone(),
            Described::Serial => token.serial.clone(),
        };
        self.described
            .iter()
            .all(|(attribute, wanted)| said(*attribute) == *wanted)
    }
}

/// Asks a module that is initialized.
pub(crate) fn ask(module: &Module) -> Result<ModuleInfo, Error> {
    let _under_way = UnderWay::begin(Call::C_GetTokenInfo);
    let info = module.client.get_library_info().map_err(failed)?;
    let slots = module.client.get_slots_with_token().map_err(failed)?;
    let slots = slots.into_iter().map(|slot| ask_slot(module, slot));
    Ok(ModuleInfo {
        manufacturer: plain(info.manufacturer_id()),
        description: plain(info.library_description()),
        version: numbers(info.library_version()),
        slots: slots.collect::<Result<_, _>>()?,
    })
}

fn ask_slot(module: &Module, slot: Slot) -> Result<SlotInfo, Error> {
    let info = module.client.get_slot_info(slot).map_err(failed)?;
    Ok(SlotInfo {
        id: slot.id(),
        description: plain(info.slot_description()),
        manufacturer: plain(info.manufacturer_id()),
        token: ask_token(module, slot),
    })
}

/// Asks for a token anew: whether its PIN may be tried changes.
pub(crate) fn ask_token(module: &Module, slot: Slot) -> Result<TokenInfo, Error> {
    let Module { client, calls } = module;
    let info = client.get_token_info(slot).map_err(failed)?;
    if !info.token_initialized() {
        let reason = "it is blank, with neither PIN nor keys";
        return Err(Error::call("C_GetTokenInfo", reason, ""));
    }
    let (mechanism_count, mechanisms) = calls.mechanisms(client, slot);
    Ok(TokenInfo {
        label: plain(info.label()),
        manufacturer: plain(info.manufacturer_id()),
        model: plain(info.model()),
        serial: plain(info.serial_number()),
        firmware: numbers(info.firmware_version()),
        login: login(&info),
        sessions: most(&info),
        mechanisms,
        mechanism_count,
        keys: keys::visible(client, slot),
    })
}

fn most(info: &SaidOfToken) -> Option<u64> {
    match info.max_session_count() {
        Limit::Max(sessions) => Some(sessions),
        Limit::Unavailable | Limit::Infinite => None,
    }
}

/// Returns the number of sessions the token in a slot takes, where it says a number.
pub(crate) fn most_sessions(module: &Pkcs11, slot: Slot) -> Result<Option<u64>, Error> {
    let info = module.get_token_info(slot);
    info.map(|info| most(&info)).map_err(failed)
}

/// Identifies the token in a slot, also by its label, and how one logs in to it. OpenSC makes a slot of each PIN of
/// a card, all with the card's number, and labels them apart.
pub(crate) fn identified(module: &Pkcs11, slot: Slot) -> Result<(TokenId, String, Login), Error> {
    let info = module.get_token_info(slot).map_err(failed)?;
    let (serial, label) = (plain(info.serial_number()), plain(info.label()));
    let id = token_id(&plain(info.manufacturer_id()), called(&serial, &label));
    Ok((id, label, login(&info)))
}

fn token_id(manufacturer: &str, called: &str) -> TokenId {
    TokenId::new(format!("{}:{}", typed(manufacturer), typed(called)))
}

/// Zeros are no serial number.
fn called<'t>(serial: &'t str, label: &'t str) -> &'t str {
    let is_none = serial.bytes().all(|digit| matches!(digit, b'0' | b' '));
    if is_none { label } else { serial }
}

fn login(info: &SaidOfToken) -> Login {
    let state = PinState::of(info);
    match (info.login_required(), info.protected_authentication_path()) {
        (false, _) => Login::NotNeeded,
        (true, true) => Login::OnToken(state),
        (true, false) => Login::Pin(state),
    }
}

fn numbers(version: Version) -> (u8, u8) {
    (version.major(), version.minor())
}

/// Modules pad with blanks, as they should, or with NUL.
fn plain(text: &str) -> String {
    text.trim_end_matches(['\0', ' ']).to_owned()
}
