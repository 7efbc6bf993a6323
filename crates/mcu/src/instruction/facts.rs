//! Facts of an effect for timing: its class, and the registers written and addressed with.

use crate::instruction::{
    Alu, Condition, Effect, Extend, Long, MultipleTransfer, Multiply, Offset, Operands, Register,
    Transfer,
};
use crate::named::named;

/// Facts of an instruction before its execution. Sixteen bytes, copied whole: the timing model keeps those of the
/// instruction before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(4))]
pub struct Facts {
    /// Registers it writes.
    pub writes: u16,
    /// Registers it makes an address of.
    pub address: u16,
    /// Class of its cycles.
    pub class: Class,
    /// Bytes: two or four.
    pub size: u8,
    /// Bytes it moves to or from memory.
    pub bytes: u8,
    /// Condition of the IT block around it.
    pub condition: Condition,
    /// Floating-point registers that it computes, for which what directly follows waits a cycle.
    pub late: u32,
    /// Registers needed at the beginning.
    pub reads: u32,
}

impl Facts {
    /// Facts of an instruction that touches nothing.
    pub const NONE: Self = Self {
        writes: 0,
        address: 0,
        class: Class::System,
        size: 2,
        bytes: 0,
        condition: Condition::Al,
        late: 0,
        reads: 0,
    };

    pub(super) const fn of(class: Class, writes: u16) -> Self {
        Self {
            class,
            writes,
            ..Self::NONE
        }
    }

    /// Returns facts of a transfer of that many bytes, at an address made of these registers.
    pub(super) const fn moving(self, bytes: u8, address: u16) -> Self {
        Self {
            bytes,
            address,
            ..self
        }
    }
}

impl Effect {
    /// Returns class and registers of the effect.
    pub(super) fn facts(&self) -> Facts {
        match *self {
            Self::DataImmediate(alu, _, r, ..) | Self::DataRegister(alu, _, r) => {
                data(alu, r, Class::Move)
            }
            Self::DataShifted(alu, _, r, _) => data(alu, r, Class::Shift),
            Self::MoveTop(d, _) => Facts::of(Class::Move, d.bit()),
            Self::ShiftRegister(.., r) => Facts::of(Class::Shift, r.d.bit()),
            Self::Unary(_, r) | Self::BitField(_, r, _) | Self::Extend(_, r, _) => {
                Facts::of(Class::Logic, r.d.bit())
            }
            Self::Multiply(multiply, _, r, _) => {
                let class = match multiply {
                    Multiply::Mul => Class::Multiply,
                    Multiply::Mla | Multiply::Mls => Class::MultiplyAccumulate,
                    _ => Class::Dsp,
                };
                Facts::of(class, r.d.bit())
            }
            Self::MultiplyLong(long, r, low) => {
                let class = match long {
                    Long::Umull | Long::Smull => Class::MultiplyLong,
                    Long::Umlal | Long::Smlal => Class::MultiplyLongAccumulate,
                    Long::Umaal => Class::Umaal,
                };
                Facts::of(class, low.bit() | r.d.bit())
            }
            Self::MultiplyLongDsp(_, r, low) => Facts::of(Class::Dsp, low.bit() | r.d.bit()),
            Self::Divide(_, r) => Facts::of(Class::Divide, r.d.bit()),
            Self::Saturating(_, r)
            | Self::Saturate(_, r, ..)
            | Self::Saturate16(_, r, _)
            | Self::Parallel(.., r)
            | Self::Select(r)
            | Self::Pack(r, _) => Facts::of(Class::Dsp, r.d.bit()),
            Self::BranchLink(_) | Self::BranchLinkRegister(_) => {
                Facts::of(Class::Call, Register::LR.bit())
            }
            Self::Branch(_)
            | Self::BranchConditional(..)
            | Self::CompareBranch { .. }
            | Self::BranchRegister(..) => Facts::of(Class::Branch, 0),
            Self::TableBranch(access, r) => {
                Facts::of(Class::TableBranch, 0).moving(access.bytes(), r.n.bit() | r.m.bit())
            }
            Self::If => Facts::of(Class::If, 0),
            Self::Float(float) => float.facts(),
            Self::ReadSpecial(rd, _) => Facts::of(Class::System, rd.bit()),
            Self::ClearExclusive
            | Self::Nop
            | Self::MaskExceptions { .. }
            | Self::Barrier
            | Self::WriteSpecial { .. }
            | Self::Breakpoint(_)
            | Self::SupervisorCall
            | Self::Unknown(_) => Facts::NONE,
            _ => self.facts_of_transfer(),
        }
    }

