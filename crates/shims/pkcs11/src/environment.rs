//! Variables for the module that calls go to, and for nobody else in the process.
//!
//! Modules find their configuration by variables (SoftHSM2 by `SOFTHSM2_CONF`) when they are initialized. The
//! process's own environment cannot be changed for that: other threads may be reading it, and children would inherit
//! it. So the module gets a getenv(3) that knows those variables. It calls the C library's by an address in a table
//! that the loader has filled in (System V ABI: the global offset table), and that address is replaced. Nothing else
//! in the process is changed.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use goblin::elf::Elf;
use goblin::elf::program_header::{PT_GNU_RELRO, PT_LOAD};

use crate::library::library_around;

static VARIABLES: OnceLock<BTreeMap<CString, CString>> = OnceLock::new();

const ASKING: [&str; 2] = ["getenv", "secure_getenv"];

/// Gives the module, in which that address is, its variables, for as long as the process lives.
///
/// # Errors
/// Why it would find them in the process's environment only.
pub(crate) fn give(
    variables: &BTreeMap<String, String>,
    inside: *const c_void,
) -> Result<(), String> {
    let text = |text: &String| CString::new(text.as_str()).map_err(|error| error.to_string());
    let variables: Result<BTreeMap<_, _>, String> = variables
        .iter()
        .map(|(name, value)| Ok((text(name)?, text(value)?)))
        .collect();
    let _ = VARIABLES.set(variables?);
    let module = Loaded::around(inside)?;
    if module.entries.is_empty() {
        return Err("it does not call getenv".to_owned());
    }
    let own = own_getenv as unsafe extern "C" fn(*const c_char) -> *mut c_char;
    module
        .entries
        .iter()
        .try_for_each(|entry| module.set(*entry, own as usize))
        .map_err(|error| format!("mprotect: {error}"))
}

/// getenv(3) of the module.
unsafe extern "C" fn own_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the module's name of a variable, which ends with a zero.
    let asked = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
    let own = asked.and_then(|name| VARIABLES.get()?.get(name));
    match own {
        // Never changed: the caller may only read it.
        Some(value) => value.as_ptr().cast_mut(),
        // SAFETY: what the module would have called.
        None => unsafe { libc::getenv(name) },
    }
}

/// A library in memory.
#[derive(Debug)]
struct Loaded {
    entries: Vec<usize>,
    read_only: Range<usize>,
}

impl Loaded {
    /// The one in which that address is: its file says where its tables are, from where it begins.
    fn around(inside: *const c_void) -> Result<Self, String> {
        let (file, begin) = library_around(inside).ok_or("the loader does not know where it is")?;
        let octets = std::fs::read(file).map_err(|error| error.to_string())?;
        let elf = Elf::parse(&octets).map_err(|error| error.to_string())?;
        let parts = |kind| {
            elf.program_headers
                .iter()
                .filter(move |header| header.p_type == kind)
        };
        let first = parts(PT_LOAD).map(|part| part.p_vaddr as usize).min();
        let first = first.map_or(0, |first| first - first % page());
        let at = |address: u64| begin + address as usize - first;
        let name = |symbol| elf.dynstrtab.get_at(elf.dynsyms.get(symbol)?.st_name);
        let relocations = elf
            .dynrelas
            .iter()
            .chain(&elf.dynrels)
            .chain(&elf.pltrelocs);
        let asking =
            relocations.filter(|one| name(one.r_sym).is_some_and(|name| ASKING.contains(&name)));
        let read_only = parts(PT_GNU_RELRO).next();
        Ok(Self {
            entries: asking.map(|one| at(one.r_offset)).collect(),
            read_only: read_only.map_or(0..0, |part| {
                whole_pages(at(part.p_vaddr)..at(part.p_vaddr + part.p_memsz))
            }),
        })
    }

    /// Replaces the address in an entry.
    fn set(&self, entry: usize, address: usize) -> std::io::Result<()> {
        let is_read_only = self.read_only.contains(&entry);
        if is_read_only {
            protect(entry, libc::PROT_READ | libc::PROT_WRITE)?;
        }
        // SAFETY: an aligned word of the library's table, which can be written now. Threads that call through it meanwhile
        // find the one function or the other.
        let word = unsafe { AtomicUsize::from_ptr(entry as *mut usize) };
        word.store(address, Ordering::Release);
        if is_read_only {
            protect(entry, libc::PROT_READ)?;
        }
        Ok(())
    }
}

/// Changes what may be done with the page of that address.
fn protect(address: usize, rights: c_int) -> std::io::Result<()> {
    let page = page();
    let begin = (address - address % page) as *mut c_void;
    // SAFETY: a page of a library's data, which is left readable; nobody else changes its rights.
    match unsafe { libc::mprotect(begin, page, rights) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Bytes of a page of memory.
fn page() -> usize {
    // SAFETY: asks for a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

fn whole_pages(part: Range<usize>) -> Range<usize> {
    let page = page();
    part.start - part.start % page..part.end - part.end % page
}
