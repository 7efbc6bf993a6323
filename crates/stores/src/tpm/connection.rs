//! Ways to a TPM, connections, and what is refused by them.

use std::path::{Path, PathBuf};

use crate::places::private_dir::PrivateDir;
use crate::places::program::{self, two_free_ports};
use keymark_bench::Error;
use serde::{Deserialize, Serialize};
use tss_esapi::interface_types::session_handles::AuthSession;
use tss_esapi::tcti_ldr::TctiNameConf;
use tss_esapi::{Context, Error as TssError};

use crate::emulator::{Emulator, plain};
use crate::sayings;

/// The kernel's resource manager, which several programs may use.
const DEVICE: &str = "/dev/tpmrm0";
const SCRIPT: &str = include_str!("swtpm.sh");
/// A line for codes after which the same is to be done; what they mean is in their names.
const ADVICE: &str = include_str!("../../../../data/tpm.txt");
/// Between our look for free ports and swtpm's taking them, another program may take them.
const ATTEMPTS: usize = 5;

/// Way to a TPM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// The TPM of this machine.
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
        for _ in 1..ATTEMPTS {
            if let Ok(running) = Self::launch(&swtpm) {
                return Ok(running);
            }
        }
        Self::launch(&swtpm)
    }

    fn launch(swtpm: &PathBuf) -> Result<Self, Error> {
        let place = PrivateDir::new()?;
        plain(place.path())?;
        // swtpm wants one for commands and tpm2-tss the next for control.
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

/// A call as the specification spells it, that came to nothing (TPM 2.0 Library, Part 2, 6.6).
pub(super) fn refused(call: &'static str) -> impl Fn(TssError) -> Error + Copy {
    move |error| match error {
        TssError::Tss2Error(code) => {
            let kind = code.kind().map(|kind| format!("{kind:?}"));
            let name = kind.unwrap_or_default();
            let (_, advice) = sayings::meaning(ADVICE, &name).unwrap_or_default();
            Error::call(call, format!("{name} ({code})").trim_start(), advice)
        }
        TssError::WrapperError(kind) => Error::call(call, kind, ""),
    }
}