    fn facts_of_transfer(&self) -> Facts {
        match *self {
            Self::Load(t) | Self::LoadExclusive(t) => {
                Facts::of(Class::Load, t.rt.bit() | indexed(t))
                    .moving(t.access.bytes(), addressed(t))
            }
            Self::LoadLiteral(access, rt, _) => {
                Facts::of(Class::Load, rt.bit()).moving(access.bytes(), 0)
            }
            Self::Store(t) => {
                let class = match t.offset {
                    // "Treated more like an LDR", 3.3.2.
                    Offset::Scaled(..) => Class::StoreRegister,
                    _ => Class::Store,
                };
                Facts::of(class, indexed(t)).moving(t.access.bytes(), addressed(t))
            }
            Self::StoreExclusive(rd, t) => {
                Facts::of(Class::StoreRegister, rd.bit()).moving(t.access.bytes(), t.rn.bit())
            }
            Self::LoadDouble(rt2, t) => {
                let loaded = t.rt.bit() | rt2.bit();
                Facts::of(Class::LoadMultiple, loaded | indexed(t)).moving(8, t.rn.bit())
            }
            Self::StoreDouble(_, t) => {
                Facts::of(Class::StoreMultiple, indexed(t)).moving(8, t.rn.bit())
            }
            Self::LoadMultiple(t) => Facts::of(Class::LoadMultiple, t.list | written(t))
                .moving(4 * t.list.count_ones() as u8, t.rn.bit()),
            Self::StoreMultiple(t) => Facts::of(Class::StoreMultiple, written(t))
                .moving(4 * t.list.count_ones() as u8, t.rn.bit()),
            // `facts` has taken all others.
            _ => Facts::NONE,
        }
    }

    /// Returns true if it belongs to the DSP or the floating-point extension, which the Cortex-M3 has not (A1.4, A7.7
    /// by mnemonic).
    pub const fn is_extension(&self) -> bool {
        match self {
            Self::Multiply(multiply, ..) => {
                !matches!(multiply, Multiply::Mul | Multiply::Mla | Multiply::Mls)
            }
            Self::MultiplyLong(long, ..) => matches!(long, Long::Umaal),
            Self::Extend(extend, r, _) => {
                r.n.number() != Register::PC.number()
                    || matches!(extend, Extend::Sxtb16 | Extend::Uxtb16)
            }
            Self::MultiplyLongDsp(..)
            | Self::Saturating(..)
            | Self::Saturate16(..)
            | Self::Parallel(..)
            | Self::Select(_)
            | Self::Pack(..)
            | Self::Float(_) => true,
            _ => false,
        }
    }
}

/// Core of a part. It decides the instruction set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Core {
    /// ARMv6-M: instructions of 16 bits and a few others (ARM DDI 0419); no unaligned access.
    #[serde(rename = "cortex-m0plus")]
    #[strum(to_string = "Cortex-M0+")]
    CortexM0Plus,
    /// ARMv7-M: neither the DSP nor the floating-point extension.
    #[strum(to_string = "Cortex-M3")]
    CortexM3,
    /// ARMv7E-M: both of them.
    #[default]
    #[strum(to_string = "Cortex-M4")]
    CortexM4,
}

impl Core {
    /// Returns the value of its CPUID register (DDI 0403E, B3.2.3): part number C60, C23 or C24, of the first
    /// revision.
    pub const fn cpuid(self) -> u32 {
        match self {
            Self::CortexM0Plus => 0x410c_c600,
            Self::CortexM3 => 0x410f_c230,
            Self::CortexM4 => 0x410f_c240,
        }
    }
}

impl Effect {
    /// Returns true if that core has it, in that number of bytes that begin with `first`.
    pub(crate) fn belongs_to(&self, core: Core, size: u8, first: u16) -> bool {
        match core {
            Core::CortexM0Plus => self.is_baseline(size, first),
            Core::CortexM3 => !self.is_extension(),
            Core::CortexM4 => true,
        }
    }

    /// DDI 0419, A5.2 and A5.3.
    fn is_baseline(&self, size: u8, first: u16) -> bool {
        match *self {
            Self::CompareBranch { .. } | Self::If => false,
            Self::MaskExceptions { faultmask, .. } => !faultmask,
            // There are no BASEPRI, BASEPRI_MAX and FAULTMASK.
            Self::ReadSpecial(_, special) | Self::WriteSpecial { special, .. } => {
                !(17..=19).contains(&special)
            }
            Self::BranchLink(_) | Self::Barrier => true,
            // DSB and DMB.
            Self::Nop => size == 2 || first == 0xf3bf,
            _ => size == 2,
        }
    }

