//! The task of this library in this process, found out once.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use cryptoki_sys::CKR_OK;
use keymark_shim_protocol::pkcs11::Traced;
use keymark_shim_protocol::pkcs11::settings::{
    DEVICE, MODULE, Settings, TRACE, TWIN, TwinSettings,
};

use crate::interfaces::Callee;
use crate::trace::Trace;
use crate::twin::Twin;
use crate::{clock, environment};

/// All of it.
#[derive(Debug)]
pub(crate) struct ModuleShim {
    pub(crate) callee: Callee,
    pub(crate) trace: Option<Trace>,
    pub(crate) twin: Option<Twin>,
}

/// Returns the state of the library. None if it cannot be used, of which the user was told.
pub(crate) fn library() -> Option<&'static ModuleShim> {
    static LIBRARY: OnceLock<Option<ModuleShim>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| {
            ModuleShim::of_process()
                .inspect_err(|reason| tell(reason))
                .ok()
        })
        .as_ref()
}

/// Tells the user what no return code of PKCS#11 says. Modules have nobody else to tell.
#[allow(clippy::print_stderr, reason = "there is no other way to the user")]
pub(crate) fn tell(text: &str) {
    eprintln!("keymark's PKCS#11 module: {text}");
}

/// Tells the user the first time.
pub(crate) fn tell_once(is_told: &AtomicBool, text: &str) {
    // No `Once`: of a process that forks meanwhile, the child would wait for ever.
    if !is_told.swap(true, Relaxed) {
        tell(text);
    }
}

impl ModuleShim {
    fn of_process() -> Result<Self, String> {
        let own = library_around(Self::of_process as *const c_void);
        let own = own.map(|(path, _)| path);
        let beside = own.as_deref().map(Settings::beside);
        let settings = beside.as_deref().map(Settings::read).transpose();
        let settings = settings.map_err(|error| error.to_string())?;
        let settings = with_environment(settings.unwrap_or_default())?;
        let module = settings.module.ok_or_else(|| {
            let file =
                beside.map_or_else(String::new, |path| format!(", nor is {}", path.display()));
            format!("no module to pass calls to: {MODULE} is not set{file}")
        })?;
        let trace = settings.trace.map(|path| {
            Trace::open(&path).map_err(|error| format!("the trace {}: {error}", path.display()))
        });
        let (trace, begin) = (trace.transpose()?, clock::now());
        let callee = Callee::load(&module)
            .map_err(|reason| format!("the module {}: {reason}", module.display()))?;
        if let Some(trace) = &trace {
            trace.note(Traced::Load, begin, clock::now(), CKR_OK);
        }
        give(&settings.environment, &callee, &module);
        stay(own.as_deref());
        Ok(Self {
            twin: settings.twin.as_ref().map(Twin::new).transpose()?,
            callee,
            trace,
        })
    }
}

/// Gives the module its variables, or tells the user to.
fn give(variables: &BTreeMap<String, String>, callee: &Callee, module: &Path) {
    let is_set = |(name, value): (&String, &String)| {
        std::env::var_os(name).as_deref() == Some(OsStr::new(value))
    };
    if variables.iter().all(is_set) {
        return;
    }
    if let Err(reason) = environment::give(variables, callee.inside) {
        let assignments = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        tell(&format!(
            "cannot set the environment of module {}: {reason}; start the program with {}",
            module.display(),
            assignments.collect::<Vec<_>>().join(" ")
        ));
    }
}

/// Keeps this library in memory though the program unloads it: the module has an address in it, and also stays.
fn stay(own: Option<&Path>) {
    // SAFETY: it is loaded already, so that nothing is run; it is counted once more.
    let once_more = own.map(|own| unsafe { libloading::Library::new(own) });
    if let Some(Ok(library)) = once_more {
        std::mem::forget(library);
    }
}

/// The settings of the file, with those of the environment before them.
fn with_environment(mut settings: Settings) -> Result<Settings, String> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let path = |name, beside| variable(name).map(PathBuf::from).or(beside);
    if let Some(profile) = variable(TWIN) {
        let profile = profile.into_string();
        settings.twin = Some(TwinSettings {
            profile: profile.map_err(|_| format!("{TWIN} is not text"))?,
            ..TwinSettings::default()
        });
    }
    if let Some(twin) = &mut settings.twin {
        twin.device = path(DEVICE, twin.device.take());
    }
    settings.module = path(MODULE, settings.module);
    settings.trace = path(TRACE, settings.trace);
    Ok(settings)
}

/// Returns the path by which the library with that address was loaded, a symbolic link's own, which the loader keeps;
/// and where it begins in memory.
pub(crate) fn library_around(address: *const c_void) -> Option<(PathBuf, usize)> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: looks an address up, and writes to the structure given.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own string, there as long as the library is loaded, which nobody unloads meanwhile.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    Some((std::path::absolute(path).ok()?, info.dli_fbase as usize))
}
