//! Recognition of a twin, and the process that has its token to itself.

use std::time::Duration;

use super::Call;

// Who has the token: two numbers in the file of the device, for those who wait for it.

/// Position of the number of [`Holder::encode`], in bytes; the number is zero while nobody has the token.
pub const HOLDER: usize = 48;
/// Position of the time since when, in bytes: `CLOCK_MONOTONIC`, in nanoseconds.
pub const SINCE: usize = 56;
/// A caller that has it for longer is reported: a login takes milliseconds.
pub const SAID_AFTER: Duration = Duration::from_secs(2);
/// A caller that has it for longer is stuck, and those who wait are refused.
pub const REFUSED_AFTER: Duration = Duration::from_secs(10);

/// Return code of a twin that its machine is too slow to imitate: vendor-defined (PKCS#11 3.2 §5.1), "KM" and 1.
pub const CKR_TWIN_TOO_FAST: u32 = 0x8B4D_0001;

/// Bits of a call's number.
const CALL: u32 = 16;

/// A process, and the call that has the token to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub process: u32,
    /// The call that it is in.
    pub call: Call,
    /// Since when: `CLOCK_MONOTONIC`, in nanoseconds.
    pub since: u64,
}

impl Holder {
    /// Process and call as one number.
    pub const fn encode(process: u32, call: Call) -> u64 {
        (process as u64) << CALL | (call as u64 + 1)
    }

    /// Decodes the two numbers; none if nobody has the token.
    pub fn decode(number: u64, since: u64) -> Option<Self> {
        let call = (number & ((1 << CALL) - 1)).checked_sub(1)?;
        Some(Self {
            process: u32::try_from(number >> CALL).ok()?,
            call: *Call::ALL.get(usize::try_from(call).ok()?)?,
            since,
        })
    }

    /// "logging in": what the call does, after "is".
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the others do not touch the token's state"
    )]
    pub const fn doing(&self) -> &'static str {
        match self.call {
            Call::C_Initialize => "initializing the module",
            Call::C_Login | Call::C_LoginUser => "logging in",
            Call::C_GetTokenInfo => "reading the token's state",
            Call::C_InitToken => "initializing the token",
            Call::C_InitPIN | Call::C_SetPIN => "setting a PIN",
            _ => "using the token",
        }
    }
}

// Programs that load its module recognize a twin by what the module says of itself, since the token behind it is
// another's.

/// Octets of `libraryDescription` in a `CK_INFO` (PKCS#11 3.1 §3.1), padded with blanks.
pub const DESCRIPTION: usize = 32;

const TWIN: &str = "keymark's twin:";

/// Returns the description that a twin's module gives of itself: the device, as far as there is room for its name.
pub fn description(device: &str) -> [u8; DESCRIPTION] {
    let mut description = [b' '; DESCRIPTION];
    let mut length = 0;
    for letter in TWIN.chars().chain(device.chars()) {
        let end = length + letter.len_utf8();
        let Some(place) = description.get_mut(length..end) else {
            break;
        };
        letter.encode_utf8(place);
        length = end;
    }
    description
}

/// The device whose twin a module is, by the description that it gives: `nitrokey-hsm`.
pub fn device(description: &str) -> Option<&str> {
    description.strip_prefix(TWIN).map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_survives_its_number() {
        for call in [Call::C_Initialize, Call::C_Login, Call::C_AsyncJoin] {
            let number = Holder::encode(4_194_303, call);
            let holder = Holder::decode(number, 7).unwrap();
            assert_eq!(
                (holder.process, holder.call, holder.since),
                (4_194_303, call, 7)
            );
        }
        for none in [0, 19_834 << CALL, u64::MAX] {
            assert_eq!(Holder::decode(none, 7), None);
        }
    }

    #[test]
    fn a_twin_is_told_by_what_its_module_says() {
        let said = |device| String::from_utf8(super::description(device).to_vec()).unwrap();
        assert_eq!(device(&said("nitrokey-hsm")), Some("nitrokey-hsm"));
        assert_eq!(device("Implementation of PKCS11"), None);
        // As much of a long name as there is room for, and no half of a letter.
        assert_eq!(
            device(&said("a-device-with-a-long-name")),
            Some("a-device-with-a-l")
        );
        assert_eq!(
            device(&said("0123456789abcdef\u{e9}")),
            Some("0123456789abcdef")
        );
    }
}
