//! Loads and stores.

use strum::VariantArray as _;

use super::block::Operation;
use super::execute::{Done, Handler, executes, form};
use super::{BusError, Halt, SimulatedMachine};
use crate::instruction::{
    Access, Core, Direction, Effect, MultipleTransfer, Offset, Register, Transfer,
};

macro_rules! by_access {
    ($access:expr, $function:ident) => {
        form!($access, Access: Word Half Byte SignedHalf SignedByte => $function [])
    };
}

impl SimulatedMachine {
    #[inline(always)]
    pub(super) fn read(&mut self, access: Access, address: u32) -> Done<u32> {
        match self.in_ram(access, address) {
            Some(value) => Ok(value),
            None => self.read_elsewhere(access, address),
        }
    }

    #[inline(never)]
    fn read_elsewhere(&mut self, access: Access, address: u32) -> Done<u32> {
        let mut value = [0; 4];
        let place = &mut value[..access.bytes().into()];
        match self.memory.bytes(address, place.len()) {
            Ok(bytes) => place.copy_from_slice(bytes),
            Err(error) => return self.read_device(access, address, error),
        }
        Ok(access.extend(u32::from_le_bytes(value)))
    }

    #[inline(always)]
    pub(super) fn write(&mut self, access: Access, address: u32, value: u32) -> Done {
        match self.put_in_ram(access, address, value) {
            Some(()) => Ok(()),
            None => self.write_elsewhere(access, address, value),
        }
    }

    #[inline(never)]
    fn write_elsewhere(&mut self, access: Access, address: u32, value: u32) -> Done {
        let bytes = &value.to_le_bytes()[..access.bytes().into()];
        let written = self.memory.write(address, bytes);
        written.or_else(|error| self.write_device(access, address, value, error))
    }

    /// Returns the value there, if it is in RAM.
    #[inline(always)]
    fn in_ram(&self, access: Access, address: u32) -> Option<u32> {
        let memory = &self.memory;
        Some(access.extend(match access.bytes() {
            4 => u32::from_le_bytes(memory.in_ram(address)?),
            2 => u16::from_le_bytes(memory.in_ram(address)?).into(),
            _ => u8::from_le_bytes(memory.in_ram(address)?).into(),
        }))
    }

    /// Writes there, if it is in RAM and no code.
    #[inline(always)]
    fn put_in_ram(&mut self, access: Access, address: u32, value: u32) -> Option<()> {
        let memory = &mut self.memory;
        match access.bytes() {
            4 => *memory.plain_ram(address)? = value.to_le_bytes(),
            2 => *memory.plain_ram(address)? = (value as u16).to_le_bytes(),
            _ => *memory.plain_ram(address)? = [value as u8],
        }
        Some(())
    }

    /// Reads what is neither flash nor RAM, where that is known.
    #[cold]
    fn read_device(&mut self, access: Access, address: u32, error: BusError) -> Done<u32> {
        if let Some((byte, bit)) = self.bit_band(address) {
            return Ok(self.read(Access::Byte, byte)? >> bit & 1);
        }
        let now = self.device(address, error)?;
        let value = self.devices.read(address & !3, now) >> (8 * (address & 3));
        Ok(access.extend(value))
    }

    /// Writes to a device.
    #[cold]
    fn write_device(&mut self, access: Access, address: u32, value: u32, error: BusError) -> Done {
        if let Some((byte, bit)) = self.bit_band(address) {
            let old = self.read(Access::Byte, byte)?;
            return self.write(Access::Byte, byte, old & !(1 << bit) | (value & 1) << bit);
        }
        let now = self.device(address, error)?;
        let (word, shift) = (address & !3, 8 * (address & 3));
        let mask = (((1u64 << (8 * access.bytes())) - 1) << shift) as u32;
        let merged = match mask {
            u32::MAX => value,
            _ => self.devices.read(word, now) & !mask | value << shift & mask,
        };
        if self.devices.prints(word) {
            let octets = &value.to_le_bytes()[..usize::from(access.bytes())];
            self.output.extend_from_slice(octets);
        }
        self.devices.write(word, merged, now);
        Ok(())
    }

    fn bit_band(&self, address: u32) -> Option<(u32, u32)> {
        bit_band(address).filter(|_| self.core() != Core::CortexM0Plus)
    }

    /// The time, where there is a register: who executes tells it when it is asked.
    fn device(&mut self, address: u32, error: BusError) -> Done<u64> {
        let halt = match self.now {
            Some(now) if self.devices.has(address & !3) => return Ok(now),
            None if self.devices.has(address & !3) => Halt::Device,
            _ => Halt::Fault(error.into()),
        };
        Err(self.interrupt(halt))
    }

