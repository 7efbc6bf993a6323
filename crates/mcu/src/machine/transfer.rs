//! Loads, stores and special registers.

use super::{BusError, Halt, Interrupted, Machine};
use crate::instruction::{
    Access, Direction, Effect, Index, MultipleTransfer, Register, ScaledTransfer, Transfer,
};

impl Machine {
    #[inline(always)]
    pub(super) fn read(&mut self, access: Access, address: u32) -> Result<u32, Interrupted> {
        let memory = &self.memory;
        let value = match access {
            Access::Word => memory.word(address),
            Access::Half => memory.half(address).map(u32::from),
            Access::Byte => memory.byte(address).map(u32::from),
            Access::SignedHalf => memory.half(address).map(|half| half as i16 as i32 as u32),
            Access::SignedByte => memory.byte(address).map(|byte| byte as i8 as i32 as u32),
        };
        value.or_else(|error| self.read_device(access, address, error))
    }

    #[inline(always)]
    pub(super) fn write(
        &mut self,
        access: Access,
        address: u32,
        value: u32,
    ) -> Result<(), Interrupted> {
        let memory = &mut self.memory;
        let written = match access {
            Access::Word => memory.write(address, value.to_le_bytes()),
            Access::Half | Access::SignedHalf => {
                memory.write(address, (value as u16).to_le_bytes())
            }
            Access::Byte | Access::SignedByte => memory.write(address, [value as u8]),
        };
        written.or_else(|error| self.write_device(access, address, value, error))
    }

    /// Reads what is neither flash nor RAM, where that is known.
    #[cold]
    fn read_device(
        &mut self,
        access: Access,
        address: u32,
        error: BusError,
    ) -> Result<u32, Interrupted> {
        if let Some((byte, bit)) = bit_band(address) {
            return Ok(self.read(Access::Byte, byte)? >> bit & 1);
        }
        let now = self.device(address, error)?;
        let value = self.devices.read(address & !3, now) >> (8 * (address & 3));
        Ok(match access {
            Access::Word => value,
            Access::Half => value & 0xffff,
            Access::Byte => value & 0xff,
            Access::SignedHalf => value as i16 as i32 as u32,
            Access::SignedByte => value as i8 as i32 as u32,
        })
    }

