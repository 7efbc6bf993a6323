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

use include_dir::{Dir, include_dir};
use keymark_mcu::instruction::{Core, Register};
use keymark_mcu::machine::{Memory, SimulatedMachine, Stop};
use keymark_mcu::timing::Untimed;

use crate::LAYOUT;

/// A file each for a part of the instruction set.
static TABLES: Dir = include_dir!("$CARGO_MANIFEST_DIR/tests/it/isa");

const START: u32 = 0x0800_0200;
const STACK: u32 = 0x2000_0800;

/// A word of a row: `name=value`, `[address]=value`, or flags.
enum Word<'a> {
    Register(u32, u32),
    Pc(u32),
    GreaterEqual(u8),
    Memory(u32, Vec<u8>),
    Flags(&'a str),
}

pub fn hex(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("not hexadecimal: '{digits}'"))
}

fn words(state: &str) -> impl Iterator<Item = Word<'_>> {
    state.split_whitespace().map(|word| {
        let Some((name, value)) = word.split_once('=') else {
            assert!(
                word == "-" || word.chars().all(|flag| "NZCVQ".contains(flag)),
                "{word}"
            );
            return Word::Flags(word);
        };
        match name {
            "sp" => Word::Register(13, hex(value)),
            "lr" => Word::Register(14, hex(value)),
            "pc" => Word::Pc(hex(value)),
            "ge" => Word::GreaterEqual(hex(value) as u8),
            _ if name.starts_with('[') => {
                let address = hex(name.trim_matches(['[', ']']));
                let bytes = hex(value).to_le_bytes();
                Word::Memory(address, bytes[..value.len() / 2].to_vec())
            }
            _ => Word::Register(name.trim_start_matches('r').parse().unwrap(), hex(value)),
        }
    })
}

/// What a program can see of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    /// R0 to R14.
    registers: Vec<u32>,
    pc: u32,
    flags: String,
    greater_equal: u8,
    ram: Vec<u8>,
}

impl State {
    fn of(machine: &SimulatedMachine) -> Self {
        let registers = &machine.registers;
        let apsr = registers.apsr();
        let flags: String = (0..)
            .zip("NZCVQ".chars())
            .filter_map(|(bit, flag)| (apsr << bit >> 31 == 1).then_some(flag))
            .collect();
        Self {
            registers: (0..15)
                .map(|number| registers.get(Register::new(number)))
                .collect(),
            pc: machine.pc(),
            flags: if flags.is_empty() {
                "-".to_owned()
            } else {
                flags
            },
            greater_equal: registers.greater_equal,
            ram: machine
                .memory
                .bytes(LAYOUT.ram_base, LAYOUT.ram_size as usize)
                .unwrap()
                .to_vec(),
        }
    }

    fn expect(&mut self, words: impl Iterator<Item = Word<'static>>) {
        for word in words {
            match word {
                Word::Register(number, value) => self.registers[number as usize] = value,
                Word::Pc(pc) => self.pc = pc,
                Word::GreaterEqual(bits) => self.greater_equal = bits,
                Word::Flags(flags) => flags.clone_into(&mut self.flags),
                // Of flash only literals and tables are named, and nothing changes them.
                Word::Memory(address, _) if address < LAYOUT.ram_base => {}
                Word::Memory(address, bytes) => {
                    let offset = (address - LAYOUT.ram_base) as usize;
                    self.ram[offset..][..bytes.len()].copy_from_slice(&bytes);
                }
            }
        }
    }

    /// Says in a row's words what is otherwise than expected.
    fn differences(&self, expected: &Self) -> String {
        let mut found = Vec::new();
        for (number, (is, should)) in self.registers.iter().zip(&expected.registers).enumerate() {
            if is != should {
                found.push(format!("r{number} is {is:x}, not {should:x}"));
            }
        }
        if self.pc != expected.pc {
            found.push(format!("pc is {:x}, not {:x}", self.pc, expected.pc));
        }
        if self.flags != expected.flags {
            found.push(format!("flags are {}, not {}", self.flags, expected.flags));
        }
        if self.greater_equal != expected.greater_equal {
            let (is, should) = (self.greater_equal, expected.greater_equal);
            found.push(format!("ge is {is:x}, not {should:x}"));
        }
        for (address, (is, should)) in (LAYOUT.ram_base..).zip(self.ram.iter().zip(&expected.ram)) {
            if is != should {
                found.push(format!("[{address:x}] is {is:02x}, not {should:02x}"));
            }
        }
        found.join("; ")
    }
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
    for word in words(before) {
        match word {
            Word::Memory(address, bytes) => memory.load(address, &bytes).unwrap(),
            Word::Pc(pc) => start = pc,
            Word::Register(..) | Word::GreaterEqual(_) | Word::Flags(_) => {}
        }
    }
    memory.load(start, &code).unwrap();
    let machine = SimulatedMachine::new(memory, start | 1, STACK);
    let mut machine = machine.with_core(core);
    for number in 0..13 {
        machine
            .registers
            .set(Register::new(number), 0xfee1_de00 + number);
    }
    let mut expected = State::of(&machine);
    expected.expect(words(before));
    expected.pc = start + code.len() as u32;
    for (number, &value) in (0..).zip(&expected.registers) {
        machine.registers.set(Register::new(number), value);
    }
    let flags = (0..).zip("NZCVQ".chars());
    let apsr = flags.fold(0, |apsr, (bit, flag)| {
        apsr | u32::from(expected.flags.contains(flag)) << (31 - bit)
    });
    let greater_equal = u32::from(expected.greater_equal) << 16;
    machine.registers.set_apsr(apsr | greater_equal, 0b11);

    let instructions = assembly.split(';').count() as u64;
    let (after, message) = after.split_once('!').unwrap_or((after, ""));
    let limit = instructions + u64::from(!message.is_empty());
    let stop = machine.run(&mut Untimed, limit);
    expected.expect(words(after));
    let is = State::of(&machine);
    let faults = u64::from(matches!(stop, Stop::Fault(_)));
    assert_eq!(machine.executed() + faults, instructions, "{row}");
    if message.is_empty() && stop == Stop::Limit {
        return (is != expected).then(|| format!("{row}: {}", is.differences(&expected)));
    }
    let ends = !message.is_empty() && stop.to_string().starts_with(message.trim());
    (!ends || is.ram != expected.ram).then(|| format!("{row}: {stop}"))
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
