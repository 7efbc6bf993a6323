//! Variables for the module that calls go to, and for nobody else in the process.
//!
//! Modules find their configuration by variables (SoftHSM2 by `SOFTHSM2_CONF`) when they are initialised. The process's own
//! environment cannot be changed for that: other threads may be reading it, and children would inherit it. So the module
//! gets a getenv(3) that knows those variables. It calls the C library's by an address in a table that the loader has filled
//! in (System V ABI: the global offset table), and that address is replaced. Nothing else in the process is changed.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{Elf64_Rela, Elf64_Sym, dl_phdr_info};

/// What the module is told, in place of what the process has.
static VARIABLES: OnceLock<BTreeMap<CString, CString>> = OnceLock::new();

/// By these functions modules ask (getenv(3)).
const ASKING: [&CStr; 2] = [c"getenv", c"secure_getenv"];

/// Gives the module, in which that address is, its variables, for as long as the process lives.
///
/// # Errors
/// Why it would find them in the process's environment only.
pub(crate) fn give(
    variables: &BTreeMap<String, String>,
    inside: *const c_void,
) -> Result<(), String> {
    if cfg!(not(target_pointer_width = "64")) {
        return Err("this machine's libraries have other tables".to_owned());
    }
    let text = |text: &String| CString::new(text.as_str()).map_err(|error| error.to_string());
    let variables: Result<BTreeMap<_, _>, String> = variables
        .iter()
        .map(|(name, value)| Ok((text(name)?, text(value)?)))
        .collect();
    let _ = VARIABLES.set(variables?);
    let module = Loaded::around(inside).ok_or("its tables are not where the loader keeps them")?;
    let entries = module.entries_of(&ASKING);
    if entries.is_empty() {
        return Err("it does not call getenv".to_owned());
    }
    let own = own_getenv as unsafe extern "C" fn(*const c_char) -> *mut c_char;
    entries
        .into_iter()
        .try_for_each(|entry| module.set(entry, own as usize))
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
#[derive(Debug, Default)]
struct Loaded {
    /// What is added to the addresses in its file.
    base: usize,
    dynamic: Dynamic,
    /// Where the loader has taken away the right to write.
    read_only: Range<usize>,
}

/// What its dynamic section says: addresses in memory, and lengths in bytes.
#[derive(Debug, Default)]
struct Dynamic {
    symbols: usize,
    names: usize,
    /// Two tables of relocations: those of data, and those of functions.
    tables: [Range<usize>; 2],
}

/// One entry of a dynamic section (Elf64_Dyn).
#[repr(C)]
struct Entry {
    tag: i64,
    value: usize,
}

/// The tags of entries that are read (System V ABI, "Dynamic Section").
mod tag {
    pub(super) const END: i64 = 0;
    pub(super) const LENGTH_OF_FUNCTIONS: i64 = 2;
    pub(super) const NAMES: i64 = 5;
    pub(super) const SYMBOLS: i64 = 6;
    pub(super) const DATA: i64 = 7;
    pub(super) const LENGTH_OF_DATA: i64 = 8;
    pub(super) const FUNCTIONS: i64 = 23;
}

impl Loaded {
    /// The one in which that address is.
    fn around(inside: *const c_void) -> Option<Self> {
        let mut search = Search {
            inside: inside as usize,
            found: None,
        };
        // SAFETY: it is called back with the structure given, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(Search::look), (&raw mut search).cast()) };
        search.found
    }

    /// The entries with the addresses of those functions.
    fn entries_of(&self, functions: &[&CStr]) -> Vec<usize> {
        let mut found = Vec::new();
        for table in &self.dynamic.tables {
            for at in table.clone().step_by(size_of::<Elf64_Rela>()) {
                // SAFETY: a table of relocations, which the loader has read in the same way; it stays mapped.
                let relocation = unsafe { &*(at as *const Elf64_Rela) };
                let symbol = usize::try_from(relocation.r_info >> 32).unwrap_or(0);
                let symbol = self.dynamic.symbols + symbol * size_of::<Elf64_Sym>();
                // SAFETY: the relocation's number is that of a symbol in the library's table.
                let name = unsafe { (*(symbol as *const Elf64_Sym)).st_name } as usize;
                // SAFETY: the symbol's name begins there in the table of names, and ends with a zero.
                let name = unsafe { CStr::from_ptr((self.dynamic.names + name) as *const c_char) };
                if functions.contains(&name) {
                    found.push(self.base + usize::try_from(relocation.r_offset).unwrap_or(0));
                }
            }
        }
        found
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

/// A walk through all libraries that are loaded.
struct Search {
    inside: usize,
    found: Option<Loaded>,
}

impl Search {
    unsafe extern "C" fn look(info: *mut dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the structure that the walk was begun with, which nobody else has meanwhile.
        let search = unsafe { &mut *search.cast::<Self>() };
        // SAFETY: the loader's description of a library, and its program headers, there while the walk lasts.
        let (info, headers) = unsafe {
            let info = &*info;
            (
                info,
                std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
            )
        };
        let base = usize::try_from(info.dlpi_addr).unwrap_or(0);
        let part = |kind| {
            let mut parts = headers.iter().filter(move |header| header.p_type == kind);
            parts.next().map(|header| {
                let begin = base + usize::try_from(header.p_vaddr).unwrap_or(0);
                begin..begin + usize::try_from(header.p_memsz).unwrap_or(0)
            })
        };
        let is_it = headers.iter().any(|header| {
            let begin = base + usize::try_from(header.p_vaddr).unwrap_or(0);
            let length = usize::try_from(header.p_memsz).unwrap_or(0);
            header.p_type == libc::PT_LOAD && (begin..begin + length).contains(&search.inside)
        });
        if !is_it {
            return 0;
        }
        search.found = part(libc::PT_DYNAMIC).map(|dynamic| Loaded {
            base,
            // SAFETY: the library's dynamic section, which ends with an entry of its own.
            dynamic: unsafe { Dynamic::read(dynamic.start as *const Entry, base) },
            read_only: part(libc::PT_GNU_RELRO).map_or(0..0, |part| whole_pages(&part)),
        });
        1
    }
}

/// What the loader can take rights from: pages, from where the part begins to the last whole one.
fn whole_pages(part: &Range<usize>) -> Range<usize> {
    let page = page();
    part.start - part.start % page..part.end - part.end % page
}

impl Dynamic {
    /// # Safety
    /// The dynamic section of a loaded library.
    unsafe fn read(mut entry: *const Entry, base: usize) -> Self {
        let mut read = Self::default();
        let (mut data, mut functions) = ((0, 0), (0, 0));
        // glibc has put in addresses of memory, others leave those of the file.
        let in_memory = |address: usize| {
            if address < base {
                base + address
            } else {
                address
            }
        };
        loop {
            // SAFETY: the section goes on to the entry that ends it.
            let Entry { tag, value } = unsafe { entry.read() };
            match tag {
                tag::END => break,
                tag::SYMBOLS => read.symbols = in_memory(value),
                tag::NAMES => read.names = in_memory(value),
                tag::DATA => data.0 = in_memory(value),
                tag::LENGTH_OF_DATA => data.1 = value,
                tag::FUNCTIONS => functions.0 = in_memory(value),
                tag::LENGTH_OF_FUNCTIONS => functions.1 = value,
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
        read.tables = [data, functions].map(|(begin, length)| begin..begin + length);
        read
    }
}