    /// The address, and what the base becomes.
    #[inline(always)]
    fn address(&self, t: &Transfer) -> (u32, u32) {
        let base = self.registers.get(t.rn);
        let moved = |offset: i16| base.wrapping_add_signed(offset.into());
        match t.offset {
            Offset::Plain(offset) => (moved(offset), base),
            Offset::Pre(offset) => (moved(offset), moved(offset)),
            Offset::Post(offset) => (base, moved(offset)),
            Offset::Scaled(rm, shift) => {
                let offset = self.registers.get(rm) << (shift & 3);
                (base.wrapping_add(offset), base)
            }
        }
    }

    /// The lowest address of a multiple transfer, and what the base becomes.
    #[inline(always)]
    fn multiple(&mut self, t: &MultipleTransfer) -> Done<(u32, u32)> {
        let base = self.registers.get(t.rn);
        let bytes = 4 * t.list.count_ones();
        let (lowest, after) = match t.direction {
            Direction::IncrementAfter => (base, base.wrapping_add(bytes)),
            Direction::DecrementBefore => (base.wrapping_sub(bytes), base.wrapping_sub(bytes)),
        };
        Ok((self.check(aligned(lowest))?, after))
    }
}

/// Returns the function that executes a load or store, if it is one.
pub(super) fn handler(effect: &Effect) -> Option<Handler> {
    Some(match *effect {
        Effect::Load(t) if t.rt != Register::PC => by_access!(t.access, load),
        Effect::Load(_) | Effect::LoadLiteral(..) => load_any,
        Effect::LoadDouble(..) => load_double,
        Effect::LoadMultiple(_) => load_multiple,
        Effect::Store(t) => by_access!(t.access, store),
        Effect::StoreDouble(..) => store_double,
        Effect::StoreMultiple(_) => store_multiple,
        Effect::LoadExclusive(_) => load_exclusive,
        Effect::StoreExclusive(..) => store_exclusive,
        _ => return None,
    })
}

/// Returns true if its address may be no multiple of what it moves, for what its own function knows.
pub(super) const fn may_be_unaligned(effect: &Effect) -> bool {
    matches!(effect, Effect::Load(_) | Effect::Store(_))
}

// Comes before such a one where the architecture has no unaligned access (DDI 0419, A3.2).
executes! { pub(super) check_alignment, Effect::Load(t) | Effect::Store(t), |machine, operation| {
    let (address, _) = machine.address(&t);
    machine.noted.put(operation.index, address, 0);
    machine.check(aligned_for(t.access, address))?;
} }

/// Loads from elsewhere than RAM, or to the PC (LoadWritePC, A2.3.1): apart, so that the rest need no stack.
#[inline(never)]
fn load_any(machine: &mut SimulatedMachine, operation: &Operation) -> Done {
    let (access, rt, address, back) = match operation.effect {
        Effect::Load(t) => {
            let (address, base) = machine.address(&t);
            (t.access, t.rt, address, Some((t.rn, base)))
        }
        Effect::LoadLiteral(access, rt, address) => (access, rt, address, None),
        _ => return Ok(()),
    };
    machine.noted.put(operation.index, address, 0);
    let value = machine.read(access, address)?;
    if let Some((rn, base)) = back {
        machine.registers.set(rn, base);
    }
    if rt == Register::PC {
        return machine.exchange(value);
    }
    machine.registers.set(rt, value);
    operation.go_on(machine)
}

executes! { load<ACCESS: u8>, Effect::Load(t), |machine, operation| {
    let (address, base) = machine.address(&t);
    let Some(value) = machine.in_ram(Access::VARIANTS[ACCESS as usize], address) else {
        return load_any(machine, operation);
    };
    machine.noted.put(operation.index, address, 0);
    machine.registers.set(t.rn, base);
    machine.registers.set(t.rt, value);
} }

executes! { load_double, Effect::LoadDouble(rt2, t), |machine, operation| {
    let (address, base) = machine.address(&t);
    // LDRD (literal), A7.7.51: Align(PC, 4) and a multiple of four.
    let address = if t.rn == Register::PC { address & !3 } else { address };
    machine.noted.put(operation.index, address, 0);
    machine.check(aligned(address))?;
    let low = machine.read(Access::Word, address)?;
    let high = machine.read(Access::Word, address.wrapping_add(4))?;
    machine.registers.set(t.rn, base);
    machine.registers.set(t.rt, low);
    machine.registers.set(rt2, high);
} }

