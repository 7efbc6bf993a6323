//! Ctrl-C, TERM and HUP: the first ends keymark in good order, the second at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{SigId, flag};

use crate::exit::Failure;

/// What ends keymark.
pub const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

static TOLD: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether the first of them has come.
pub fn told() -> bool {
    TOLD.get().is_some_and(|told| told.load(Ordering::Relaxed))
}

/// A flag that the first of them sets, and what ends keymark at the second.
pub fn listen() -> Result<(Arc<AtomicBool>, Vec<SigId>), Failure> {
    let told = Arc::clone(TOLD.get_or_init(Arc::default));
    let mut listeners = Vec::new();
    for signal in SIGNALS {
        let second = flag::register_conditional_shutdown(signal, 130, Arc::clone(&told));
        listeners.push(second.map_err(uncaught)?);
        listeners.push(flag::register(signal, Arc::clone(&told)).map_err(uncaught)?);
    }
    Ok((told, listeners))
}

/// That signals cannot be caught.
pub fn uncaught(error: io::Error) -> Failure {
    Failure::failed(format!("cannot catch signals: {error}"))
}
