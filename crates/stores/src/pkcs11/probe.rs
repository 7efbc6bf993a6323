//! Modules that nobody knows are looked at, each in a process of its own, which may hang or crash.
//!
//! All modules are looked at together, for ten seconds at most, and without pcscd unless the user has named the
//! module or token: OpenSC selects on every card.

use std::time::Duration;

use keymark_bench::clock::{Clock as _, MonotonicClock};
use keymark_bench::error::Error;

use super::module::ModuleFile;
use super::new_token::NewToken;
use super::process::{Looking, Readers, Request};
use super::token_info::ModuleInfo;
use crate::device::PublicPart;
use crate::user::{Pins, TokenId, Unattended, User};

/// How long a module may take to say what it has.
const LIMIT: Duration = Duration::from_secs(10);

/// Looks at all of them at once, each in a process of its own, which gets no PIN to see. The answers come
/// in the order of the files.
pub(super) fn look(
    files: &[ModuleFile],
    user: &User,
    readers: Readers,
) -> Vec<Result<ModuleInfo, Error>> {
    let clock = MonotonicClock::new();
    let begin = clock.now();
    let looking: Vec<_> = files
        .iter()
        .map(|file| Looking::begin(file, &user.pins, readers, &Request::Look(file.clone())))
        .collect();
    looking
        .into_iter()
        .map(|looking| {
            let remaining = LIMIT.saturating_sub(clock.now().since(begin));
            looking?.end(remaining, user.notice.as_ref())
        })
        .collect()
}

/// The public keys and certificates that a token shows without a PIN, by a process of its own.
pub(super) fn public_parts(
    file: &ModuleFile,
    token: &TokenId,
    user: &User,
) -> Result<Vec<PublicPart>, Error> {
    let request = Request::PublicParts(file.clone(), token.clone());
    let looking = Looking::begin(file, &user.pins, Readers::Shown, &request)?;
    looking.end(LIMIT, user.notice.as_ref())
}

/// Initialises the module's first blank token in a process of its own, and looks at what there is then.
pub(super) fn initialize_token(file: &ModuleFile, token: NewToken) -> Result<ModuleInfo, Error> {
    let request = Request::Initialize(file.clone(), token);
    let looking = Looking::begin(file, &Pins::factory(), Readers::Hidden, &request)?;
    looking.end(LIMIT, &Unattended)
}