    /// And writes it.
    #[cold]
    fn write_device(
        &mut self,
        access: Access,
        address: u32,
        value: u32,
        error: BusError,
    ) -> Result<(), Interrupted> {
        if let Some((byte, bit)) = bit_band(address) {
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
        self.devices.write(word, merged, now);
        Ok(())
    }

    /// The time, where there is a register: who executes tells it when it is asked.
    fn device(&mut self, address: u32, error: BusError) -> Result<u64, Interrupted> {
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
        let moved = base.wrapping_add_signed(t.offset);
        match t.index {
            Index::Offset => (moved, base),
            Index::Pre => (moved, moved),
            Index::Post => (base, moved),
        }
    }

    fn scaled(&self, t: &ScaledTransfer) -> u32 {
        let offset = self.registers.get(t.rm) << (t.shift & 3);
        self.registers.get(t.rn).wrapping_add(offset)
    }

    #[inline(always)]
    pub(super) fn load(&mut self, effect: &Effect, after: u32) -> Result<u32, Interrupted> {
        let (access, rt, address) = match effect {
            Effect::Load(t) => {
                let (address, base) = self.address(t);
                let value = self.read(t.access, address)?;
                self.registers.set(t.rn, base);
                return self.loaded(t.rt, address, value, after);
            }
            Effect::LoadRegister(t) => (t.access, t.rt, self.scaled(t)),
            Effect::LoadLiteral(access, rt, address) => (*access, *rt, *address),
            Effect::LoadExclusive(t) => {
                let address = self.registers.get(t.rn).wrapping_add_signed(t.offset);
                self.exclusive = true;
                (t.access, t.rt, self.check(aligned_for(t.access, address))?)
            }
            Effect::LoadDouble(rt2, t) => return self.load_double(*rt2, t, after),
            Effect::LoadMultiple(t) => return self.load_multiple(t, after),
            _ => return Ok(after), // `execute` has seen to that.
        };
        let value = self.read(access, address)?;
        self.loaded(rt, address, value, after)
    }

    /// Puts a loaded value where it goes; LoadWritePC (A2.3.1) for the PC.
    #[inline(always)]
    fn loaded(
        &mut self,
        rt: Register,
        address: u32,
        value: u32,
        after: u32,
    ) -> Result<u32, Interrupted> {
        self.access = address;
        if rt == Register::PC {
            return self.exchange(value);
        }
        self.registers.set(rt, value);
        Ok(after)
    }

    fn load_double(&mut self, rt2: Register, t: &Transfer, after: u32) -> Result<u32, Interrupted> {
        let (address, base) = self.address(t);
        // LDRD (literal), A7.7.51: Align(PC, 4) and a multiple of four.
        let address = if t.rn == Register::PC {
            address & !3
        } else {
            address
        };
        self.access = self.check(aligned(address))?;
        let low = self.read(Access::Word, address)?;
        let high = self.read(Access::Word, address.wrapping_add(4))?;
        self.registers.set(t.rn, base);
        self.registers.set(t.rt, low);
        self.registers.set(rt2, high);
        Ok(after)
    }

    #[inline(always)]
    fn load_multiple(&mut self, t: &MultipleTransfer, after: u32) -> Result<u32, Interrupted> {
        let (mut address, base) = self.multiple(t)?;
        self.access = address;
        let mut next = after;
        let mut rest = t.list;
        while rest != 0 {
            let register = Register::new(rest.trailing_zeros());
            rest &= rest - 1;
            let value = self.read(Access::Word, address)?;
            address = address.wrapping_add(4);
            if register == Register::PC {
                next = self.exchange(value)?;
            } else {
                self.registers.set(register, value);
            }
        }
        // Last, so that the instruction can begin anew.
        if t.write_back {
            self.registers.set(t.rn, base);
        }
        Ok(next)
    }

    /// The lowest address of a multiple transfer, and what the base becomes.
    #[inline(always)]
    fn multiple(&mut self, t: &MultipleTransfer) -> Result<(u32, u32), Interrupted> {
        let base = self.registers.get(t.rn);
        let bytes = 4 * t.list.count_ones();
        let (lowest, after) = match t.direction {
            Direction::IncrementAfter => (base, base.wrapping_add(bytes)),
            Direction::DecrementBefore => (base.wrapping_sub(bytes), base.wrapping_sub(bytes)),
        };
        Ok((self.check(aligned(lowest))?, after))
    }

    #[inline(always)]
    pub(super) fn store(&mut self, effect: &Effect) -> Result<(), Interrupted> {
        let (access, rt, address) = match effect {
            Effect::Store(t) => {
                let (address, base) = self.address(t);
                self.access = address;
                self.write(t.access, address, self.registers.get(t.rt))?;
                self.registers.set(t.rn, base);
                return Ok(());
            }
            Effect::StoreRegister(t) => (t.access, t.rt, self.scaled(t)),
            Effect::StoreExclusive(rd, t) => {
                let address = self.registers.get(t.rn).wrapping_add_signed(t.offset);
                self.access = self.check(aligned_for(t.access, address))?;
                // There is nobody else, so only CLREX and other STREX end the monitor's exclusive state.
                let fails = !std::mem::take(&mut self.exclusive);
                if !fails {
                    self.write(t.access, address, self.registers.get(t.rt))?;
                }
                self.registers.set(*rd, u32::from(fails));
                return Ok(());
            }
            Effect::StoreDouble(rt2, t) => return self.store_double(*rt2, t),
            Effect::StoreMultiple(t) => return self.store_multiple(t),
            _ => return Ok(()), // `execute` has seen to that.
        };
        self.access = address;
        self.write(access, address, self.registers.get(rt))
    }

    fn store_double(&mut self, rt2: Register, t: &Transfer) -> Result<(), Interrupted> {
        let (address, base) = self.address(t);
        self.access = self.check(aligned(address))?;
        for (register, address) in [(t.rt, address), (rt2, address.wrapping_add(4))] {
            self.write(Access::Word, address, self.registers.get(register))?;
        }
        self.registers.set(t.rn, base);
        Ok(())
    }

    #[inline(always)]
    fn store_multiple(&mut self, t: &MultipleTransfer) -> Result<(), Interrupted> {
        let (mut address, base) = self.multiple(t)?;
        self.access = address;
        let mut rest = t.list;
        while rest != 0 {
            let register = Register::new(rest.trailing_zeros());
            rest &= rest - 1;
            self.write(Access::Word, address, self.registers.get(register))?;
            address = address.wrapping_add(4);
        }
        if t.write_back {
            self.registers.set(t.rn, base);
        }
        Ok(())
    }
}

/// The byte and bit that an address of the bit-band regions stands for (B3.1, table B3-1).
const fn bit_band(address: u32) -> Option<(u32, u32)> {
    match address {
        0x2200_0000..0x2400_0000 | 0x4200_0000..0x4400_0000 => {
            let offset = address & 0x01ff_ffff;
            Some((address & 0xf000_0000 | offset >> 5, offset >> 2 & 7))
        }
        _ => None,
    }
}

const fn aligned(address: u32) -> Result<u32, BusError> {
    if address & 3 == 0 {
        Ok(address)
    } else {
        Err(BusError::Unaligned(address))
    }
}

/// Exclusive accesses are to multiples of their size.
const fn aligned_for(access: Access, address: u32) -> Result<u32, BusError> {
    match access {
        Access::Word => aligned(address),
        Access::Half | Access::SignedHalf if address & 1 != 0 => Err(BusError::Unaligned(address)),
        _ => Ok(address),
    }
}
