//! Every instruction form that the decoder knows, against what the architecture manual says it does.
//!
//! A row of a table in `isa` is `assembly | halfwords | before | after`. The halfwords are what
//! arm-none-eabi-as makes of the assembly; what comes after was computed from the pseudocode of
//! ARM DDI 0403E, not by the simulator. State is written as `r0=…`, `sp=…`, `lr=…`, `pc=…` and
//! `ge=…` in hexadecimal, memory as `[address]=…` of as many bytes as there are pairs of digits,
//! flags as the letters of those that are set of NZCVQ, `-` for none.
//!
//! What `before` does not name is arbitrary but known, and flags are clear; what `after` does not
//! name must not have changed, except that the PC has gone on to the next instruction. As many
//! instructions are executed as there are in the row. After `!` comes the message with which it ends at the last one:
//! then memory alone is compared.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use keymark_mcu::instruction::Core;
use keymark_mcu::machine::{Memory, SimulatedMachine, Stop};
use keymark_mcu::timing::Untimed;

use crate::{LAYOUT, register, set};

/// A file each for a part of the instruction set.
static TABLES: Dir = include_dir!("$CARGO_MANIFEST_DIR/tests/it/isa");

const START: u32 = 0x0800_0200;
const STACK: u32 = 0x2000_0800;

/// Something that a program can see of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// R0 to R14.
    Register(u32),
    Pc,
    /// A bit each, as in APSR.
    Flags,
    GreaterEqual,
    /// A byte there.
    Memory(u32),
}

/// The flags from the lowest bit on, and how far up APSR has them.
const FLAGS: &str = "QVCZN";
const FLAGS_AT: u32 = 27;

pub fn hex(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("not hexadecimal: '{digits}'"))
}

/// Reads a column: `name=value`, `[address]=value`, or flags.
fn words(column: &str) -> Vec<(Place, u32)> {
    let mut words = Vec::new();
    for word in column.split_whitespace() {
        let Some((name, value)) = word.split_once('=') else {
            let bit = |flag| 1 << FLAGS.find(flag).unwrap();
            let flags = word.chars().filter(|flag| *flag != '-').map(bit);
            words.push((Place::Flags, flags.sum()));
            continue;
        };
        let place = match name {
            "sp" => Place::Register(13),
            "lr" => Place::Register(14),
            "pc" => Place::Pc,
            "ge" => Place::GreaterEqual,
            _ if name.starts_with('[') => {
                let bytes = hex(value).to_le_bytes();
                let address = hex(name.trim_matches(['[', ']']));
                let bytes = (address..).zip(&bytes[..value.len() / 2]);
                words.extend(bytes.map(|(address, byte)| (Place::Memory(address), (*byte).into())));
                continue;
            }
            _ => Place::Register(name.trim_start_matches('r').parse().unwrap()),
        };
        words.push((place, hex(value)));
    }
    words
}

fn state(machine: &SimulatedMachine) -> BTreeMap<Place, u32> {
    let registers = &machine.registers;
    let ram = machine
        .memory
        .bytes(LAYOUT.ram_base, LAYOUT.ram_size as usize);
    let ram = (LAYOUT.ram_base..).zip(ram.unwrap());
    (0..15)
        .map(|number| (Place::Register(number), register(machine, number)))
        .chain([
            (Place::Pc, machine.pc()),
            (Place::Flags, registers.apsr() >> FLAGS_AT),
            (Place::GreaterEqual, registers.greater_equal.into()),
        ])
        .chain(ram.map(|(address, byte)| (Place::Memory(address), (*byte).into())))
        .collect()
}

/// Executes a row; what is wrong, if anything.
fn check(row: &'static str, core: Core) -> Option<String> {
    let columns: Vec<&str> = row.split('|').map(str::trim).collect();
    let [assembly, halfwords, before, after] = columns[..] else {
        panic!("not a row: {row}");
    };
    let code: Vec<u8> = halfwords
        .split(' ')
        .flat_map(|half| (hex(half) as u16).to_le_bytes())
        .collect();
    let (mut memory, mut start) = (Memory::new(LAYOUT), START);
    for (place, value) in words(before) {
        match place {
            Place::Memory(address) => memory.load(address, &[value as u8]).unwrap(),
            Place::Pc => start = value,
            Place::Register(_) | Place::GreaterEqual | Place::Flags => {}
        }
    }
    memory.load(start, &code).unwrap();
    let mut machine = SimulatedMachine::new(memory, start | 1, STACK).with_core(core);
    let arbitrary: [u32; 13] = std::array::from_fn(|number| 0xfee1_de00 + number as u32);
    set(&mut machine, &arbitrary);
    let mut expected = state(&machine);
    expected.extend(words(before));
    expected.insert(Place::Pc, start + code.len() as u32);
    let registers: Vec<u32> = expected.values().copied().take(15).collect();
    set(&mut machine, &registers);
    let [flags, greater_equal] = [Place::Flags, Place::GreaterEqual].map(|place| expected[&place]);
    let apsr = flags << FLAGS_AT | greater_equal << 16;
    machine.registers.set_apsr(apsr, 0b11);

    let instructions = assembly.split(';').count() as u64;
    let (after, message) = after.split_once('!').unwrap_or((after, ""));
    let limit = instructions + u64::from(!message.is_empty());
    let stop = machine.run(&mut Untimed, limit);
    let changed = words(after);
    let is_known = |(place, _): &(Place, u32)| expected.contains_key(place);
    assert!(changed.iter().all(is_known), "{row}");
    expected.extend(changed);
    let faults = u64::from(matches!(stop, Stop::Fault(_)));
    assert_eq!(machine.executed() + faults, instructions, "{row}");
    let ends = match message.trim() {
        "" => stop == Stop::Limit,
        message => stop.to_string().starts_with(message),
    };
    if !ends {
        return Some(format!("{row}: {stop}"));
    }
    let mut is = state(&machine);
    is.retain(|place, value| {
        let is_compared = message.is_empty() || matches!(place, Place::Memory(_));
        is_compared && *value != expected[place]
    });
    let wrong = is.iter().map(|(place, value)| {
        let should = expected[place];
        format!("{row}: {place:x?} is {value:x}, not {should:x}")
    });
    (!is.is_empty()).then(|| wrong.collect::<Vec<_>>().join("; "))
}

#[test]
fn every_form_does_what_the_manual_says() {
    let mut wrong = Vec::new();
    for table in TABLES.files() {
        let core = match table.path().to_str() {
            Some("armv6m.table") => Core::CortexM0Plus,
            Some("armv7m.table") => Core::CortexM3,
            _ => Core::CortexM4,
        };
        let rows = table.contents_utf8().unwrap().lines();
        let rows = rows.filter(|line| !line.is_empty() && !line.starts_with('#'));
        wrong.extend(rows.filter_map(|row| check(row, core)));
    }
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