/// Visits the words of a multiple transfer from the lowest up; the base changes last, so that it can begin anew.
macro_rules! multiple {
    ($machine:ident, $operation:ident, $t:ident, |$register:ident, $address:ident| $body:block) => {
        $machine.noted.at = $operation.index;
        let (mut $address, base) = $machine.multiple(&$t)?;
        $machine.noted.put($operation.index, $address, 0);
        let mut rest = $t.list;
        while rest != 0 {
            let $register = Register::new(rest.trailing_zeros());
            rest &= rest - 1;
            $body
            $address = $address.wrapping_add(4);
        }
        if $t.write_back {
            $machine.registers.set($t.rn, base);
        }
    };
}

executes! { load_multiple, Effect::LoadMultiple(t), |machine, operation| {
    multiple!(machine, operation, t, |register, address| {
        let value = machine.read(Access::Word, address)?;
        if register == Register::PC {
            machine.exchange(value)?;
        } else {
            machine.registers.set(register, value);
        }
    });
} }

/// Stores to elsewhere than plain RAM.
#[inline(never)]
fn store_any(machine: &mut SimulatedMachine, operation: &Operation, t: Transfer) -> Done {
    let (address, base) = machine.address(&t);
    machine.noted.put(operation.index, address, 0);
    machine.write(t.access, address, machine.registers.get(t.rt))?;
    machine.registers.set(t.rn, base);
    operation.go_on(machine)
}

executes! { store<ACCESS: u8>, Effect::Store(t), |machine, operation| {
    let (address, base) = machine.address(&t);
    let value = machine.registers.get(t.rt);
    if machine.put_in_ram(Access::VARIANTS[ACCESS as usize], address, value).is_none() {
        return store_any(machine, operation, t);
    }
    machine.noted.put(operation.index, address, 0);
    machine.registers.set(t.rn, base);
} }

executes! { store_double, Effect::StoreDouble(rt2, t), |machine, operation| {
    let (address, base) = machine.address(&t);
    machine.noted.put(operation.index, address, 0);
    machine.check(aligned(address))?;
    for (register, address) in [(t.rt, address), (rt2, address.wrapping_add(4))] {
        machine.write(Access::Word, address, machine.registers.get(register))?;
    }
    machine.registers.set(t.rn, base);
} }

executes! { store_multiple, Effect::StoreMultiple(t), |machine, operation| {
    multiple!(machine, operation, t, |register, address| {
        machine.write(Access::Word, address, machine.registers.get(register))?;
    });
} }

executes! { load_exclusive, Effect::LoadExclusive(t), |machine, operation| {
    let (address, _) = machine.address(&t);
    machine.noted.put(operation.index, address, 0);
    machine.exclusive = true;
    machine.check(aligned_for(t.access, address))?;
    let value = machine.read(t.access, address)?;
    machine.registers.set(t.rt, value);
} }

executes! { store_exclusive, Effect::StoreExclusive(rd, t), |machine, operation| {
    let (address, _) = machine.address(&t);
    machine.noted.put(operation.index, address, 0);
    machine.check(aligned_for(t.access, address))?;
    // There is nobody else, so only CLREX and other STREX end the monitor's exclusive state.
    let fails = !std::mem::take(&mut machine.exclusive);
    if !fails {
        machine.write(t.access, address, machine.registers.get(t.rt))?;
    }
    machine.registers.set(rd, u32::from(fails));
} }

/// The byte and bit of an address of the bit-band regions (B3.1, table B3-1).
const fn bit_band(address: u32) -> Option<(u32, u32)> {
    match address {
        0x2200_0000..0x2400_0000 | 0x4200_0000..0x4400_0000 => {
            let offset = address & 0x01ff_ffff;
            Some((address & 0xf000_0000 | offset >> 5, offset >> 2 & 7))
        }
        _ => None,
    }
}

pub(super) const fn aligned(address: u32) -> Result<u32, BusError> {
    if address & 3 == 0 {
        Ok(address)
    } else {
        Err(BusError::Unaligned(address))
    }
}

/// Exclusive accesses, and all of ARMv6-M, are to multiples of their size.
const fn aligned_for(access: Access, address: u32) -> Result<u32, BusError> {
    match access {
        Access::Word => aligned(address),
        Access::Half | Access::SignedHalf if address & 1 != 0 => Err(BusError::Unaligned(address)),
        _ => Ok(address),
    }
}
