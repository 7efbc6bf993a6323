//! Names of places: of code by whatever label there is, of source lines by DWARF.

use std::borrow::Cow;
use std::ops::Range;

use addr2line::Context;
use addr2line::gimli::{self, Dwarf, EndianSlice, LittleEndian};
use goblin::elf::{Elf, SectionHeader, section_header, sym};

use super::Symbol;

/// Longer names are cut.
const LONGEST_NAME: usize = 1024;

/// All symbols, by address.
pub(super) fn all(elf: &Elf<'_>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = elf
        .syms
        .iter()
        .filter_map(|one| symbol(elf, &one))
        .collect();
    symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    symbols
}

fn symbol(elf: &Elf<'_>, entry: &sym::Sym) -> Option<Symbol> {
    let name = elf.strtab.get_at(entry.st_name)?;
    // $t, $d and the like mark kinds of content (ELF for the Arm Architecture, 5.5.5).
    if name.is_empty() || name.starts_with('$') {
        return None;
    }
    let is_function = match entry.st_type() {
        sym::STT_FUNC => true,
        sym::STT_OBJECT | sym::STT_NOTYPE => false,
        _ => return None,
    };
    let name: String = name.chars().take(LONGEST_NAME).collect();
    // Without its prefix C++'s `f` is a type, and C's a function.
    let mangled = name.starts_with("_Z") || name.starts_with("_R");
    Some(Symbol {
        name: if mangled {
            addr2line::demangle_auto(Cow::Owned(name), None).into_owned()
        } else {
            name
        },
        address: u32::try_from(entry.st_value).ok()? & !u32::from(is_function),
        size: u32::try_from(entry.st_size).ok()?,
        is_function,
    })
}

fn executable<'e>(elf: &'e Elf<'_>, entry: &sym::Sym) -> Option<&'e SectionHeader> {
    let section = elf.section_headers.get(entry.st_shndx)?;
    (section.sh_flags & u64::from(section_header::SHF_EXECINSTR) != 0).then_some(section)
}

/// The labels of code by address, each as long as it names what is there: to the next one, or the end of its section.
/// Functions and global labels come first; local labels name what lies behind the functions of known length only, since
/// within others they are targets of branches.
pub(super) fn code(elf: &Elf<'_>) -> Vec<Symbol> {
    let label = |entry: sym::Sym| {
        let section = executable(elf, &entry)?;
        let found = symbol(elf, &entry).filter(|one| one.is_function || entry.st_type() == 0)?;
        let end = u32::try_from(section.sh_addr.saturating_add(section.sh_size)).ok()?;
        let local = !found.is_function && entry.st_bind() == sym::STB_LOCAL;
        Some((found, end, local))
    };
    let mut labels: Vec<_> = elf.syms.iter().filter_map(label).collect();
    labels.sort_by(|(a, _, local), (b, _, other)| {
        (a.address, local, a.size == 0, &a.name).cmp(&(b.address, other, b.size == 0, &b.name))
    });
    let mut kept: Vec<(Symbol, u32)> = Vec::new();
    // Until where the function of known length reaches, and until where a local label says less than what is known.
    let (mut sized, mut named) = (0, 0);
    for (symbol, end, local) in labels {
        let inside = !symbol.is_function && symbol.address < if local { named } else { sized };
        let again = kept
            .last()
            .is_some_and(|(last, _)| last.address == symbol.address);
        if inside || again {
            continue;
        }
        if !local {
            sized = symbol.address.saturating_add(symbol.size);
            named = if symbol.size == 0 { end } else { sized };
        }
        kept.push((symbol, end));
    }
    let nexts: Vec<u32> = kept
        .iter()
        .skip(1)
        .map(|(next, _)| next.address)
        .chain([u32::MAX])
        .collect();
    let sized = kept
        .into_iter()
        .zip(nexts)
        .map(|((symbol, end), next)| Symbol {
            size: end.min(next).saturating_sub(symbol.address),
            ..symbol
        });
    sized.filter(|symbol| symbol.size > 0).collect()
}

/// Returns the source line of an instruction as `file:line`.
pub(super) fn line(file: &[u8], address: u32) -> Option<String> {
    let elf = Elf::parse(file).ok()?;
    let section = |id: gimli::SectionId| {
        let named =
            |header: &&SectionHeader| elf.shdr_strtab.get_at(header.sh_name) == Some(id.name());
        let header = elf.section_headers.iter().find(named);
        let place: Option<Range<usize>> = header.and_then(SectionHeader::file_range);
        let bytes = place.and_then(|place| file.get(place)).unwrap_or_default();
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
    };
    let context = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
    let found = context.find_location(u64::from(address)).ok()??;
    let name = found.file?.rsplit('/').next()?;
    Some(format!("{name}:{}", found.line?))
}