    /// Returns true if it needs to know its own address, other than for an address.
    pub(crate) fn reads_pc(&self) -> bool {
        match *self {
            Self::DataRegister(alu, _, r) | Self::DataShifted(alu, _, r, _) => {
                r.m == Register::PC || r.n == Register::PC && !matches!(alu, Alu::Mov | Alu::Mvn)
            }
            Self::BranchRegister(..) | Self::BranchLinkRegister(_) | Self::TableBranch(..) => true,
            _ => false,
        }
    }
}

/// Returns facts of arithmetic and logic, where a move is of the class `moved`.
fn data(alu: Alu, r: Operands, moved: Class) -> Facts {
    let class = match alu {
        Alu::Mov | Alu::Mvn => moved,
        Alu::Add | Alu::Sub | Alu::Rsb | Alu::Cmp | Alu::Cmn => Class::Add,
        Alu::Adc | Alu::Sbc => Class::AddCarry,
        _ => Class::Logic,
    };
    match alu {
        Alu::Tst | Alu::Teq | Alu::Cmp | Alu::Cmn => Facts::of(class, 0),
        _ => Facts::of(class, r.d.bit()),
    }
}

/// The base, where it changes.
fn written(t: MultipleTransfer) -> u16 {
    if t.write_back { t.rn.bit() } else { 0 }
}

/// The base, where it changes.
fn indexed(t: Transfer) -> u16 {
    match t.offset {
        Offset::Plain(_) | Offset::Scaled(..) => 0,
        Offset::Pre(_) | Offset::Post(_) => t.rn.bit(),
    }
}

/// Returns the registers of the address.
fn addressed(t: Transfer) -> u16 {
    match t.offset {
        Offset::Scaled(rm, _) => t.rn.bit() | rm.bit(),
        _ => t.rn.bit(),
    }
}

named! {
    /// Kinds of instructions by which cycles are counted and explained.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
    #[repr(u8)]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// MOV, MVN, MOVW, MOVT, ADR.
        Move = "MOV",
        /// ADD, SUB, RSB, CMP, CMN.
        Add = "ADD/SUB",
        /// ADC, SBC.
        AddCarry = "ADC/SBC",
        /// AND, ORR, EOR, BIC, ORN, TST, TEQ, bit fields, extension, reversal.
        Logic = "logic",
        /// LSL, LSR, ASR, ROR.
        Shift = "shift",
        /// MUL and what else is one cycle on both cores.
        Multiply = "MUL",
        /// MLA, MLS.
        MultiplyAccumulate = "MLA/MLS",
        /// UMULL, SMULL.
        MultiplyLong = "UMULL/SMULL",
        /// UMLAL, SMLAL.
        MultiplyLongAccumulate = "UMLAL/SMLAL",
        /// UMAAL.
        Umaal = "UMAAL",
        /// SDIV, UDIV.
        Divide = "UDIV/SDIV",
        /// The DSP extension, but for UMAAL, and saturation.
        Dsp = "DSP",
        /// LDR and its kin.
        Load = "LDR",
        /// STR and its kin with an immediate offset.
        Store = "STR",
        /// STR and its kin with a register offset, and STREX.
        StoreRegister = "STR",
        /// LDM, POP, LDRD.
        LoadMultiple = "LDM/LDRD",
        /// STM, PUSH, STRD.
        StoreMultiple = "STM/STRD",
        /// Single-cycle instructions of the floating-point unit.
        Float = "FPU",
        /// VMOV between two core registers and two of its own.
        FloatMoveTwo = "FPU",
        /// VMLA, VFMA and their kin.
        FloatAccumulate = "VMLA/VFMA",
        /// VDIV, VSQRT.
        FloatDivide = "VDIV/VSQRT",
        /// VLDR, VLDM, VPOP.
        FloatLoad = "VLDR/VLDM",
        /// VSTR, VSTM, VPUSH.
        FloatStore = "VSTR/VSTM",
        /// B, CBZ, BX: without a link.
        Branch = "B",
        /// BL, BLX.
        Call = "BL",
        /// TBB, TBH.
        TableBranch = "TBB/TBH",
        /// IT.
        If = "IT",
        /// NOP, barriers, special registers, breakpoints.
        System = "system",
    }
}
