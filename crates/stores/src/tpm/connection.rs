//! Ways to a TPM, connections, and what is refused by them.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use crate::places::private_dir::PrivateDir;
use crate::places::program;
use keymark_bench::error::Error;
use serde::{Deserialize, Serialize};
use tss_esapi::constants::response_code::Tss2ResponseCodeKind as Kind;
use tss_esapi::interface_types::session_handles::AuthSession;
use tss_esapi::tcti_ldr::TctiNameConf;
use tss_esapi::{Context, Error as TssError};

use crate::emulator::{Emulator, plain};

/// The kernel's resource manager, which several programs may use.
const DEVICE: &str = "/dev/tpmrm0";
const SCRIPT: &str = include_str!("swtpm.sh");
/// Between our look for free ports and swtpm's taking them, somebody else may.
const ATTEMPTS: usize = 5;

/// How a TPM is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Way {
    /// This machine's.
    Device,
    /// swtpm at that port of this machine, and the next one.
    Emulator(u16),
}

impl Way {
    /// A connection for one thread. The owner hierarchy and test keys have no password.
    pub(super) fn connect(self) -> Result<Context, Error> {
        let name = match self {
            Self::Device => format!("device:{DEVICE}"),
            Self::Emulator(port) => format!("swtpm:host=127.0.0.1,port={port}"),
        };
        let name: TctiNameConf = name.parse().map_err(refused("Tss2_TctiLdr_Initialize"))?;
        let mut context = Context::new(name).map_err(refused("Esys_Initialize"))?;
        context.set_sessions((Some(AuthSession::Password), None, None));
        Ok(context)
    }
}

/// This machine's TPM.
pub(super) fn device() -> Result<Way, Error> {
    if Path::new(DEVICE).exists() {
        return Ok(Way::Device);
    }
    Err(Error::Missing {
        what: "a TPM".to_owned(),
        reason: format!("there is no {DEVICE}"),
        advice: "is it switched on in the firmware's setup? --device swtpm-esys is a software TPM"
            .to_owned(),
    })
}

/// A running swtpm; gone with the value, or with keymark.
#[derive(Debug)]
pub(super) struct Swtpm {
    pub(super) port: u16,
    _emulator: Emulator,
    _place: PrivateDir,
}

impl Swtpm {
    pub(super) fn start() -> Result<Self, Error> {
        let swtpm = program::locate(None, "swtpm").ok_or_else(|| Error::Missing {
            what: "swtpm".to_owned(),
            reason: "it is not in PATH".to_owned(),
            advice: "install it with 'apt-get install swtpm libtss2-tcti-swtpm0'".to_owned(),
        })?;
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match Self::launch(&swtpm) {
                Ok(running) => return Ok(running),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::call("starting swtpm", "it was not tried", "")))
    }

    fn launch(swtpm: &PathBuf) -> Result<Self, Error> {
        let place = PrivateDir::new()?;
        plain(place.path())?;
        let port = two_free_ports()?;
        let arguments = [swtpm.into(), port.to_string().into()];
        let emulator = Emulator::start(&place, SCRIPT, arguments)?;
        Ok(Self {
            port,
            _emulator: emulator,
            _place: place,
        })
    }
}

/// swtpm wants one for commands and tpm2-tss the next for control.
fn two_free_ports() -> Result<u16, Error> {
    let bound = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    for _ in 0..100 {
        let first = bound(0).and_then(|first| Ok((first.local_addr()?.port(), first)));
        let (port, _first) =
            first.map_err(|error| Error::call("looking for a free port", error, ""))?;
        if port.checked_add(1).is_some_and(|next| bound(next).is_ok()) {
            return Ok(port);
        }
    }
    Err(Error::call(
        "looking for a free port",
        "no two are side by side",
        "",
    ))
}

/// A call as the specification spells it, that came to nothing (TPM 2.0 Library, Part 2, 6.6).
pub(super) fn refused(call: &'static str) -> impl Fn(TssError) -> Error + Copy {
    move |error| match error {
        TssError::Tss2Error(code) => {
            let kind = code.kind();
            let name = kind.map(|kind| format!("{kind:?} ")).unwrap_or_default();
            Error::call(call, format!("{name}({code})"), advice(kind))
        }
        TssError::WrapperError(kind) => Error::call(call, kind, ""),
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "for the others nobody knows more than the code says"
)]
fn advice(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::ObjectMemory | Kind::ObjectHandles) => {
            "a TPM holds three keys at a time: use a smaller --concurrency or --processes"
        }
        Some(Kind::AuthFail | Kind::BadAuth) => {
            "the owner of this TPM has set a password, which keymark does not ask for"
        }
        Some(Kind::Lockout) => "the TPM is locked after wrong passwords: wait, or ask its owner",
        Some(Kind::Hierarchy) => "the owner hierarchy is switched off in the firmware's setup",
        _ => "",
    }
}
